"""Commands on relations."""

from __future__ import annotations

from typing import Any

import click

from mcp_memory.cli.lazy import SuggestingGroup
from mcp_memory.cli.options import ENTITY_NAME, given, options_for
from mcp_memory.cli.output import counted, json_option, limit_option, note, print_json, say
from mcp_memory.cli.rendering import print_relations, relation_json
from mcp_memory.cli.session import Session
from mcp_memory.engine.relating import Triple
from mcp_memory.errors import Invalid, NotFound
from mcp_memory.inputs import NewRelation


@click.group(cls=SuggestingGroup)
def relations() -> None:
    """List, create, end and delete relations."""


@relations.command("list")
@click.option("--entity", help="Only from or to this entity.")
@click.option("--type", help="Only of this type.")
@click.option("--ended", is_flag=True, help="Also those that have ended.")
@limit_option(50)
@click.option("--offset", type=click.IntRange(0), default=0, help="Skip this many.")
@json_option
@click.pass_obj
def list_(
    session: Session,
    entity: str | None,
    type: str | None,
    ended: bool,
    limit: int,
    offset: int,
    as_json: bool,
) -> None:
    """List relations in the order they were stored."""
    inventory = session.engine.inventory
    if entity is None:
        found = inventory.relations(type=type, ended=ended, limit=limit, offset=offset)
    else:
        found = inventory.relations_of(entity, type=type, ended=ended, limit=limit, offset=offset)
    if as_json:
        print_json({"relations": [relation_json(one) for one in found.relations], "total": found.total})
        return
    print_relations(found.relations)
    if offset + len(found.relations) < found.total:
        shown = len(found.relations)
        note(f"{shown} of {found.total:,}; continue with --offset {offset + shown}")


@relations.command()
@click.argument("source", metavar="FROM", type=ENTITY_NAME)
@click.argument("type")
@click.argument("target", metavar="TO", type=ENTITY_NAME)
@options_for(NewRelation, without="source target type")
@click.option("--make-ends", is_flag=True, help="Create missing entities.")
@json_option
@click.pass_obj
def create(session: Session, /, make_ends: bool, as_json: bool, **fields: Any) -> None:
    """Connect two entities, as in `relations create Ana works_at Acme`."""
    wanted = NewRelation(**given(fields), make_ends=make_ends, with_inverse=True)
    [outcome] = session.engine.graph.create_relations([wanted])
    if outcome.relation is None:
        raise NotFound(f"there is no entity {outcome.missing!r}: create it first, or use --make-ends")
    if as_json:
        print_json({**relation_json(outcome.relation), "existed": outcome.existed})
    else:
        print_relations([outcome.relation])
        if outcome.existed:
            note("It was there already.")


@relations.command()
@click.argument("which", nargs=-1, required=True, metavar="NUMBER | FROM TYPE TO")
@json_option
@click.pass_obj
def end(session: Session, which: tuple[str, ...], as_json: bool) -> None:
    """End a relation. It stays readable, and can be created again."""
    ended = session.engine.graph.end_relation(_which(which))
    if as_json:
        print_json({**relation_json(ended.relation), "already": ended.already})
    else:
        print_relations([one for one in (ended.relation, ended.inverse) if one is not None])
        if ended.already:
            note("It had ended already.")


@relations.command()
@click.argument("source", metavar="FROM", type=ENTITY_NAME)
@click.argument("type")
@click.argument("target", metavar="TO", type=ENTITY_NAME)
@json_option
@click.pass_obj
def delete(session: Session, source: str, type: str, target: str, as_json: bool) -> None:
    """Delete a relation and its past. `relations end` keeps the past."""
    result = session.engine.graph.delete_relations([Triple(source, target, type)])
    if result.missing:
        raise NotFound(str(result.missing[0]))
    if as_json:
        print_json({"deleted": len(result.deleted)})
    else:
        say(f"Deleted {counted(len(result.deleted), 'relation')}.")


def _which(words: tuple[str, ...]) -> int | Triple:
    match words:
        case [number] if number.isdecimal():
            return int(number)
        case [source, type, target]:
            return Triple(source, target, type)
    raise Invalid("give a relation's number, as `relations list` shows it, or FROM TYPE TO")
