"""Output of commands: tables on a terminal, tabs in a pipe, JSON for programs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar

import click

from mcp_memory.config import environment
from mcp_memory.text.plain import plain

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

# A stored text must not be able to move the cursor or change colours.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that control a terminal, or reverse the order of the text after them."""


def json_option(command: Decorated) -> Decorated:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(command)


def limit_option(default: int, most: int = 10_000) -> Callable[[Decorated], Decorated]:
    return click.option(
        "--limit",
        type=click.IntRange(1, most),
        default=default,
        show_default=True,
        help="Show at most this many.",
    )


def print_json(value: Any) -> None:
    click.echo(json.dumps(plain(value), ensure_ascii=False, indent=2))


def shaped(shape: str, value: object, **more: Any) -> dict[str, Any]:
    """The value in one of `cli.shapes`, which is loaded here: tables for people do without it."""
    from mcp_memory.cli import shapes

    shown: dict[str, Any] = plain(getattr(shapes, shape).of(value, **more))
    return shown


def printable(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone().strftime("%Y-%m-%d %H:%M")
    if isinstance(value, float):
        return f"{value:.3g}"
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(value))


def coloured(text: str, colour: str) -> str:
    """In colour on a terminal, unless NO_COLOR is set (https://no-color.org)."""
    wanted = sys.stdout.isatty() and not environment().get("NO_COLOR")
    return click.style(text, fg=colour) if wanted else text


def say(text: str) -> None:
    """A sentence of the result."""
    click.echo(printable(text))


def note(text: str) -> None:
    """A remark beside the result, on standard error."""
    click.echo(printable(text), err=True)


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    empty: str = "Nothing.",
    ids_under: str | None = None,
) -> None:
    """On a terminal the last column, if it holds ids, is shortened and put under another one."""
    shown = [[printable(cell) for cell in row] for row in rows]
    if not shown:
        note(empty)
    elif sys.stdout.isatty():
        _rich_table(headings, shown, ids_under)
    else:
        for row in (headings, *shown):
            click.echo("\t".join(map(_on_one_line, row)))


def _rich_table(headings: Sequence[str], rows: Iterable[Sequence[str]], ids_under: str | None) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from mcp_memory.engine.short_ids import short

    if ids_under is not None:
        place = headings.index(ids_under)
        headings = headings[:-1]
        rows = [[*row[:place], f"{row[place]}\n{short(row[-1])}", *row[place + 1 : -1]] for row in rows]
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        drawn.add_column(heading)
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    # A command that a running server executes cannot see the terminal's width.
    Console(width=getattr(sys.stdout, "columns", None)).print(drawn)


def counted(count: int, one: str, many: str = "") -> str:
    """`1 entity`, `1,200 entities`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _on_one_line(cell: str) -> str:
    """A cell of piped output. Lines stay apart: a merged memory has a line for each wording."""
    return " / ".join(line.strip() for line in cell.replace("\t", " ").splitlines() if line.strip())
