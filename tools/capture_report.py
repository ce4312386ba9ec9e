"""Judges the rules of `mcp_memory.capture` on the labelled turns and prints precision and recall by rule.

python tools/capture_report.py                 both halves
python tools/capture_report.py --half seen     only the half that the rules were written with
python tools/capture_report.py --mistakes      also every wrong and every missed one of the seen half
python tools/capture_report.py FILE            other turns, such as tests/data/judged_turns.jsonl
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_memory.capture import Call, Candidate, Turn, candidates

DATA = Path(__file__).parent.parent / "tests" / "data"
TURNS = DATA / "labelled_turns.jsonl"
JUDGED = DATA / "judged_turns.jsonl"
"""Written by somebody who had not read the rules. Mistakes have been looked at in both halves."""
JUDGED_LATER = DATA / "judged_turns_2.jsonl"
"""By another one, later. Nobody has looked at the mistakes."""
JUDGED_LAST = DATA / "judged_turns_3.jsonl"
"""By a third one. Nobody has looked at the mistakes."""
JUDGED_NEWEST = DATA / "judged_turns_4.jsonl"
"""By a fourth one. Mistakes have been looked at in both halves, in the unseen one after it was scored."""
ORDINARY = DATA / "ordinary_turns.jsonl"
"""Work in hand, with nothing to keep."""


@dataclass(frozen=True)
class LabelledTurn:
    """A turn, and the pieces of it that should be kept; nothing else should be."""

    id: int | str
    half: str
    lang: str
    turn: Turn
    keep: tuple[tuple[str, str], ...]
    """(rule, text)"""


@dataclass(frozen=True)
class Score:
    found: int
    right: int
    wanted: int
    met: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.met / self.wanted if self.wanted else 1.0


@dataclass(frozen=True)
class Verdict:
    labelled: LabelledTurn
    right: tuple[Candidate, ...]
    wrong: tuple[Candidate, ...]
    met: tuple[tuple[str, str], ...]
    missed: tuple[tuple[str, str], ...]


def read_turns(path: Path = TURNS) -> list[LabelledTurn]:
    return [_labelled(json.loads(line)) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _labelled(row: dict[str, Any]) -> LabelledTurn:
    calls = tuple(Call(**call) for call in row.get("calls", []))
    keep = tuple((one["rule"], one["text"]) for one in row["keep"])
    return LabelledTurn(
        row["id"], row["half"], row["lang"], Turn(id=str(row["id"]), text=row["text"], calls=calls), keep
    )


def judge(labelled: LabelledTurn) -> Verdict:
    """A candidate is right if it holds a labelled piece, or is the greater part of one."""
    found = candidates([labelled.turn])
    right = tuple(one for one in found if any(_same(one.text, text) for _, text in labelled.keep))
    met = tuple(piece for piece in labelled.keep if any(_same(one.text, piece[1]) for one in found))
    return Verdict(
        labelled,
        right,
        tuple(one for one in found if one not in right),
        met,
        tuple(piece for piece in labelled.keep if piece not in met),
    )


def _same(kept: str, wanted: str) -> bool:
    kept, wanted = kept.casefold(), " ".join(wanted.casefold().split())
    return wanted in kept or (kept in wanted and len(kept) > len(wanted) / 2)


def score(verdicts: Iterable[Verdict], rule: str | None = None) -> Score:
    """Over all rules, or of one: precision by the rule that kept it, recall by the rule of the label."""
    verdicts = list(verdicts)
    right = sum(rule in (None, one.rule) for verdict in verdicts for one in verdict.right)
    wrong = sum(rule in (None, one.rule) for verdict in verdicts for one in verdict.wrong)
    met = sum(rule in (None, name) for verdict in verdicts for name, _ in verdict.met)
    missed = sum(rule in (None, name) for verdict in verdicts for name, _ in verdict.missed)
    return Score(right + wrong, right, met + missed, met)


def table(verdicts: Sequence[Verdict]) -> str:
    rules = Counter(name for verdict in verdicts for name, _ in verdict.labelled.keep)
    lines = ["| rule | kept | precision | to be kept | recall |", "|---|---|---|---|---|"]
    for rule in [*rules, None]:
        of = score(verdicts, rule)
        lines.append(f"| {rule or 'all'} | {of.found} | {of.precision:.2f} | {of.wanted} | {of.recall:.2f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Precision and recall of the capture rules.")
    parser.add_argument("file", nargs="?", type=Path, default=TURNS)
    parser.add_argument("--half", choices=("seen", "unseen"))
    parser.add_argument("--mistakes", action="store_true")
    args = parser.parse_args()
    for half in [args.half] if args.half else ["seen", "unseen"]:
        verdicts = [judge(turn) for turn in read_turns(args.file) if turn.half == half]
        print(f"\n{half}: {len(verdicts)} turns\n\n{table(verdicts)}")
        for verdict in verdicts if args.mistakes and half == "seen" else []:
            for one in verdict.wrong:
                print(f"WRONG  {verdict.labelled.id} {one.rule}: {one.text}")
            for name, text in verdict.missed:
                print(f"MISSED {verdict.labelled.id} {name}: {text}")


if __name__ == "__main__":
    main()
