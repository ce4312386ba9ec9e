"""The commands that connect AI clients to the memory, and disconnect them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from mcp_memory import config as settings
from mcp_memory.cli.clients.catalogue import CLIENTS, Client, Machine, Wish, named, stable_command
from mcp_memory.cli.clients.changes import FileChange, FileEdit, Ledger
from mcp_memory.cli.output import printable, say
from mcp_memory.cli.session import Session
from mcp_memory.errors import Invalid, MemoryServerError

CONSENT = (
    "What you state in conversations as a preference, decision, correction, fact or open task, and commands "
    "that failed with what helped, is captured by rules, without secrets, and fades in days unless used. "
    "It stays in {where}, and `mcp-memory captured` shows, accepts, drops and purges it."
)

_choice = click.argument("clients", nargs=-1, metavar="[CLIENT]…")


@click.command(short_help="Connect the AI clients of this machine.")
@_choice
@click.option("--print", "only_print", is_flag=True, help="Only show what would change.")
@click.option("--no-hooks", is_flag=True, help="Connect only the server: nothing is injected or captured.")
@click.option("--recall-only", is_flag=True, help="Inject memories, but capture nothing.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.pass_obj
def install(
    session: Session, clients: tuple[str, ...], only_print: bool, no_hooks: bool, recall_only: bool, yes: bool
) -> None:
    """Connect the AI clients of this machine, or those that are named.

    CLIENT is any of claude-code, claude-desktop, codex, cursor, gemini, opencode, vscode, windsurf, zed.
    Every change is shown first, and a copy of each file is kept; `uninstall` restores it.
    """
    around = surroundings()
    chosen = named(clients, around)
    if not chosen:
        say(f"None of these clients was found here: {', '.join(CLIENTS)}. Name one to connect it anyway.")
        return
    command = stable_command(around, running())
    wish = Wish(command=command, hooks=not no_hooks, capture=not (no_hooks or recall_only))
    ledger = ledger_here()
    if wish.capture and any(client.has_hooks for client in chosen):
        say(CONSENT.format(where=_where(session)))
    connected = [_connect(client, _edits(client, around, wish), ledger, only_print, yes) for client in chosen]
    if any(connected):
        say("Start a new session in each client; `mcp-memory doctor` then says when each last called.")


def _connect(
    client: Client,
    edits: Sequence[FileEdit],
    ledger: Ledger,
    only_print: bool,
    yes: bool,
) -> bool:
    """Returns whether its files were changed."""
    try:
        changes = [change for change in map(ledger.put, edits) if change.is_real]
    except (MemoryServerError, OSError) as error:
        say(f"{client.title}: left as it is. {printable(error)}")
        return False
    if not changes:
        say(f"{client.title}: connected already.")
        return False
    _show(client, changes)
    if only_print:
        return False
    if not yes and not _is_wanted(client):
        say(f"{client.title}: left as it is.")
        return False
    for change in changes:
        ledger.make(change)
    say(f"{client.title}: connected.{' ' + client.note if client.note else ''}")
    return True


def _is_wanted(client: Client) -> bool:
    try:
        return click.confirm(f"Connect {client.title}?", default=True)
    except click.Abort:
        if sys.stdin is not None and sys.stdin.isatty():
            raise
        say("")
        raise Invalid(
            f"nobody answers here, so {client.title} is left as it is: --yes connects without asking"
        ) from None


@click.command(short_help="Disconnect clients, and restore their files.")
@_choice
@click.option("--print", "only_print", is_flag=True, help="Only show what would change.")
@click.pass_obj
def uninstall(session: Session, clients: tuple[str, ...], only_print: bool) -> None:
    """Disconnect all clients, or those that are named, and restore their files."""
    around = surroundings()
    wish = Wish(command=("mcp-memory",))
    ledger = ledger_here()
    for client in named(clients, around):
        try:
            changes = [ledger.taken_back(edit) for edit in _edits(client, around, wish)]
        except (MemoryServerError, OSError) as error:
            say(f"{client.title}: left as it is. {printable(error)}")
            continue
        real = [change for change in changes if change.is_real]
        if only_print:
            _show(client, real)
            continue
        for change in changes:
            ledger.undo(change)
        say(f"{client.title}: {'disconnected' if real else 'was not connected'}.")


def running() -> str:
    """The path of the program that runs."""
    return str(Path(sys.argv[0]).absolute())


def surroundings() -> Machine:
    return Machine(home=Path.home(), environ=settings.environment())


def _edits(client: Client, around: Machine, wish: Wish) -> list[FileEdit]:
    return client.edits(around, wish)


def ledger_here() -> Ledger:
    return Ledger(settings.default_database().parent / "connected")


def _where(session: Session) -> str:
    return str(session.config.database_file or "your PostgreSQL database")


def _show(client: Client, changes: Sequence[FileChange]) -> None:
    say(f"{client.title}:")
    for change in changes:
        say(printable_lines(change.diff()))


def printable_lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.rstrip("\n").split("\n"))
