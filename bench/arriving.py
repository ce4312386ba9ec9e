"""How often the right memory is injected into a prompt that calls for it, and how often silence is kept.

    python -m bench.arriving [--locomo FOLDER] [--claims FOLDER] [--every N] [--markdown FILE]

Related prompts: the questions of a LoCoMo folder against their own conversation, and the project set of
tests/data/arriving_prompts.jsonl. Unrelated ones: questions about other conversations, claims of a SciFact
folder, and general prompts of the project set. Without folders only the project set is measured.
"""

from __future__ import annotations

import argparse
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
from mcp_memory.engine.arrivals import Place
from mcp_memory.model import Caller
from mcp_memory.ranking.certainty import FLOOR
from mcp_memory.storage import Store
from mcp_memory.storage.sqlite.database import SqliteDatabase
from mcp_memory.wiring import embedder

PROMPTS = Path(__file__).parents[1] / "tests" / "data" / "arriving_prompts.jsonl"
FLOORS = (-0.15, -0.05, 0.0, 0.04, FLOOR, 0.12, 0.2, 0.4)


@dataclass(frozen=True)
class Prompt:
    kind: str
    space: str
    text: str
    relevant: frozenset[str]


@dataclass(frozen=True)
class Outcome:
    prompt: Prompt
    injected: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        return bool(self.prompt.relevant & set(self.injected))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--locomo", type=Path, help="memories.jsonl and queries.jsonl of conversations")
    parser.add_argument("--claims", type=Path, help="queries.jsonl of claims about something else")
    parser.add_argument("--every", type=int, default=1, help="take only every Nth prompt")
    parser.add_argument("--markdown", type=Path, help="write the table into this file, between its markers")
    chosen = parser.parse_args()
    memories, prompts = _material(chosen.locomo, chosen.claims)
    engine, kept = _loaded(memories)
    known = [_with_ids(prompt, kept) for prompt in prompts][:: chosen.every]
    text = table([(floor, _outcomes(engine, known, floor)) for floor in FLOORS])
    print(text)
    if chosen.markdown:
        _write(chosen.markdown, text)
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


def _outcomes(engine: Engine, prompts: Sequence[Prompt], floor: float) -> list[Outcome]:
    outcomes = []
    for prompt in track(prompts, f"floor {floor}", console=Console(stderr=True), transient=True):
        there = engine.acting_for(Caller(prompt.space))
        said = there.arrivals.for_prompt(prompt.text, Place(), record=False, floor=floor)
        outcomes.append(Outcome(prompt, tuple(one.memory.id for one in said.chosen)))
    return outcomes


def table(measured: Sequence[tuple[float, Sequence[Outcome]]]) -> str:
    """Percent of related prompts with a right memory, and of unrelated ones with silence, by kind."""
    kinds = list(dict.fromkeys(outcome.prompt.kind for _, of in measured for outcome in of))
    counts = {kind: sum(one.prompt.kind == kind for one in measured[0][1]) for kind in kinds}
    lines = [
        "| floor | "
        + " | ".join(f"{kind} ({counts[kind]})" for kind in kinds)
        + " | all related | all unrelated |",
        "|" + "---|" * (len(kinds) + 3),
    ]
    for floor, outcomes in measured:
        mark = "**" if floor == FLOOR else ""
        of = [[one for one in outcomes if one.prompt.kind == kind] for kind in kinds]
        related = [one for one in outcomes if one.prompt.relevant]
        unrelated = [one for one in outcomes if not one.prompt.relevant]
        cells = [_share(group) for group in [*of, related, unrelated]]
        lines.append(f"| {mark}{floor:.2f}{mark} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _share(outcomes: Sequence[Outcome]) -> str:
    if not outcomes:
        return ""
    good = sum(one.is_right if one.prompt.relevant else not one.injected for one in outcomes)
    return f"{100 * good / len(outcomes):.1f}"


def _material(locomo: Path | None, claims: Path | None) -> tuple[list[dict[str, Any]], list[Prompt]]:
    rows = _lines(PROMPTS)
    memories = [
        {"id": f"project/{row['id']}", "text": row["text"], "group": "project"}
        for row in rows
        if row["kind"] == "memory"
    ]
    prompts = list(_project_prompts(rows))
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
    )


def _write(file: Path, text: str) -> None:
    start, end = "<!-- measured by bench/arriving.py -->", "<!-- end -->"
    before, _, rest = file.read_text("utf-8").partition(start)
    after = rest.partition(end)[2]
    file.write_text(f"{before}{start}\n\n{text}\n\n{end}{after}", "utf-8")


if __name__ == "__main__":
    main()
