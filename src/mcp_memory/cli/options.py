"""Options and arguments that several commands share, and the confirmation before a deletion."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from mcp_memory.cli.session import Session
from mcp_memory.errors import Invalid, MemoryServerError

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


SHARE = click.FloatRange(0, 1)


class _Id(click.ParamType[str]):
    """An id, or enough of its beginning or end to tell it from others."""

    def __init__(self, name: str, whole: Callable[[Session, str], str]) -> None:
        self.name = name
        self._whole = whole

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return self._whole(ctx.obj, value) if ctx and isinstance(ctx.obj, Session) else value


MEMORY_ID = _Id("id", lambda session, text: session.engine.short_ids.memory(text))
CHANGE_ID = _Id("change", lambda session, text: session.engine.short_ids.change(text))


class _EntityName(click.ParamType[str]):
    """The name of an entity; the shell completes it."""

    name = "name"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        given = ctx.find_root().params
        flags = {"database_url": given.get("database"), "space": given.get("space")}
        session = Session(flags, given.get("file"))
        try:
            names = session.engine.graph.names_beginning(incomplete, limit=COMPLETIONS)
        except MemoryServerError:
            return []  # there is nobody to read a message
        finally:
            session.close()
        return [CompletionItem(name) for name in names]


ENTITY_NAME = _EntityName()
COMPLETIONS = 50


def moment(text: str) -> datetime:
    """A day or a time, as people write it; without a zone, in the local one."""
    from mcp_memory.text.moments import moment as meant
    from mcp_memory.wiring import now

    try:
        return meant(text, now().astimezone())
    except Invalid as error:
        raise click.BadParameter(str(error)) from None


def json_object(text: str) -> dict[str, Any]:
    try:
        read = json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is no JSON: {error}") from None
    if not isinstance(read, dict):
        raise click.BadParameter(f'{text!r} is no JSON object: write {{"key": "value"}}')
    return read


def filter_options(command: Decorated) -> Decorated:
    """The fields of a `Filter`, as options."""
    for option in (
        click.option("--channel", help="Only from this conversation."),
        click.option("--source", help="Only from this source."),
        click.option(
            "--before", type=moment, help="Only created before this time, such as 2026-03-08, yesterday, 3d."
        ),
        click.option(
            "--after", type=moment, help="Only created after this time, such as 2026-03-08, '2 weeks ago'."
        ),
        click.option(
            "--min-confidence", type=SHARE, help="Only with at least this effective confidence, from 0 to 1."
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
    """Continue only after a yes. The question goes to standard error: standard output is for results."""
    if not unless:
        click.confirm(question, abort=True, err=True)
