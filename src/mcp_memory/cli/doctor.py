"""The diagnostic command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress

import click

from mcp_memory import wiring
from mcp_memory.cli.output import coloured, json_option, note, print_json, printable
from mcp_memory.cli.session import Session
from mcp_memory.embedding import NoModel
from mcp_memory.engine.indexing import ENGLISH_MODELS, MULTILINGUAL_HINT
from mcp_memory.errors import MemoryServerError
from mcp_memory.storage import Database, Store
from mcp_memory.storage.diagnostics import Finding

MODEL_ADVICE = "run `mcp-memory model install`, or `mcp-memory model test` to see more"


@click.command()
@click.option("--quick", is_flag=True, help="Skip checks that read the whole database.")
@click.option(
    "--repair",
    is_flag=True,
    help="Repair what can be repaired; memories that may be damaged are quarantined.",
)
@json_option
@click.pass_obj
@click.pass_context
def doctor(ctx: click.Context, session: Session, quick: bool, repair: bool, as_json: bool) -> None:
    """Check the installation, and say how to fix each problem. The exit code is 1 if there is one."""
    if repair:
        with closing(wiring.open_database(session.config)) as database:
            note(f"{_repair(database):,} things were repaired.")
    found: list[Finding] = []
    for finding in _findings(session, quick):
        found.append(finding)
        if not as_json:
            _show(finding)
    if as_json:
        print_json(found)
    if not all(finding.is_well for finding in found):
        ctx.exit(1)


def _repair(database: Database) -> int:
    """Repair, also what stands in the way of a migration; migrate; and repair what needs today's tables."""
    count = database.repair()
    try:
        Store(database).open()
        steps = sum(1 for _ in database.migrate_further())
    except Exception as error:
        # Whatever else is wrong is a finding, too.
        note(f"The database is not migrated to this release: {error}")
        return count
    if steps:
        note("The database was migrated to this release.")
    return count + database.repair()


def _findings(session: Session, quick: bool) -> Iterator[Finding]:
    try:
        database = wiring.open_database(session.config)
    except MemoryServerError as error:
        yield Finding("database", False, str(error), "correct DATABASE_URL")
    else:
        yield from _database(session, database, quick)
    yield _model(session)
    if not quick:
        yield from _clients(session)


def _clients(session: Session) -> Iterator[Finding]:
    """Whether assistants' clients are connected, and their command works."""
    from mcp_memory.cli.clients.diagnostics import examine
    from mcp_memory.cli.install import ledger_here, running, surroundings

    last_calls = {}
    with suppress(Exception):  # reported above
        with closing(wiring.open_database(session.config)) as database:
            is_there = database.exists()
        last_calls = session.engine.captures.last_calls() if is_there else {}
    yield from examine(surroundings(), ledger_here(), running(), last_calls)


def _database(session: Session, database: Database, quick: bool) -> Iterator[Finding]:
    with closing(database):
        yield from database.examine(quick=quick, now=wiring.now())
        try:
            exists = database.exists()
        except MemoryServerError:
            return  # unreachable, which the diagnosis has reported
    if exists:
        yield from _engine(session)


def _engine(session: Session) -> Iterator[Finding]:
    try:
        state = session.engine.inventory.vectors()
    except Exception as error:
        # Any error that a damaged file causes is a finding, and must not end the diagnosis.
        yield Finding("program", False, str(error), "see above, or point DATABASE_URL at another database")
        return
    yield Finding("program", True, "the database opens and answers")
    # Without any model, keyword-only search is supported.
    is_well = state.mode == "hybrid" or isinstance(wiring.embedder(session.config), NoModel)
    yield Finding("search", is_well, state.mode, MODEL_ADVICE)
    waiting = f"; {state.missing_count:,} wait for the next search" if state.missing_count else ""
    yield Finding("vectors", True, f"{state.vector_count:,} made{waiting}")
    if state.building is not None:
        advice = "run `mcp-memory reembed` to resume"
        yield Finding("reembedding", False, f"vectors of {state.building.name} are incomplete", advice)


def _model(session: Session) -> Finding:
    try:
        embedder = wiring.embedder(session.config)
        if isinstance(embedder, NoModel):
            # Keyword-only search is supported: worth a hint, but not a problem.
            return Finding("model", True, f"none: {embedder.reason}; for search by meaning {MODEL_ADVICE}")
        embedder.embed(["Is it there?"], "passage")
    except MemoryServerError as error:
        return Finding("model", False, str(error), MODEL_ADVICE)
    card = embedder.card
    runs = f"{card.name} runs: {card.dimensions} dimensions, {card.fingerprint[:12]}…"
    hint = f"; it knows English only, {MULTILINGUAL_HINT}" if card.name in ENGLISH_MODELS else ""
    return Finding("model", True, runs + hint)


def _show(finding: Finding) -> None:
    mark = coloured("ok     ", "green") if finding.is_well else coloured("PROBLEM", "red")
    click.echo(f"{mark}  {printable(finding.subject)}: {printable(finding.detail)}")
    if not finding.is_well and finding.advice:
        click.echo(f"         {printable(finding.advice)}")
