"""Commands that store, find and change memories."""

from __future__ import annotations

import sys
from typing import Any, get_args

import click

from mcp_memory.cli.lazy import SuggestingGroup
from mcp_memory.cli.memory_rendering import (
    association_json,
    described_json,
    hit_json,
    memory_json,
    print_described,
    print_hits,
    print_whole,
    stored_json,
)
from mcp_memory.cli.options import (
    ENTITY_NAME,
    MEMORY_ID,
    SHARE,
    given,
    options_for,
    text_or_input,
)
from mcp_memory.cli.output import counted, json_option, limit_option, note, print_json, say
from mcp_memory.cli.session import Session
from mcp_memory.engine.memories import MOST_LISTED, Stored
from mcp_memory.errors import Invalid, NotFound
from mcp_memory.inputs import NewMemory, RecallOptions
from mcp_memory.model import ASSOCIATION_TYPES, Filter, Memory
from mcp_memory.storage.orders import ORDERS
from mcp_memory.text.preview import shortened
from mcp_memory.tuning import Fading


@click.command()
@click.argument("text")
@options_for(NewMemory, without="content")
@json_option
@click.pass_obj
def remember(session: Session, /, text: str, as_json: bool, **options: Any) -> None:
    """Store TEXT (- for standard input). Known content is not stored twice, but reinforced.

    Prints the id of the memory.
    """
    stored = session.engine.memories.remember(NewMemory(content=text_or_input(text), **given(options)))
    if as_json:
        print_json(stored_json(stored))
        return
    click.echo(stored.memory.id)
    _tell(stored)


@click.command()
@click.argument("query")
@options_for(Filter, without="forgotten archived")
@options_for(RecallOptions, without="fading limit")
@click.option("--limit", type=click.IntRange(1, 100), help="How many at most; 20 unless set.")
@click.option(
    "--fading",
    type=click.Choice(get_args(Fading)),
    default="gentle",
    show_default=True,
    help="gentle finds old memories as well as new ones; strict multiplies scores by confidence.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(1),
    help="Show as many as fit into this many tokens, with what was said around the best of them.",
)
@json_option
@click.pass_obj
def recall(session: Session, /, query: str, max_tokens: int | None, as_json: bool, **options: Any) -> None:
    """Find memories, best first. Results are reinforced, which slows their fading."""
    answer = session.engine.recall.recall(
        query,
        filter=Filter(**given(options, Filter)),
        max_tokens=max_tokens,
        **given(options, RecallOptions),
    )
    if as_json:
        found = [hit_json(hit) for hit in answer.hits]
        print_json({"mode": answer.mode, "memories": found, "total": answer.total})
        return
    print_hits(answer.hits, explain=options["explain"])
    if answer.mode != (options["mode"] or RecallOptions().mode):
        note(f"Searched by {answer.mode}")


@click.group(cls=SuggestingGroup)
def memories() -> None:
    """List, show, edit, pin and unpin memories."""


@memories.command("list")
@options_for(Filter, archived="Only memories that have faded and were archived.")
@click.option("--about", type=ENTITY_NAME, help="Only about this entity.")
@click.option("--order", type=click.Choice(tuple(ORDERS)), default="recent", show_default=True)
@limit_option(20, MOST_LISTED)
@click.option("--offset", type=click.IntRange(0), default=0, help="Skip this many.")
@json_option
@click.pass_obj
def list_(
    session: Session,
    /,
    about: str | None,
    forgotten: bool,
    archived: bool | None,
    order: str,
    limit: int,
    offset: int,
    as_json: bool,
    **filters: Any,
) -> None:
    """List memories, newest first unless another order is given."""
    wanted = Filter(**given(filters), forgotten=forgotten or bool(archived), archived=archived)
    topic = session.engine.memories
    page = topic.find(wanted, about=about, order=order, limit=limit, offset=offset)
    described = topic.describe(page.memories)
    if as_json:
        print_json({"memories": [described_json(one) for one in described], "total": page.total})
        return
    print_described(described)
    if offset + len(described) < page.total:
        note(f"{len(described)} of {page.total:,}; continue with --offset {offset + len(described)}")


@memories.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...", type=MEMORY_ID)
@json_option
@click.pass_obj
def show(session: Session, ids: tuple[str, ...], as_json: bool) -> None:
    """Show memories with all their fields."""
    topic = session.engine.memories
    found = topic.fetch(ids)
    shown = [(one, topic.associations_of(one.memory.id)) for one in topic.describe(found)]
    if as_json:
        print_json(
            [
                {**described_json(one), "associations": [association_json(link) for link in links]}
                for one, links in shown
            ]
        )
    else:
        for one, links in shown:
            print_whole(one, links)
    missing = set(ids) - {memory.id for memory in found}
    if missing:
        raise NotFound(f"no memory has the id {', '.join(sorted(missing))}")


