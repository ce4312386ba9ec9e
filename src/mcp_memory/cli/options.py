"""Options that several commands on memories share, and the question before something goes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

import click

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


SHARE = click.FloatRange(0, 1)


def moment(text: str) -> datetime:
    """A day or a time, as people write it; without a zone it is meant where they are."""
    try:
        read = datetime.fromisoformat(text)
        return read if read.tzinfo else read.astimezone()
    except (ValueError, OverflowError, OSError):
        raise click.BadParameter(f"{text!r} is no date: write 2026-03-08 or 2026-03-08T12:00") from None


def json_object(text: str) -> dict[str, Any]:
    try:
        read = json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is no JSON: {error}") from None
    if not isinstance(read, dict):
        raise click.BadParameter(f'{text!r} is no JSON object: write {{"key": "value"}}')
    return read


def filter_options(command: Decorated) -> Decorated:
    """Which memories are meant, in the words of a `Filter`."""
    for option in (
        click.option("--channel", help="Only from this conversation."),
        click.option("--source", help="Only from this source."),
        click.option("--before", type=moment, help="Only created before this time."),
        click.option("--after", type=moment, help="Only created after this time."),
        click.option(
            "--min-confidence", type=SHARE, help="Only those we are this sure of by now, from 0 to 1."
        ),
        click.option("--tag", "tags", multiple=True, help="Only with this tag; repeat to ask for several."),
        click.option("--type", "types", multiple=True, help="Only of this type; repeat to allow several."),
    ):
        command = option(command)
    return command


def as_of_option(command: Decorated) -> Decorated:
    """A look at an earlier moment."""
    return click.option("--as-of", type=moment, help="What was known at this earlier time.")(command)


def text_or_input(text: str) -> str:
    """The text itself, or all of standard input for `-`."""
    return sys.stdin.read().strip() if text == "-" else text


def ask(question: str, *, unless: bool) -> None:
    """Go on only if somebody says yes. Asked on standard error: the answer to a command is not a question."""
    if not unless:
        click.confirm(question, abort=True, err=True)
