"""Commands for captured memories, and to pause capture."""

from __future__ import annotations

from pathlib import Path

import click

from mcp_memory.cli.memory_rendering import memory_json
from mcp_memory.cli.output import Decorated, json_option, limit_option, print_json, printable, say, table
from mcp_memory.cli.session import Session
from mcp_memory.cli.text_files import read_own_text, write_text
from mcp_memory.text.preview import shortened

PREVIEW = 120
NOTHING = "Nothing is on trial. Conversations in connected clients are captured after each turn."
NO_DIGEST = (
    "Nothing belongs at the start of a session yet: no rule, preference, task or decision is remembered."
)


@click.group(invoke_without_command=True, short_help="List what was captured from conversations.")
@click.option("--why", metavar="ID", help="Say which rule captured this memory, and from where.")
@click.option("--session", "of_session", metavar="NAME", help="Only captured from this session.")
@limit_option(50)
@json_option
@click.pass_context
def captured(ctx: click.Context, why: str | None, of_session: str | None, limit: int, as_json: bool) -> None:
    """List memories captured from conversations and on trial, newest first. They fade in days unless they
    recur in another session, are used, or you accept them.
    """
    if ctx.invoked_subcommand is not None:
        return
    session: Session = ctx.obj
    if why:
        _show_reason(session, why, as_json)
        return
    found = session.engine.captures.find(session=of_session, limit=min(limit, 200))
    if as_json:
        print_json([memory_json(memory) for memory in found.memories])
        return
    rows = [
        (memory.id, memory.created_at, memory.metadata.get("capture", {}).get("rule"), memory.channel,
         shortened(memory.content, PREVIEW))
        for memory in found.memories
    ]  # fmt: skip
    table(("id", "captured", "rule", "session", "content"), rows, empty=NOTHING)
    if session.engine.captures.is_paused():
        say("Paused: nothing is captured or injected until `mcp-memory resume`.")


def _show_reason(session: Session, id: str, as_json: bool) -> None:
    reason = session.engine.captures.why(id)
    if as_json:
        told = {
            name: getattr(reason, name)
            for name in ("rule", "explanation", "client", "session", "turn", "said_at")
        }
        print_json({**memory_json(reason.memory), "why": told})
        return
    say(printable(reason.memory.content))
    say(f"Captured by the rule {reason.rule!r}: {reason.explanation}.")
    say(
        printable(
            f"From {reason.client}, session {reason.session}, turn {reason.turn}, {reason.said_at or ''}"
        )
    )


def which(command: Decorated) -> Decorated:
    """The options that choose captured memories."""
    command = click.option("--all", "every", is_flag=True, help="Every one.")(command)
    command = click.option("--session", "of_session", metavar="NAME", help="All of this session.")(command)
    return click.argument("ids", nargs=-1, metavar="[ID]…")(command)


@captured.command()
@which
@click.pass_obj
def accept(session: Session, ids: tuple[str, ...], of_session: str | None, every: bool) -> None:
    """Make captured memories ordinary ones, which do not fade in days."""
    done = session.engine.captures.accept(ids, session=of_session, every=every)
    say(f"Accepted {len(done.ids)}.{_take_back(done.act)}")


@captured.command()
@which
@click.pass_obj
def drop(session: Session, ids: tuple[str, ...], of_session: str | None, every: bool) -> None:
    """Forget captured memories; they are not captured again. Can be undone."""
    done = session.engine.captures.drop(ids, session=of_session, every=every)
    say(f"Dropped {len(done.ids)}.{_take_back(done.act)}")


@captured.command()
@click.option("--session", "of_session", metavar="NAME", help="Only of this session.")
@click.confirmation_option(prompt="Remove what is on trial for good? Nothing brings it back.")
@click.pass_obj
def purge(session: Session, of_session: str | None) -> None:
    """Remove memories on trial permanently, from history and journal too."""
    say(f"Purged {len(session.engine.captures.purge(session=of_session))}.")


def _take_back(act: str | None) -> str:
    return f" `mcp-memory undo {act}` takes it back." if act else ""


@click.command()
@click.pass_obj
def pause(session: Session) -> None:
    """Capture nothing and inject nothing until `resume`."""
    session.engine.captures.set_paused(True)
    say("Paused: nothing is captured or injected until `mcp-memory resume`.")


@click.command()
@click.pass_obj
def resume(session: Session) -> None:
    """Capture and inject again."""
    session.engine.captures.set_paused(False)
    say("Resumed: conversations are captured again, and memories injected.")


@click.command(short_help="Show the text that a session starts with.")
@click.option(
    "--write",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Keep it as a block in this file, for clients without hooks, e.g. AGENTS.md.",
)
@click.pass_obj
def digest(session: Session, file: Path | None) -> None:
    """Show the text that is injected when a session starts here: the person, rules, open tasks, decisions."""
    from mcp_memory.engine.arrivals import Place
    from mcp_memory.engine.project import project_of
    from mcp_memory.text.managed_block import replaced

    here = project_of(str(Path.cwd()))
    text = session.engine.arrivals.at_start(Place(project=here.key), record=False).text
    if file is None:
        say(printable(text) if text else NO_DIGEST)
        return
    before = read_own_text(file)
    if not text and not before:
        say(f"{NO_DIGEST} {file} was not written.")
        return
    after = replaced(before, text)
    if after != before:
        write_text(file, after)
    say(f"{file} {'is up to date' if after == before else 'was written'}.")
