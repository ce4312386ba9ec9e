"""Options and arguments that several commands share, and the confirmation before a deletion."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click
from click.shell_completion import CompletionItem

from mcp_memory.cli.output import Decorated
from mcp_memory.cli.session import Session
from mcp_memory.errors import Invalid, MemoryServerError
from mcp_memory.fields import GivenField, given_fields

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


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
            return []  # completion cannot show errors
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
        raise click.BadParameter(f"{text!r} is not JSON: {error}") from None
    if not isinstance(read, dict):
        raise click.BadParameter(f'{text!r} is not a JSON object: write {{"key": "value"}}')
    return read


_SPELLED = {
    "tags": "--tag",
    "types": "--type",
    "entity_names": "--about",
    "entity_name": "--about",
    "include_archived": "--archived",
    "observations": "--observation",
}
_SHORT = {"observations": ("-o",)}
_TIMES = " Such as 2026-03-08, yesterday, '2 weeks ago'."


def options_for(
    value: type[DataclassInstance], *, only: str = "", without: str = "", **helps: str
) -> Callable[[Decorated], Decorated]:
    """Options for the fields of a value that callers may give; `helps` overrides help texts.

    An option that is not given is None, or empty if it can be repeated: `given` leaves those out.
    """
    options = [
        _option(one, helps.get(one.name, one.help))
        for one in given_fields(value)
        if one.name not in without.split() and (not only or one.name in only.split())
    ]

    def declared(command: Decorated) -> Decorated:
        for option in reversed(options):
            command = option(command)
        return command

    return declared


def given(options: Mapping[str, Any], value: type[DataclassInstance] | None = None) -> dict[str, Any]:
    """The options that were given; with a `value`, only those of its fields."""
    names = options if value is None else {one.name for one in given_fields(value)}
    return {name: one for name, one in options.items() if name in names and one not in (None, ())}


def _option(one: GivenField, help: str) -> Callable[[Decorated], Decorated]:
    flag = _SPELLED.get(one.name, f"--{one.name.replace('_', '-')}")
    kinds = get_args(one.kind) or (one.kind,)
    if one.kind is bool:
        return click.option(flag, one.name, is_flag=True, help=help)
    if bool in kinds:
        return click.option(f"{flag}/--not-{flag[2:]}", default=None, help=help)
    names_entity = one.name in ("entity_name", "entity_names")
    if get_origin(one.kind) is tuple:
        short = _SHORT.get(one.name, ())
        name = ENTITY_NAME if names_entity else None
        return click.option(
            flag, *short, one.name, multiple=True, type=name, help=f"{help} Repeat for several."
        )
    if get_origin(one.kind) is Mapping:
        return click.option(flag, type=json_object, help=f"{help} A JSON object.")
    if datetime in kinds:
        return click.option(flag, type=moment, help=help + _TIMES)
    if get_origin(one.kind) is Literal:
        return click.option(flag, type=click.Choice(kinds), help=help)
    kind = SHARE if float in kinds else int if int in kinds else ENTITY_NAME if names_entity else None
    return click.option(flag, one.name, type=kind, help=help)


def as_of_option(command: Decorated) -> Decorated:
    """An option to read as of an earlier moment."""
    return click.option("--as-of", type=moment, help="What was known at this earlier time.")(command)


def text_or_input(text: str) -> str:
    """The text itself, or all of standard input for `-`."""
    return sys.stdin.read().strip() if text == "-" else text


def ask(question: str, *, unless: bool) -> None:
    """Continue only after a yes. The question goes to standard error: standard output is for results."""
    if not unless:
        click.confirm(question, abort=True, err=True)
