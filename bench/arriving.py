"""How often the right memory is injected into a prompt that calls for it, and how often silence is kept.

    python -m bench.arriving [--locomo FOLDER] [--claims FOLDER] [--half seen|unseen] [--markdown FILE]

Related prompts: the questions of a LoCoMo folder against their own conversation, the project set of
tests/data/arriving_prompts.jsonl, and the worlds of tests/data/judged_prompts*.jsonl, whose authors
had not read the rules. Unrelated ones: questions about other conversations, claims of a SciFact folder, and
the general prompts of both sets. The floor is chosen on the `seen` half and reported on the other.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from mcp_memory import config
from mcp_memory.cli.evaluation.dataset import Dataset, memory_line, read_lines
from mcp_memory.cli.evaluation.trial import load
from mcp_memory.engine import Engine
from mcp_memory.engine.arrivals import MOST_INJECTED, Place
from mcp_memory.model import Caller
from mcp_memory.ranking.certainty import COMPANY, FLOOR, least_certainty
from mcp_memory.storage import Store
from mcp_memory.storage.sqlite.database import SqliteDatabase
from mcp_memory.text.generality import asks_in_general, is_about_the_person
from mcp_memory.wiring import embedder

DATA = Path(__file__).parents[1] / "tests" / "data"
PROMPTS = DATA / "arriving_prompts.jsonl"
JUDGED = {
    "judged": DATA / "judged_prompts.jsonl",
    "judged later": DATA / "judged_prompts_2.jsonl",
    "judged last": DATA / "judged_prompts_3.jsonl",
}
"""By three authors who had not read the rules. Of the last set, mistakes of the `seen` half were read."""
FLOORS = tuple(sorted({-0.15, -0.1, -0.05, 0.0, 0.02, 0.04, FLOOR, 0.06, 0.08, 0.12, 0.2, 0.4}))

NO_FLOOR = -9.0


@dataclass(frozen=True)
class Prompt:
    kind: str
    space: str
    text: str
    relevant: frozenset[str]
    labelled_half: str = ""

    @property
    def half(self) -> str:
        """By its text, so that a prompt stays in its half whatever is added."""
        return self.labelled_half or (
            "unseen" if hashlib.sha256(self.text.encode()).digest()[0] % 2 else "seen"
        )


@dataclass(frozen=True)
class Outcome:
    prompt: Prompt
    found: tuple[tuple[str, float], ...]
    """Memories and their certainty, in the order in which they would be injected."""
    is_general: bool

    def injected(self, floor: float) -> list[str]:
        is_own = is_about_the_person(self.prompt.text)
        least = least_certainty(floor, is_general=self.is_general, is_own=is_own)
        if max((certainty for _, certainty in self.found), default=least - 1) < least:
            return []
        company = [id for id, certainty in self.found if certainty >= floor - COMPANY]
        return company[:MOST_INJECTED]

    def is_good(self, floor: float) -> bool:
        said = self.injected(floor)
        return bool(self.prompt.relevant & set(said)) if self.prompt.relevant else not said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--locomo", type=Path, help="memories.jsonl and queries.jsonl of conversations")
    parser.add_argument("--claims", type=Path, help="queries.jsonl of claims about something else")
    parser.add_argument("--half", choices=("seen", "unseen"), help="only this half of the prompts")
    parser.add_argument("--markdown", type=Path, help="write the table into this file, between its markers")
    chosen = parser.parse_args()
    outcomes = measured(chosen.locomo, chosen.claims, chosen.half)
    text = table(outcomes)
    print(text)
    if chosen.markdown:
        _write(chosen.markdown, text)


def measured(
    locomo: Path | None = None, claims: Path | None = None, half: str | None = None
) -> list[Outcome]:
    """What is found for each prompt, of one half or both."""
    memories, prompts = _material(locomo, claims)
    engine, kept = _loaded(memories)
    known = [_with_ids(prompt, kept) for prompt in prompts if half in (None, prompt.half)]
    try:
        return _outcomes(engine, known)
    finally:
        engine.close()


def _loaded(memories: Sequence[dict[str, Any]]) -> tuple[Engine, dict[str, str]]:
    """An engine on a database that holds all memories, and by line id the id of the memory it became."""
    cache = Path(tempfile.gettempdir()) / "mcp-memory-eval"
    cache.mkdir(exist_ok=True)
    trial = load(
        Dataset("arriving", [memory_line(row, "a memory") for row in memories], []),
        embedder(config.load({}, environ={})),
        lambda file: Store(SqliteDatabase(file, "NORMAL")).open(),
        cache,
        true_dates=False,
        progress=lambda done, total: None,
    )
    return Engine(trial.context), trial.kept


def _lines(file: Path) -> list[dict[str, Any]]:
    return [row for row, _ in read_lines(file)]


def _outcomes(engine: Engine, prompts: Sequence[Prompt]) -> list[Outcome]:
    return [
        _outcome(engine.acting_for(Caller(prompt.space)), prompt)
        for prompt in track(prompts, "prompts", console=Console(stderr=True), transient=True)
    ]


def _outcome(engine: Engine, prompt: Prompt) -> Outcome:
    said = engine.arrivals.for_prompt(prompt.text, Place(), record=False, floor=NO_FLOOR)
    looked_at = (*said.chosen, *(one for one in said.left_out if one.left_out != "stands in the prompt"))
    found = tuple((one.memory.id, one.certainty) for one in looked_at)
    return Outcome(prompt, found, asks_in_general(prompt.text, [one.memory.content for one in looked_at]))


def table(outcomes: Sequence[Outcome]) -> str:
    """Percent of related prompts with a right memory, and of unrelated ones with silence, by kind."""
    kinds = list(dict.fromkeys(outcome.prompt.kind for outcome in outcomes))
    groups = [[one for one in outcomes if one.prompt.kind == kind] for kind in kinds]
    related = [one for one in outcomes if one.prompt.relevant]
    unrelated = [one for one in outcomes if not one.prompt.relevant]
    heads = [f"{kind} ({len(group)})" for kind, group in zip(kinds, groups, strict=True)]
    lines = [
        "| " + " | ".join(["floor", *heads, "all related", "all unrelated"]) + " |",
        "|" + "---|" * (len(kinds) + 3),
    ]
    for floor in FLOORS:
        mark = "**" if floor == FLOOR else ""
        cells = [_share(group, floor) for group in [*groups, related, unrelated]]
        lines.append(f"| {mark}{floor:.2f}{mark} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _share(outcomes: Sequence[Outcome], floor: float) -> str:
    good = sum(one.is_good(floor) for one in outcomes)
    return f"{100 * good / len(outcomes):.1f}" if outcomes else ""


def _material(locomo: Path | None, claims: Path | None) -> tuple[list[dict[str, Any]], list[Prompt]]:
    rows = _lines(PROMPTS)
    memories = [
        {"id": f"project/{row['id']}", "text": row["text"], "group": "project"}
        for row in rows
        if row["kind"] == "memory"
    ]
    prompts = list(_project_prompts(rows))
    for name, file in JUDGED.items():
        judged = _lines(file)
        memories += [
            {"id": row["id"], "text": row["text"], "group": f"world-{row['world']}"}
            for row in judged
            if row["kind"] == "memory"
        ]
        prompts += _judged_prompts(name, judged)
    if locomo:
        memories += _lines(locomo / "memories.jsonl")
        prompts += _conversation_prompts(_lines(locomo / "queries.jsonl"))
    if claims:
        spaces = sorted({str(memory["group"]) for memory in memories})
        prompts += [
            Prompt("claims: silent", spaces[number % len(spaces)], row["text"], frozenset())
            for number, row in enumerate(_lines(claims / "queries.jsonl"))
        ]
    return memories, prompts


def _project_prompts(rows: Sequence[dict[str, Any]]) -> Iterator[Prompt]:
    for row in rows:
        if row["kind"] == "prompt":
            relevant = frozenset(f"project/{id}" for id in row["relevant"])
            kind = "project: right" if relevant else "general: silent"
            yield Prompt(kind, "project", row["text"], relevant)


def _judged_prompts(name: str, rows: Sequence[dict[str, Any]]) -> Iterator[Prompt]:
    for row in rows:
        if row["kind"] == "prompt":
            relevant = frozenset(row["relevant"])
            kind = f"{name}: right" if relevant else f"{name}: silent"
            yield Prompt(kind, f"world-{row['world']}", row["text"], relevant, row["half"])


def _conversation_prompts(queries: Sequence[dict[str, Any]]) -> Iterator[Prompt]:
    for query in queries:
        yield Prompt("LoCoMo: right", query["group"], query["text"], frozenset(query["relevant"]))
    chance = random.Random(7)
    for group in sorted({query["group"] for query in queries}):
        others = [query for query in queries if query["group"] != group]
        for query in chance.sample(others, min(60, len(others))):
            yield Prompt("other conversations: silent", group, query["text"], frozenset())


def _with_ids(prompt: Prompt, kept: dict[str, str]) -> Prompt:
    return Prompt(
        prompt.kind,
        prompt.space,
        prompt.text,
        frozenset(kept.get(id, id) for id in prompt.relevant),
        prompt.labelled_half,
    )


def _write(file: Path, text: str) -> None:
    start, end = "<!-- measured by bench/arriving.py -->", "<!-- end -->"
    before, _, rest = file.read_text("utf-8").partition(start)
    after = rest.partition(end)[2]
    file.write_text(f"{before}{start}\n\n{text}\n\n{end}{after}", "utf-8")


if __name__ == "__main__":
    main()
