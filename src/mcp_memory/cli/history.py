"""Commands for history and undo."""

from __future__ import annotations

from typing import Any

import click

from mcp_memory.cli.memory_rendering import memory_json, print_memories
from mcp_memory.cli.options import CHANGE_ID, MEMORY_ID, ask, options_for
from mcp_memory.cli.output import counted, json_option, limit_option, note, print_json, say, shaped, table
from mcp_memory.cli.session import CLIENT, Session
from mcp_memory.engine.history import MOST_LISTED, Change, Past, Purged
from mcp_memory.engine.memories import Deleted
from mcp_memory.errors import NotFound
from mcp_memory.model import Event, Filter
from mcp_memory.text.change_words import change_in_words
from mcp_memory.text.preview import shortened

SHOWN = 20
"""Memories shown before the confirmation of a deletion."""


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...", type=MEMORY_ID)
@click.option("--reason", help="Why, for the history.")
@json_option
@click.pass_obj
def forget(session: Session, ids: tuple[str, ...], reason: str | None, as_json: bool) -> None:
    """Hide memories everywhere. `restore` brings them back; `purge` removes them for good."""
    done = [(id, session.engine.memories.forget(id, reason)) for id in ids]
    if as_json:
        print_json([{"id": id, "forgotten": one.forgotten, "message": one.message} for id, one in done])
    else:
        for _, one in done:
            if one.forgotten:
                say(one.message)
    missing = [id for id, one in done if not one.forgotten]
    if missing:
        raise NotFound(f"no memory has the id {', '.join(missing)}; `mcp-memory memories list` shows ids")


@click.command(short_help="Bring back a memory, or an earlier version of one.")
@click.argument("id", type=MEMORY_ID)
@click.option("--version", "number", type=int, help="Restore this version of its content.")
@json_option
@click.pass_obj
def restore(session: Session, id: str, number: int | None, as_json: bool) -> None:
    """Restore a memory that was forgotten, deleted, pruned or merged, or an earlier version of one."""
    topic = session.engine.history
    memory = topic.restore(id) if number is None else topic.restore_version(id, number)
    if as_json:
        print_json(memory_json(memory))
    else:
        say(f"Restored: “{shortened(memory.content)}”")


@click.command(short_help="Show the latest changes, or those of one memory.")
@click.argument("id", required=False, type=MEMORY_ID)
@limit_option(20, MOST_LISTED)
@click.option("--before", type=int, help="Cursor: show changes before this one.")
@json_option
@click.pass_obj
def history(session: Session, id: str | None, limit: int, before: int | None, as_json: bool) -> None:
    """Show the versions and events of a memory; without ID, the latest changes."""
    if id is not None:
        _show_past(session.engine.history.of(id), as_json)
    else:
        _show_changes(session.engine.history.recent(limit, before), limit, as_json)


@click.command(short_help="Undo the last change, or one that `history` shows.")
@click.argument("change", required=False, type=CHANGE_ID)
@click.option("--anyone", is_flag=True, help="Undo the last change by any client.")
@json_option
@click.pass_obj
def undo(session: Session, change: str | None, anyone: bool, as_json: bool) -> None:
    """Undo a CHANGE that `history` shows; without one, the last one made from the command line.

    An undo can itself be undone.
    """
    topic = session.engine.history
    undone = topic.undo(change) if change else topic.undo_last(by=None if anyone else CLIENT)
    if as_json:
        print_json(undone)
        return
    say(f"Undone: {undone.summary}.")
    if undone.restored:
        say(f"{counted(len(undone.restored), 'memory is', 'memories are')} there again.")
    note(f"To do it again: mcp-memory undo {undone.by_act}")


