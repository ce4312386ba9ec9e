"""Judges `mcp_memory.text.sameness` on the labelled pairs and prints the tables of docs/similar-memories.md.

python tools/sameness_report.py             print the report
python tools/sameness_report.py --cosines   first measure the pairs' cosines anew with the default model
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from mcp_memory.text.sameness import MINILM, verdict

PAIRS = Path(__file__).parent.parent / "tests" / "data" / "sameness_pairs.jsonl"


@dataclass(frozen=True)
class LabelledPair:
    """Two texts, whether they state the same fact, and how near the default model finds them."""

    a: str
    b: str
    same: bool
    kind: str
    half: str
    cosine: float

    @property
    def merged(self) -> bool:
        return verdict(self.a, self.b, self.cosine).same


def read_pairs() -> list[LabelledPair]:
    return [LabelledPair(**json.loads(line)) for line in PAIRS.read_text("utf-8").splitlines()]


def report(pairs: Sequence[LabelledPair]) -> str:
    """Both tables, in Markdown."""
    return "\n".join([*_by_half(pairs), "", *_by_kind(pairs)]) + "\n"


def _by_half(pairs: Sequence[LabelledPair]) -> Iterator[str]:
    yield "| pairs | same | merged | different | merged by mistake | precision | recall |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for half in ("development", "held-out"):
        yield _row(half, [pair for pair in pairs if pair.half == half], lambda pair: pair.merged)
    yield _row("all", pairs, lambda pair: pair.merged)
    yield _row("all, by cosine ≥ 0.95 alone", pairs, lambda pair: pair.cosine >= 0.95)
    yield _row(
        f"all, by cosine ≥ {MINILM.least_cosine:.2f} alone",
        pairs,
        lambda pair: pair.cosine >= MINILM.least_cosine,
    )


def _row(name: str, pairs: Sequence[LabelledPair], merges: Callable[[LabelledPair], bool]) -> str:
    same = [pair for pair in pairs if pair.same]
    different = [pair for pair in pairs if not pair.same]
    right, wrong = sum(map(merges, same)), sum(map(merges, different))
    precision = right / (right + wrong) if right + wrong else 1.0
    return (
        f"| {name} | {len(same)} | {right} | {len(different)} | {wrong} "
        f"| {precision:.3f} | {right / len(same):.3f} |"
    )


def _by_kind(pairs: Sequence[LabelledPair]) -> Iterator[str]:
    yield "| what the two texts differ in | is it the same fact? | pairs | merged | highest cosine |"
    yield "|---|---|--:|--:|--:|"
    for same in (True, False):
        for kind in dict.fromkeys(pair.kind for pair in pairs if pair.same is same):
            these = [pair for pair in pairs if pair.same is same and pair.kind == kind]
            merged = sum(pair.merged for pair in these)
            highest = max(pair.cosine for pair in these)
            yield f"| {kind} | {'yes' if same else 'no'} | {len(these)} | {merged} | {highest:.3f} |"


def measured(pairs: Sequence[LabelledPair]) -> list[LabelledPair]:
    """The pairs with the cosines of the default model."""
    from mcp_memory.embedding import NoModel
    from mcp_memory.embedding.minilm import open_minilm, wheel_folder

    with tempfile.TemporaryDirectory() as cache:
        embedder = open_minilm(wheel_folder(), Path(cache))
        if isinstance(embedder, NoModel):
            sys.exit(embedder.reason)
        left = embedder.embed([pair.a for pair in pairs], "passage")
        right = embedder.embed([pair.b for pair in pairs], "passage")
    cosines = (left * right).sum(axis=1)
    return [
        replace(pair, cosine=round(float(cosine), 4)) for pair, cosine in zip(pairs, cosines, strict=True)
    ]


def main() -> None:
    pairs = read_pairs()
    if "--cosines" in sys.argv[1:]:
        pairs = measured(pairs)
        lines = (json.dumps(asdict(pair), ensure_ascii=False) for pair in pairs)
        PAIRS.write_text("\n".join(lines) + "\n", "utf-8")
    sys.stdout.write(report(pairs))


if __name__ == "__main__":
    main()
