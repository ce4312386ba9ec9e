"""What is particular to PostgreSQL: many servers, rights, lost connections, its index of vectors."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from psycopg.conninfo import make_conninfo

from mcp_memory.errors import Conflict, Invalid, Unavailable
from mcp_memory.events import MemoryCreated
from mcp_memory.model import Caller, EmbeddingModel, Filter
from mcp_memory.storage import Store, filters, queries
from mcp_memory.storage.database import Script
from mcp_memory.storage.postgres import vectors as postgres_vectors
from mcp_memory.storage.postgres.database import CONNECTIONS, PostgresDatabase
from mcp_memory.storage.postgres.values import Embedding
from tests.postgres_between import BreakingLine, LendingPooler, standing_between
from tests.postgres_server import PostgresDatabases, PostgresServer

AT = datetime(2026, 1, 1, tzinfo=UTC)
DIMENSIONS = 16


def put(store: Store, value: int) -> None:
    with store.write(Caller(), AT, "act") as tx:
        tx.settings.put("key", [value])


def got(store: Store) -> list[int]:
    with store.read("default", AT) as tx:
        found: list[int] = tx.settings.get("key")
        return found


@pytest.fixture
def store(postgres_url: str) -> Iterator[Store]:
    opened = Store(PostgresDatabase(postgres_url)).open()
    yield opened
    opened.close()


def test_ten_servers_start_at_once_on_an_empty_database(postgres: PostgresDatabases) -> None:
    with postgres.empty() as url, ThreadPoolExecutor(10) as pool:
        stores = [Store(PostgresDatabase(url)) for _ in range(10)]
        list(pool.map(lambda store: store.open(), stores))
        list(pool.map(lambda store: put(store, 1), stores))
        assert got(stores[0]) == [1]
        for store in stores:
            store.close()


def test_servers_in_different_spaces_agree_on_one_model(store: Store) -> None:
    start = threading.Barrier(5)

    def adopt(number: int) -> EmbeddingModel:
        with store.write(Caller(f"space {number}"), AT, f"act {number}") as tx:
            assert tx.indexes.models() == {}
            start.wait()
            tx.indexes.add_model(f"model {number}", DIMENSIONS, "print", "active")
            return tx.indexes.models()["active"]

    with ThreadPoolExecutor(5) as pool:
        assert len(set(pool.map(adopt, range(5)))) == 1


@pytest.mark.parametrize("earlier", range(4, 8))
def test_what_fails_leaves_no_connection_that_cannot_do_the_same_again(
    emptied_postgres_url: str, earlier: int
) -> None:
    database = PostgresDatabase(emptied_postgres_url, connections=1)

    def note(times: int, tag_of: int | None = None) -> None:
        for number in range(times):
            with database.write() as connection:
                if tag_of is not None:
                    tag = {"space_id": 1, "tag": "a"}
                    connection.insert_all("memory_tag", {"memory_seq": [tag_of]}, tag)
                connection.change_many(
                    "UPDATE setting SET value = :value WHERE key = :key", [{"key": "key", "value": [number]}]
                )

    with closing(database):
        for _ in range(3):
            with database.read() as connection:
                connection.run("SELECT 1 AS one")
        note(earlier)
        with pytest.raises(Conflict):
            note(1, tag_of=404)
        note(3)


def test_a_database_of_a_newer_release_is_left_alone(store: Store) -> None:
    with store.database.write() as connection:
        connection.change("INSERT INTO migration (number, name) VALUES (999, 'later')")
    with pytest.raises(Unavailable, match="newer mcp-memory"):
        store.open()


def test_a_migration_that_fails_leaves_the_schema_as_it_was(store: Store) -> None:
    scripts = queries.migrations("postgres")
    bad = Script(len(scripts) + 1, "bad", "CREATE TABLE half (x INTEGER); SELECT nonsense")
    with pytest.raises(psycopg.ProgrammingError):
        store.database.migrate([*scripts, bad])
    with store.database.read() as connection:
        assert connection.run("SELECT to_regclass('half') AS half") == [{"half": None}]
    store.open()


def test_who_may_not_set_up_the_database_is_told_what_to_run(postgres: PostgresDatabases) -> None:
    with postgres.empty() as url, psycopg.connect(url, autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS guest")
        admin.execute("CREATE ROLE guest LOGIN PASSWORD 'guest'")
        as_guest = make_conninfo(url, user="guest", password="guest")
        with pytest.raises(
            Unavailable, match=r"run there: CREATE SCHEMA mcp_memory AUTHORIZATION \"guest\";"
        ):
            PostgresDatabase(as_guest).migrate(queries.migrations("postgres"))
        admin.execute("CREATE SCHEMA mcp_memory")
        with pytest.raises(Unavailable, match=r"run there: CREATE EXTENSION vector;"):
            PostgresDatabase(as_guest).migrate(queries.migrations("postgres"))
        admin.execute("CREATE EXTENSION vector")
        with pytest.raises(Unavailable, match=r"run there: GRANT ALL ON SCHEMA mcp_memory TO \"guest\";"):
            PostgresDatabase(as_guest).migrate(queries.migrations("postgres"))
        admin.execute("GRANT ALL ON SCHEMA mcp_memory TO guest")
        store = Store(PostgresDatabase(as_guest)).open()
        put(store, 1)
        store.close()
        admin.execute("DROP OWNED BY guest CASCADE")
        admin.execute("DROP ROLE guest")


def test_a_role_without_rights_to_the_tables_is_told_what_to_run(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS visitor")
        admin.execute("CREATE ROLE visitor LOGIN PASSWORD 'visitor'")
        store = Store(PostgresDatabase(make_conninfo(postgres_url, user="visitor", password="visitor")))
        try:
            with pytest.raises(Unavailable, match="visitor may not use") as refused:
                store.open()
            admin.execute(str(refused.value).partition("run there: ")[2])
            store.open()
            put(store, 1)
            assert got(store) == [1]
            with store.database.write() as connection:
                names = {"name": ["one", "two"]}
                assert len(connection.insert_numbered("space", names, {"created_at": AT})) == 2
            with store.database.words.bulk_load(store.database):
                put(store, 2)
            assert got(store) == [2]
            admin.execute("CREATE INDEX vector_near_9_memory_9 ON mcp_memory.vector (seq)")
            # Indexes are left to a server that owns the table.
            assert list(store.database.vectors.maintain(store.database, 1, DIMENSIONS)) == []
            admin.execute("REVOKE INSERT ON mcp_memory.setting FROM visitor")
            with pytest.raises(Unavailable, match="does not allow this: permission denied for table setting"):
                put(store, 2)
            scripts = queries.migrations("postgres")
            later = Script(len(scripts) + 1, "later", "ALTER TABLE memory ADD COLUMN more TEXT")
            with pytest.raises(Unavailable, match="Start this release once with an address that names that"):
                store.database.migrate([*scripts, later])
        finally:
            store.close()
            admin.execute("DROP OWNED BY visitor CASCADE")
            admin.execute("DROP ROLE visitor")


def test_an_old_pgvector_is_named(postgres: PostgresDatabases) -> None:
    with postgres.empty() as url:
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute("CREATE EXTENSION vector")
            admin.execute("UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'")
        with pytest.raises(Unavailable, match=r"has pgvector 0\.7\.4.*ALTER EXTENSION vector UPDATE"):
            PostgresDatabase(url).migrate(queries.migrations("postgres"))


def test_without_a_schema_public_pgvector_is_asked_for(postgres: PostgresDatabases) -> None:
    with postgres.empty() as url, psycopg.connect(url, autocommit=True) as admin:
        admin.execute("DROP SCHEMA public")
        with pytest.raises(Unavailable, match=r"no schema public.*CREATE EXTENSION vector SCHEMA"):
            PostgresDatabase(url).migrate(queries.migrations("postgres"))
        admin.execute("CREATE SCHEMA extensions; CREATE EXTENSION vector SCHEMA extensions")
        store = Store(PostgresDatabase(url)).open()
        put(store, 1)
        store.close()


def test_pgvector_may_live_in_any_schema(postgres: PostgresDatabases) -> None:
    with postgres.empty() as url:
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute('CREATE SCHEMA "Odd place"; CREATE EXTENSION vector SCHEMA "Odd place"')
        store = Store(PostgresDatabase(url)).open()
        model = embedded(store, vectors(3))
        assert near(store, model, vectors(3)[1], 1) == [2]
        store.close()


def test_tables_of_others_are_not_touched(postgres: PostgresDatabases) -> None:
    with postgres.empty() as url:
        with psycopg.connect(url, autocommit=True) as other:
            other.execute("CREATE TABLE memory (note TEXT); INSERT INTO memory VALUES ('mine')")
        store = Store(PostgresDatabase(url)).open()
        put(store, 1)
        store.close()
        with psycopg.connect(url) as other:
            assert other.execute("SELECT * FROM memory").fetchall() == [("mine",)]


def test_connections_that_died_in_the_pool_are_replaced_unnoticed(store: Store, postgres_url: str) -> None:
    put(store, 1)
    cut_all(postgres_url)
    assert got(store) == [1]
    cut_all(postgres_url)
    put(store, 2)
    assert got(store) == [2]


def test_a_connection_lost_within_a_transaction_keeps_nothing_and_says_so(
    store: Store, postgres_url: str
) -> None:
    put(store, 1)

    def write() -> None:
        with store.write(Caller(), AT, "act") as tx:
            tx.settings.put("key", [2])
            cut_all(postgres_url)
            tx.settings.put("key", [3])

    with pytest.raises(Unavailable, match="Nothing was saved"):
        write()
    assert got(store) == [1]


def test_when_the_answer_to_a_commit_is_lost_nobody_claims_to_know(postgres_url: str) -> None:
    line = BreakingLine(postgres_url)
    with standing_between(postgres_url, line) as url:
        store = Store(PostgresDatabase(url)).open()
        put(store, 1)
        line.loses_commit = 1
        with pytest.raises(Unavailable, match="Check whether the change was saved"):
            put(store, 2)
        assert got(store) == [2]
        put(store, 3)
        assert got(store) == [3]
        store.close()


def test_a_pooler_that_lends_one_session_to_all_is_refused(postgres_url: str) -> None:
    with (
        closing(LendingPooler(postgres_url)) as pooler,
        standing_between(postgres_url, pooler) as url,
    ):
        with psycopg.connect(url, autocommit=True) as client:
            assert client.execute("SELECT 1").fetchall() == [(1,)]
        with pytest.raises(Unavailable, match="pool_mode = session"):
            PostgresDatabase(url).migrate(queries.migrations("postgres"))


def test_a_primary_that_became_a_follower_is_left(store: Store, postgres_url: str) -> None:
    put(store, 1)
    only_reads(postgres_url, "on")
    cut_all(postgres_url)
    with pytest.raises(Unavailable, match="point DATABASE_URL at the primary"):
        put(store, 2)
    # As when the address leads to another server now: only a new connection finds it.
    only_reads(postgres_url, "off")
    for _ in range(CONNECTIONS):
        with suppress(Unavailable):
            put(store, 3)
    assert got(store) == [3]


def only_reads(url: str, value: str) -> None:
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("SET default_transaction_read_only = off")
        admin.execute(f"ALTER DATABASE {admin.info.dbname} SET default_transaction_read_only = {value}")


def test_settings_of_a_role_do_not_change_what_is_kept(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        for setting in (
            "client_encoding = 'LATIN1'",
            "TimeZone = 'America/Lima'",
            "DateStyle = 'German'",
            "default_transaction_isolation = 'serializable'",
            "search_path = nowhere",
            "bytea_output = 'escape'",
            "synchronous_commit = 'off'",
        ):
            admin.execute(f"ALTER DATABASE {admin.info.dbname} SET {setting}")
    store = Store(PostgresDatabase(postgres_url)).open()
    with store.write(Caller("Łódź 東京"), AT, "act") as tx:
        tx.settings.put("key", ["Łódź 東京"])
    with store.read("Łódź 東京", AT) as tx:
        assert tx.settings.get("key") == ["Łódź 東京"]
    with store.database.read() as connection:
        assert connection.run("SHOW synchronous_commit") == [{"synchronous_commit": "on"}]
        assert connection.run("SELECT name, created_at FROM space") == [
            {"name": "Łódź 東京", "created_at": AT}
        ]
    store.close()


def test_only_who_writes_may_not_stay_idle_for_long(store: Store) -> None:
    """A reader holds up nobody, and who copies everything has to wait for the other side."""
    asked = "SELECT current_setting('idle_in_transaction_session_timeout') AS most"
    with store.database.write() as connection:
        assert connection.run(asked) == [{"most": "1min"}]
    with store.database.read() as connection:
        assert connection.run(asked) == [{"most": "1h"}]


def test_who_was_idle_for_too_long_is_told_that_nothing_was_kept(store: Store, postgres_url: str) -> None:
    put(store, 1)

    def dawdle() -> None:
        with store.write(Caller(), AT, "act") as tx:
            tx.settings.put("key", [2])
            [row] = tx.scope.connection.run(
                "SELECT pg_backend_pid() AS pid,"
                " set_config('idle_in_transaction_session_timeout', '1ms', true)"
            )
            with psycopg.connect(postgres_url, autocommit=True) as admin:
                while admin.execute("SELECT FROM pg_stat_activity WHERE pid = %s", [row["pid"]]).fetchall():
                    pass

    with pytest.raises(Unavailable, match="idle-in-transaction timeout"):
        dawdle()
    assert got(store) == [1]


def test_a_statement_that_takes_too_long_is_cancelled_with_that_reason(postgres_url: str) -> None:
    url = make_conninfo(postgres_url, options="-c statement_timeout=50")
    database = PostgresDatabase(url)
    database.migrate(queries.migrations("postgres"))
    with (
        pytest.raises(Unavailable, match=r"cancelled a statement: .* statement timeout"),
        database.read() as it,
    ):
        it.run("SELECT pg_sleep(60)")
    database.close()


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("53100", "no room left on its disk"),
        ("53200", "PostgreSQL failed: trouble"),
        ("57014", "cancelled a statement: trouble"),
        ("40001", "busy with another writer"),
        ("42501", "does not allow this: trouble"),
    ],
)
def test_what_the_server_reports_is_told_as_what_it_is(store: Store, code: str, told: str) -> None:
    put(store, 1)

    def write() -> None:
        with store.write(Caller(), AT, "act") as tx:
            tx.settings.put("key", [2])
            tx.scope.connection.change(f"DO $$ BEGIN RAISE 'trouble' USING ERRCODE = '{code}'; END $$")

    with pytest.raises(Unavailable, match=told):
        write()
    assert got(store) == [1]


def test_why_there_is_no_connection_is_told(postgres_url: str, tmp_path: Path) -> None:
    busy = PostgresDatabase(postgres_url, connections=1, patience=1)
    with busy.read(), pytest.raises(Unavailable, match="all 1 connections to PostgreSQL are in use"):
        busy.write().__enter__()
    busy.close()
    gone = PostgresDatabase(f"postgresql://nobody@/nothing?host={tmp_path}", patience=0.05)
    with pytest.raises(Unavailable, match="cannot be reached: connection to server on socket"):
        gone.read().__enter__()
    gone.close()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:pa%ss-secret@host/db",
        "postgresql://me:secret@host/db?nonsense=1",
        "postgresql://me:secret@[::1/db",
        "postgresql://me:x@secret@host/db",
        "postgresql://me:secret/x@host/db",
    ],
)
def test_an_address_that_cannot_be_read_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(Invalid, match="address of PostgreSQL cannot be read") as refused:
        PostgresDatabase(url)
    assert "secret" not in "".join(traceback.format_exception(refused.value))


def test_what_is_too_long_for_an_index_is_the_callers_mistake(store: Store) -> None:
    name = "".join(chr(0x4E00 + number) for number in range(1000))
    with pytest.raises(Invalid, match="too long for the database"), store.write(Caller(name), AT, "act"):
        pass


def test_a_failed_statement_cannot_be_swallowed_and_committed(store: Store) -> None:
    put(store, 1)

    def swallow() -> None:
        with store.write(Caller(), AT, "act") as tx:
            tx.settings.put("key", [2])
            with suppress(psycopg.Error):
                tx.scope.connection.run("INSERT INTO space (name) VALUES (NULL) RETURNING seq")

    with pytest.raises(AssertionError, match="a statement failed"):
        swallow()
    assert got(store) == [1]


def test_a_server_that_cannot_be_reached_is_unavailable(tmp_path: Path) -> None:
    database = PostgresDatabase(f"postgresql://nobody@/nothing?host={tmp_path}")
    with pytest.raises(Unavailable, match="PostgreSQL"):
        database.migrate(queries.migrations("postgres"))
    database.close()


def test_a_missing_extension_is_named() -> None:
    server = PostgresServer(extension_control_path="/nowhere").create().start()
    try:
        with pytest.raises(Unavailable, match=r"does not have pgvector\. Install it there"):
            PostgresDatabase(server.url("postgres")).migrate(queries.migrations("postgres"))
    finally:
        server.remove()


def test_a_writer_that_holds_a_space_too_long_does_not_hold_others_for_ever(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, 1)
    monkeypatch.setattr("mcp_memory.storage.postgres.database.LOCK_SECONDS", 0.05)
    with store.write(Caller(), AT, "long"), pytest.raises(Unavailable, match="busy with another writer"):
        put(store, 2)
    with store.write(Caller("elsewhere"), AT, "long"):
        put(store, 3)
    assert got(store) == [3]


# The index of a large space


def vectors(count: int, seed: int = 3) -> NDArray[np.float32]:
    made = np.random.default_rng(seed).standard_normal((count, DIMENSIONS)).astype(np.float32)
    unit: NDArray[np.float32] = made / np.linalg.norm(made, axis=1, keepdims=True)
    return unit


def embedded(store: Store, made: NDArray[np.float32], space: str = "default") -> EmbeddingModel:
    """As many memories as vectors, numbered from 1, every fourth of type `rare`."""
    with store.write(Caller(space), AT, "act") as tx:
        if not tx.indexes.models():
            tx.indexes.add_model("test", DIMENSIONS, "test", "active")
        model = tx.indexes.models()["active"]
        for number, vector in enumerate(made):
            memory = tx.memories.add(
                id=f"{space}{number}", content=f"memory {number}", type="rare" if number % 4 == 0 else "fact",
                origin="memory", importance=0.5, kind="generic",
            )  # fmt: skip
            tx.journal.record(MemoryCreated(memory.id, memory.content, memory.type))
            tx.indexes.supply(model, "memory", memory.seq, vector.tobytes())
    return model


def near(
    store: Store, model: EmbeddingModel, query: NDArray[np.float32], limit: int, filter: Filter | None = None
) -> list[int]:
    with store.read("default", AT) as tx:
        allowed = filters.where(filter or Filter(), tx.scope.space_id, AT, half_life=timedelta(days=30))
        return [seq for seq, _ in tx.indexes.nearest("memory", model, query.tobytes(), allowed, limit)]


def tend(store: Store, model: EmbeddingModel) -> list[str]:
    return list(store.database.vectors.maintain(store.database, model.id, DIMENSIONS))


@pytest.fixture
def early_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_vectors, "INDEX_FROM", 300)


@pytest.mark.usefixtures("early_index")
def test_a_large_space_gets_an_index_that_finds_the_same(store: Store) -> None:
    made = vectors(400)
    model = embedded(store, made)
    queries_ = vectors(20, seed=4)
    exact = [near(store, model, query, 10) for query in queries_]
    assert tend(store, model) == ["built the vector index vector_near_1_memory_1 over 400 vectors"]
    assert tend(store, model) == []
    through_index = [near(store, model, query, 10) for query in queries_]
    shared = sum(len(set(one) & set(other)) for one, other in zip(exact, through_index, strict=True))
    assert shared >= 190
    assert plan(store, model).count("vector_near_1_memory_1") == 1


@pytest.mark.usefixtures("early_index")
def test_where_shared_memory_is_scarce_one_worker_makes_the_index(store: Store, postgres_url: str) -> None:
    model = embedded(store, vectors(400))
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(
            """
            CREATE FUNCTION scarce() RETURNS event_trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF current_setting('max_parallel_maintenance_workers') <> '0' THEN
                    RAISE EXCEPTION 'could not resize shared memory segment' USING ERRCODE = 'disk_full';
                END IF;
            END $$
            """
        )
        admin.execute(
            "CREATE EVENT TRIGGER scarce ON ddl_command_start WHEN TAG IN ('CREATE INDEX')"
            " EXECUTE FUNCTION scarce()"
        )
    assert tend(store, model) == ["built the vector index vector_near_1_memory_1 over 400 vectors"]


@pytest.mark.usefixtures("early_index")
def test_through_the_index_a_filter_acts_before_the_limit(store: Store) -> None:
    made = vectors(400)
    model = embedded(store, made)
    query = vectors(1, seed=5)[0]
    rare = Filter(types=("rare",))
    exact = near(store, model, query, 90, rare)
    tend(store, model)
    assert len(exact) == 90
    assert len(set(near(store, model, query, 90, rare)) & set(exact)) >= 85
    assert len(near(store, model, query, 200, rare)) == 100


@pytest.mark.usefixtures("early_index")
def test_a_small_space_needs_no_index_and_one_that_shrank_loses_it(store: Store) -> None:
    model = embedded(store, vectors(310))
    embedded(store, vectors(40), space="small")
    tend(store, model)
    with store.database.read() as connection:
        assert postgres_vectors.indexes(connection) == {"vector_near_1_memory_1": True}
    with store.database.write() as connection:
        connection.change("DELETE FROM vector WHERE seq % 3 <> 0")
    assert tend(store, model) == ["dropped the vector index vector_near_1_memory_1"]


@pytest.mark.usefixtures("early_index")
def test_an_index_left_half_made_is_made_again(store: Store) -> None:
    model = embedded(store, vectors(310))
    tend(store, model)
    with store.database.write() as connection:
        connection.change(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass('vector_near_1_memory_1')"
        )
    assert near(store, model, vectors(310)[7], 1) == [8]
    assert [step.split()[0] for step in tend(store, model)] == ["dropped", "built"]


def plan(store: Store, model: EmbeddingModel) -> str:
    """How the database goes about a search through the index."""
    part = postgres_vectors._Part(model.id, "memory", 1, DIMENSIONS)
    with store.database.read() as connection:
        key = part.key(postgres_vectors.pgvector_schema(connection), "embedding")
        connection.run(
            "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true)"
        )
        rows = connection.run(
            f"EXPLAIN SELECT seq FROM vector WHERE {part.condition} ORDER BY {key} <=> :query LIMIT 5",
            {"query": Embedding(vectors(1)[0].tobytes())},
        )
    return "\n".join(row["QUERY PLAN"] for row in rows)


def cut_all(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_a_conflict_leaves_the_connection_usable(store: Store) -> None:
    put(store, 1)
    with pytest.raises(Conflict), store.database.write() as connection:
        connection.change("INSERT INTO space (name, created_at) VALUES ('default', :at)", {"at": AT})
    put(store, 2)
    assert got(store) == [2]
