"""Commands that bring memories in from files and take them out again."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click

from mcp_memory.cli.output import counted, json_option, note, print_json, say
from mcp_memory.cli.progress import Bar
from mcp_memory.cli.session import Session
from mcp_memory.engine.transfer import Format, Imported
from mcp_memory.errors import Conflict, Invalid

FORMATS = click.Choice(("anthropic", "full"))


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--format", "format", type=FORMATS, help="What the file is; otherwise its first line tells.")
@json_option
@click.pass_obj
def import_(session: Session, file: Path, format: Format | None, as_json: bool) -> None:
    """Add what FILE says (- for standard input): the JSONL of Anthropic's memory server, or a full export.

    What is known already is not doubled, so an import that broke off can simply be run again.
    """
    source = sys.stdin.buffer if str(file) == "-" else file.expanduser()
    size = source.stat().st_size if isinstance(source, Path) and source.is_file() else 0
    with Bar("bytes") as bar:
        done = session.engine.transfer.import_from(
            source, format, progress=lambda bytes_done: bar.file("importing", bytes_done, size)
        )
    if as_json:
        print_json(done)
    else:
        _tell(done)


@click.command()
@click.argument("file", default="-", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--format",
    "format",
    type=FORMATS,
    default="anthropic",
    show_default=True,
    help="`anthropic`: the graph, as Anthropic's memory server writes it. `full`: everything.",
)
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.pass_obj
def export(session: Session, file: Path, format: Format, force: bool) -> None:
    """Write the memories of a space to FILE, or to standard output.

    A `full` export holds everything, also versions, history and what is forgotten, and is what to keep as
    a backup or to take to another database: `mcp-memory import` reads it back.
    """
    transfer = session.engine.transfer
    lines = transfer.export_full() if format == "full" else transfer.export_anthropic()
    count = 0
    with _output(file, force) as out:
        for line in lines:
            out.write(line.encode() + b"\n")
            count += bool(line)
    if str(file) != "-":
        note(f"Wrote {counted(count, 'line')} to {file}.")


@contextmanager
def _output(file: Path, force: bool) -> Iterator[IO[bytes]]:
    """A file that takes its place only when it is complete, and that is its owner's alone."""
    if str(file) == "-":
        yield sys.stdout.buffer
        return
    target = file.expanduser()
    if target.exists() and not force:
        raise Conflict(f"{target} exists: choose another name, or --force to replace it")
    draft = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as opened:
            yield opened
            opened.flush()
            os.fsync(opened.fileno())
        draft.replace(target)
    except OSError as error:
        raise Invalid(f"{target} cannot be written: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)


def _tell(done: Imported) -> None:
    entities = counted(done.entities_imported, "entity", "entities")
    say(f"Imported {entities} and {counted(done.relations_imported, 'relation')}.")
    if done.records:
        say("New: " + ", ".join(f"{count:,} {kind}" for kind, count in done.records.items()) + ".")
    for problem in done.problems:
        note(problem)
    if done.errors or done.skipped:
        note(f"{counted(done.errors, 'line')} could not be read, {done.skipped:,} skipped.")