@memories.command()
@click.argument("id", type=MEMORY_ID)
@options_for(
    NewMemory,
    without="entity_names relevance",
    content="The new content (- for standard input).",
    type="What kind of memory it is.",
    tags="Its tags, in place of those it has.",
    importance="How much it matters, 0 to 1.",
    metadata="All of its metadata.",
    pinned="Keep it from fading, or let it fade.",
)
@click.option("--no-tags", is_flag=True, help="Remove all tags.")
@click.option("--expect-version", type=int, help="Only if the memory is still at this version.")
@json_option
@click.pass_obj
def edit(
    session: Session, /, id: str, no_tags: bool, expect_version: int | None, as_json: bool, **options: Any
) -> None:
    """Change a memory; what it said before stays in its history. Without an option, in your editor."""
    changes = given(options)
    if no_tags:
        changes["tags"] = ()
    if "content" in changes:
        changes["content"] = text_or_input(changes["content"])
    topic = session.engine.memories
    changes = changes or {"content": _edited(topic.get(id, record=False).content)}
    changed = topic.update(id, changes, expected_version=expect_version)
    if as_json:
        print_json(memory_json(changed))
    else:
        say(f"“{shortened(changed.content)}” is at version {changed.version}.")


@memories.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...", type=MEMORY_ID)
@json_option
@click.pass_obj
def pin(session: Session, ids: tuple[str, ...], as_json: bool) -> None:
    """Keep memories from fading and from being pruned."""
    _show_pins([session.engine.memories.pin(id) for id in ids], "Pinned", as_json)


@memories.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...", type=MEMORY_ID)
@json_option
@click.pass_obj
def confirm(session: Session, ids: tuple[str, ...], as_json: bool) -> None:
    """Confirm memories: they leave trial and quarantine, and are never archived for their age."""
    _show_pins([session.engine.memories.confirm(id) for id in ids], "Confirmed", as_json)


@memories.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@json_option
@click.pass_obj
def unpin(session: Session, ids: tuple[str, ...], as_json: bool) -> None:
    """Let memories fade again."""
    _show_pins([session.engine.memories.unpin(id) for id in ids], "Not pinned any more", as_json)


@click.command(short_help="Associate two memories, so that recalling one finds both.")
@click.argument("source", metavar="ID", type=MEMORY_ID)
@click.argument("target", metavar="OTHER", type=MEMORY_ID)
@click.option(
    "--type",
    type=click.Choice(ASSOCIATION_TYPES),
    default="related_to",
    show_default=True,
    help="The type of association; a memory that `updates` another supersedes it.",
)
@click.option("--weight", type=SHARE, default=0.5, show_default=True, help="How strongly, from 0 to 1.")
@json_option
@click.pass_obj
def link(session: Session, source: str, target: str, type: str, weight: float, as_json: bool) -> None:
    """Associate a memory with another one, so that recalling one brings up the other."""
    topic = session.engine.memories
    topic.associate(source, target, type, weight)
    if as_json:
        print_json([association_json(one) for one in topic.associations_of(source)])
    else:
        say(f"{source} {type} {target}")


@click.command(short_help="Remove the associations between two memories.")
@click.argument("source", metavar="ID", type=MEMORY_ID)
@click.argument("target", metavar="OTHER", type=MEMORY_ID)
@click.option("--type", type=click.Choice(ASSOCIATION_TYPES), help="Only an association of this type.")
@json_option
@click.pass_obj
def unlink(session: Session, source: str, target: str, type: str | None, as_json: bool) -> None:
    """Remove the associations between two memories, in either direction."""
    done = session.engine.memories.dissociate(source, target, type)
    if as_json:
        gone = [association_json(one) for one in done.associations]
        print_json({"change": done.act, "associations": gone})
    else:
        say(f"Took away {counted(len(done.associations), 'association')}.")
        note(f"To take it back: mcp-memory undo {done.act}")


def _tell(stored: Stored) -> None:
    if stored.outcome == "equal":
        note("This is remembered already.")
    elif stored.outcome == "merged":
        note(f"A memory says the same, and has gained by it: “{shortened(stored.memory.content)}”")
    for one in stored.similar:
        note(f"Close to {one.memory.id}, “{shortened(one.memory.content)}”: {one.reason}")
    for warning in stored.warnings:
        note(f"Careful: {warning}")


def _show_pins(changed: list[Memory], done: str, as_json: bool) -> None:
    if as_json:
        print_json([memory_json(memory) for memory in changed])
    else:
        for memory in changed:
            say(f"{done}: “{shortened(memory.content)}”")


def _edited(content: str) -> str:
    text = click.edit(content) if sys.stdin.isatty() else None
    if text is None:
        raise Invalid("nothing was changed: say what to change, as in --content TEXT")
    return text.strip()
