"""Small plots as SVG, for pages that a program writes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, ROW, LABEL = 640, 30, 210
COLOURS = ("#3b6ea5", "#c9682b", "#4f8f4f", "#8a5aa8", "#777777")
_STYLE = '<style>text{font:13px sans-serif;fill:#444}</style><rect width="100%" height="100%" fill="#fff"/>'


def bars(title: str, values: Mapping[str, float]) -> str:
    """One bar a value, as long as it is large."""
    most = max(values.values())
    room = WIDTH - LABEL - 80
    parts = [f'<text x="8" y="20">{escape(title)}</text>']
    for place, (name, value) in enumerate(values.items()):
        y, length = 34 + place * ROW, room * value / most
        colour = COLOURS[place % len(COLOURS)]
        parts += [
            f'<text x="8" y="{y + 15}">{escape(name)}</text>',
            f'<rect x="{LABEL}" y="{y}" width="{length:.1f}" height="20" fill="{colour}"/>',
            f'<text x="{LABEL + length + 6:.1f}" y="{y + 15}">{value:,.0f}</text>',
        ]
    return _drawing(parts, 44 + len(values) * ROW)


def lines(
    title: str,
    places: Sequence[float],
    values: Mapping[str, Sequence[float]],
    *,
    logarithmic: bool = False,
) -> str:
    """One line a name, with its value at each place; `logarithmic`: both by their powers of ten."""
    scale = (lambda number: math.log10(max(number, 0.1)) + 1) if logarithmic else float
    most = max(scale(value) for line in values.values() for value in line)
    ends = scale(places[0]), scale(places[-1])
    left, right, top, bottom = 60, WIDTH - 190, 40, 280

    def point(place: float, value: float) -> tuple[float, float]:
        x = left + (right - left) * (scale(place) - ends[0]) / max(ends[1] - ends[0], 1e-9)
        return x, bottom - (bottom - top) * scale(value) / most

    digits = 0 if max(line[-1] for line in values.values()) > 100 else 1
    parts = [f'<text x="8" y="20">{escape(title)}</text>']
    parts += [f'<line x1="{left}" y1="{bottom}" x2="{right}" y2="{bottom}" stroke="#aaa"/>']
    parts += [f'<text x="{point(place, 0)[0]:.0f}" y="{bottom + 18}">{place:,.0f}</text>' for place in places]
    for number, (name, line) in enumerate(values.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = [point(place, value) for place, value in zip(places, line, strict=True)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts += [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>']
        x, y = points[-1]
        parts += [f'<text x="{x + 8:.1f}" y="{y + 4:.1f}">{escape(name)}: {line[-1]:,.{digits}f}</text>']
    return _drawing(parts, bottom + 30)


def _drawing(parts: Sequence[str], height: int) -> str:
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}">'
    return "\n".join([opening, _STYLE, *parts, "</svg>"]) + "\n"