@click.command(short_help="Remove a memory or an entity for good.")
@click.argument("which", metavar="ID | ENTITY")
@click.option("--backups", is_flag=True, help="Also replace all backups, which still hold it, by a new one.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_obj
def purge(session: Session, which: str, backups: bool, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Remove a memory, or an entity with all its memories, for good: also from history and journal.

    Backups made before still hold it; --backups replaces them all by one new backup.
    """
    topic = session.engine.history
    found = topic.purge(which, dry_run=True)
    if not dry_run:
        ask(f"Remove {_going(found)} for good? Nothing brings it back.", unless=yes)
        found = topic.purge(which)
    if as_json:
        print_json(found)
    else:
        say(f"{'Would remove' if dry_run else 'Removed'} {_going(found)} for good.")
    if not dry_run:
        _purge_backups(session, backups)


def _purge_backups(session: Session, replace: bool) -> None:
    from mcp_memory.engine.backups import backups_in
    from mcp_memory.wiring import backup_plan

    plan = backup_plan(session.config)
    if replace:
        gone = session.engine.backups.replace_all(plan)
        note(f"Replaced {counted(len(gone), 'earlier backup')} by a new one.")
    elif held := backups_in(plan.folder):
        note(
            f"{counted(len(held), 'backup')} in {plan.folder} may still hold it: `mcp-memory purge --backups`"
            " replaces them, or delete them; they leave by rotation too."
        )


@click.command(short_help="Delete the memories that meet all conditions.")
@click.argument("ids", nargs=-1, metavar="[ID]...", type=MEMORY_ID)
@options_for(Filter, only="types before below_confidence")
@click.option("--dry-run", is_flag=True, help="Only show what would be deleted.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_obj
def delete(
    session: Session, /, ids: tuple[str, ...], dry_run: bool, yes: bool, as_json: bool, **conditions: Any
) -> None:
    """Delete the memories that meet all conditions, as one change that can be undone."""
    if not ids and all(value in (None, ()) for value in conditions.values()):
        raise click.UsageError("Say which memories: ID, --type, --before or --below-confidence.")
    topic = session.engine.memories
    found = topic.delete(ids, **conditions, dry_run=True)
    if not as_json:
        print_memories(found.memories[:SHOWN], empty="No memory meets that.")
    if found.memories and not dry_run:
        ask(f"Delete {counted(len(found.memories), 'memory', 'memories')}?", unless=yes)
        found = topic.delete(ids, **conditions)
    _tell_deleted(found, as_json)


def _show_past(past: Past, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "memory": memory_json(past.memory) if past.memory else None,
                "versions": past.versions,
                "events": [shaped("EventJson", event) for event in past.events],
            }
        )
        return
    say(_standing(past))
    if past.versions:
        table(
            ("version", "said", "until", "because"),
            ((one.number, shortened(one.content, 160), one.at, one.reason) for one in past.versions),
        )
    table(
        ("when", "what", "by", "change"),
        ((event.at, _in_words(event), event.client, event.act) for event in past.events),
        empty="The journal has no events about it any more.",
        ids_under="what",
    )


def _show_changes(changes: list[Change], limit: int, as_json: bool) -> None:
    if as_json:
        print_json(changes)
        return
    table(
        ("when", "what", "by", "undo", "change"),
        ((one.at, one.summary, one.client, _undoing(one), one.act) for one in changes),
        empty="Nothing has happened yet.",
        ids_under="what",
    )
    if len(changes) == limit:
        note(f"continue with --before {changes[-1].cursor}")


def _undoing(change: Change) -> str:
    return "undone" if change.undone else "yes" if change.undoable else "no"


def _standing(past: Past) -> str:
    if past.memory is None:
        return "This memory was deleted; `mcp-memory restore` may bring it back."
    forgotten = " (forgotten)" if past.memory.forgotten_at else ""
    return f"Version {past.memory.version}{forgotten}: {past.memory.content}"


def _in_words(event: Event) -> str:
    undone = " (undone)" if event.undone_at else ""
    return change_in_words({event.name: 1}, event.name, event.payload) + undone


def _going(found: Purged) -> str:
    memories = counted(len(found.memory_ids), "memory", "memories")
    return f"the entity {found.entity!r} and {memories}" if found.entity else memories


def _tell_deleted(found: Deleted, as_json: bool) -> None:
    if as_json:
        print_json(shaped("DeletedJson", found))
    elif found.memories:
        amount = counted(len(found.memories), "memory", "memories")
        say(f"Would delete {amount}." if found.dry_run else f"Deleted {amount}.")
        if found.act:
            note(f"To take it back: mcp-memory undo {found.act}")
    if found.missing:
        raise NotFound(f"no memory has the id {', '.join(found.missing)}")
