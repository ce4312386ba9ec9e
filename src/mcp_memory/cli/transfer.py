"""Commands for import and export."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from io import BytesIO
from pathlib import Path
from typing import IO, BinaryIO, get_args

import click

from mcp_memory.cli.output import counted, json_option, note, print_json, say
from mcp_memory.cli.passphrase import passphrase, passphrase_file_option
from mcp_memory.cli.progress import Bar
from mcp_memory.cli.session import Session
from mcp_memory.engine.backups import decrypted, encrypting, is_encrypted
from mcp_memory.engine.graph_import import Imported
from mcp_memory.engine.import_preview import Preview
from mcp_memory.engine.import_source import FORMATS, default_source
from mcp_memory.engine.transfer import Format, LeftOut
from mcp_memory.errors import Conflict, Invalid
from mcp_memory.text.preview import shortened

NOUNS = {"memory": "memories", "entity": "entities"}


@click.command("import")
@click.argument("path", required=False, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--format", "format", type=click.Choice(FORMATS), help="The format, if it is not detected.")
@click.option("--preview", is_flag=True, help="Only show what would be imported.")
@passphrase_file_option
@json_option
@click.pass_obj
@click.pass_context
def import_(
    ctx: click.Context,
    session: Session,
    path: Path | None,
    format: str | None,
    preview: bool,
    passphrase_file: Path | None,
    as_json: bool,
) -> None:
    """Import the memories in PATH (- for standard input). The format is detected:

    \b
    - an export of mcp-memory (also encrypted), or the JSONL of Anthropic's memory server
    - a data export of ChatGPT or Claude (zip, folder or JSON): the memories in it
    - JSON of mem0
    - a folder of Markdown notes, such as an Obsidian vault
    - the SQLite file of the MCP Memory v2 server; without PATH, at its default location

    Known memories are not duplicated, so an interrupted import can be run again. The exit code is 1 if
    nothing could be used. `mcp-memory undo` reverts an import.
    """
    path = path or default_source()
    source: BinaryIO | Path = sys.stdin.buffer if str(path) == "-" else path.expanduser()
    if isinstance(source, Path) and is_encrypted(source):
        source = BytesIO(decrypted(source.read_bytes(), passphrase(session, passphrase_file)))
    if preview:
        found = session.engine.transfer.preview(source, format)
        print_json(found) if as_json else _show_preview(found, path)
        ctx.exit(0 if found.total else 1)
    size = source.stat().st_size if isinstance(source, Path) and source.is_file() else 0
    with Bar("bytes") as bar:
        done = session.engine.transfer.import_from(
            source, format, progress=lambda doing, done, _: bar.file(doing, done, size)
        )
    print_json(done) if as_json else _show_import(done)
    ctx.exit(1 if done.is_empty else 0)


@click.command(short_help="Export everything in the space.")
@click.argument("file", default="-", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--format",
    "format",
    type=click.Choice(get_args(Format)),
    default="full",
    show_default=True,
    help="`full`: everything. `anthropic`: the graph, as Anthropic's memory server writes it.",
)
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.option("--encrypt", is_flag=True, help="Encrypt it with a passphrase, in the age format.")
@passphrase_file_option
@click.pass_obj
def export(
    session: Session, file: Path, format: Format, force: bool, encrypt: bool, passphrase_file: Path | None
) -> None:
    """Export everything in the space to FILE, or to standard output.

    A full export is a backup: it also holds versions, history and forgotten memories, and `mcp-memory
    import` reads it into this or another database.
    """
    secret = passphrase(session, passphrase_file, new=True) if encrypt else ""
    transfer = session.engine.transfer
    lines = transfer.export_full() if format == "full" else transfer.export_anthropic()
    count = 0
    with _output(file, force) as out, encrypting(out, secret) if encrypt else nullcontext(out) as out:
        for line in lines:
            out.write(line.encode() + b"\n")
            count += bool(line)
    if str(file) != "-":
        note(f"Wrote {counted(count, 'line')} to {file}.")
    if format == "anthropic":
        _note_left_out(transfer.left_out_by_anthropic())


def _note_left_out(left_out: LeftOut) -> None:
    if left_out.memories or left_out.reflections:
        note(
            f"Left out: {counted(left_out.memories, 'memory', 'memories')} about no entity or superseded, "
            f"{counted(left_out.reflections, 'reflection')}. `--format full` holds everything."
        )


@contextmanager
def _output(file: Path, force: bool) -> Iterator[IO[bytes]]:
    """An output file that appears only when complete, readable by its owner alone."""
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


def _show_preview(found: Preview, path: Path) -> None:
    if not found.total:
        note(f"Nothing in {path} can be imported. It was read as {found.title}; see --format.")
        return
    say(f"{path} looks like {found.title}: {_amounts(found.total)}.")
    if found.known:
        say(f"Known already: {_amounts(found.known)}.")
    for text in found.examples:
        say(f"  • {shortened(text)}")
    for problem in found.problems:
        note(problem)
    note("Nothing was changed. Import it without --preview.")


def _show_import(done: Imported) -> None:
    if done.is_empty:
        note("Nothing could be imported.")
    elif done.records:
        say(f"Imported {_amounts(done.records)}.")
    else:
        say("Nothing new.")
    if done.known:
        say(f"Known already: {_amounts(done.known)}.")
    for problem in done.problems:
        note(problem)
    if done.errors or done.skipped:
        note(f"Skipped {counted(done.skipped, 'line')}; {done.errors:,} could not be read.")


def _amounts(counts: Mapping[str, int]) -> str:
    """Counts of the kinds of records that people know, most important first."""
    named = [kind for kind in ("memory", "entity", "relation", "reflection") if counts.get(kind)]
    kinds = named or list(counts)
    return ", ".join(counted(counts[kind], kind, NOUNS.get(kind, "")) for kind in kinds)
