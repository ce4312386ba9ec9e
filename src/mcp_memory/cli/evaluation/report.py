"""Figures of a trial: as a table, JSON or an SVG chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from mcp_memory.cli.evaluation.dataset import EvalQuestion
from mcp_memory.cli.evaluation.trial import Score, mean

BAR, LABEL, ROW = 400, 260, 22  # pixels of the picture


@dataclass(frozen=True, slots=True)
class Row:
    """One mode of recall, at one time, possibly without one signal."""

    label: str
    scores: Sequence[Score]

    @property
    def mean(self) -> Score:
        return mean(self.scores)

    def by_category(self, questions: Sequence[EvalQuestion]) -> dict[str, Score]:
        categories = sorted({question.category for question in questions})
        return {
            category: mean(
                [one for one, asked in zip(self.scores, questions, strict=True) if asked.category == category]
            )
            for category in categories
        }


def as_json(rows: Sequence[Row], questions: Sequence[EvalQuestion]) -> list[dict[str, Any]]:
    return [
        {
            "way": row.label,
            **asdict(row.mean),
            "categories": {name: asdict(score) for name, score in row.by_category(questions).items()},
        }
        for row in rows
    ]


def cells(score: Score) -> list[str]:
    return [f"{100 * value:.1f}" for value in asdict(score).values()]


def as_svg(rows: Mapping[str, float], title: str) -> str:
    """A bar for each row, from 0 to 1."""
    bars = "".join(
        f'<text x="{LABEL - 8}" y="{ROW * place + 15}" text-anchor="end">{escape(label)}</text>'
        f'<rect x="{LABEL}" y="{ROW * place + 4}" width="{BAR * value:.1f}" height="{ROW - 8}"/>'
        f'<text x="{LABEL + BAR * value + 6:.1f}" y="{ROW * place + 15}">{100 * value:.1f}</text>'
        for place, (label, value) in enumerate(rows.items(), start=1)
    )
    size = f'width="{LABEL + BAR + 60}" height="{ROW * (len(rows) + 2)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12" fill="#345">'
        f'<text x="8" y="15" font-weight="bold">{escape(title)}</text>{bars}</svg>\n'
    )
