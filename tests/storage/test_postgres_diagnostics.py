"""What the doctor finds on a PostgreSQL."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from mcp_memory.storage.diagnostics import Finding
from mcp_memory.storage.postgres import diagnostics as postgres_diagnostics
from mcp_memory.storage.postgres.diagnostics import examine
from tests.postgres_between import LendingPooler, standing_between
from tests.postgres_server import PostgresDatabases, PostgresServer


def found(url: str, read_url: str = "") -> dict[str, Finding]:
    return {finding.subject: finding for finding in examine(url, read_url)}


def problems(url: str, read_url: str = "") -> dict[str, str]:
    # The server of the tests is not made to survive a power cut.
    return {
        finding.subject: finding.detail
        for finding in found(url, read_url).values()
        if not finding.is_well and finding.subject != "durability"
    }


def test_a_sound_database_has_no_problem(postgres_url: str) -> None:
    assert problems(postgres_url) == {}
    assert found(postgres_url)["indexes"].detail.startswith("all ")


def test_a_database_that_is_not_set_up_is_left_as_it_is(postgres: PostgresDatabases) -> None:
    with postgres.empty() as url:
        assert problems(url) == {}
        assert "the first start creates it" in found(url)["schema"].detail
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT to_regnamespace('mcp_memory')").fetchall() == [(None,)]


@pytest.mark.parametrize(
    ("spoiling", "subject", "detail"),
    [
        ("INSERT INTO migration (number, name) VALUES (999, 'later')", "schema", "version 999"),
        ("UPDATE pg_extension SET extversion = '0.7.0' WHERE extname = 'vector'", "pgvector", "0.7.0; 0."),
        (
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'memory_type'::regclass",
            "indexes",
            "memory_type cannot be used",
        ),
        (
            "INSERT INTO memory_words (seq, space_id, token_count, lexemes) VALUES (7, 1, 1, 'stray')",
            "words of memories",
            "0 rows are missing, 1 too many",
        ),
    ],
)
def test_trouble_is_found(postgres_url: str, spoiling: str, subject: str, detail: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("SET search_path = mcp_memory, public")
        connection.execute(spoiling)
    assert detail in problems(postgres_url)[subject]
    assert found(postgres_url)[subject].advice


def test_missing_rights_are_found(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS reader")
        admin.execute("CREATE ROLE reader LOGIN PASSWORD 'reader'")
        try:
            as_reader = make_conninfo(postgres_url, user="reader", password="reader")
            assert "permission denied" in problems(as_reader)["database"]
            admin.execute("GRANT USAGE ON SCHEMA mcp_memory TO reader")
            admin.execute("GRANT SELECT ON ALL TABLES IN SCHEMA mcp_memory TO reader")
            assert "reader may not read and write answered, association" in problems(as_reader)["rights"]
            admin.execute(found(as_reader)["rights"].advice)
            assert "can create vector indexes" in found(as_reader)["rights"].detail
        finally:
            admin.execute("DROP OWNED BY reader CASCADE")
            admin.execute("DROP ROLE reader")


def test_dead_rows_are_found(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_diagnostics, "FEWEST_DEAD", 10)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("INSERT INTO mcp_memory.setting SELECT n, '1' FROM generate_series(1, 50) AS n")
        connection.execute("DELETE FROM mcp_memory.setting")
        connection.execute("SELECT pg_stat_force_next_flush()")
    assert problems(postgres_url)["dead rows"] == "setting has 50 for 0 living"


def test_a_server_that_is_not_there_is_found(postgres_url: str) -> None:
    assert "cannot be reached" in problems(make_conninfo(postgres_url, host="/nowhere"))["database"]


def test_a_pooler_that_lends_one_session_to_all_is_found(postgres_url: str) -> None:
    pooler = LendingPooler(postgres_url)
    with standing_between(postgres_url, pooler) as url:
        assert "pool_mode = session" in problems(url)["database"]
    pooler.close()


def test_a_replica_is_looked_at_too(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert problems(postgres_url, postgres_url)["replica"] == "it does not follow the primary"
    assert "cannot be reached" in problems(postgres_url, make_conninfo(postgres_url, host="/no"))["replica"]
    primary = PostgresServer(wal_level="replica").create().start()
    replica = PostgresServer().follow(primary).start()
    try:
        here, there = primary.url("postgres"), replica.url("postgres")
        assert problems(here, there) == {}
        assert problems(here, replica.url("template1"))["replica"] == "it belongs to another database"
        assert "takes no writes" in problems(there)["primary"]
        monkeypatch.setattr(postgres_diagnostics, "LAG_BYTES", -1)
        assert "MB behind" in problems(here, there)["replica"]
    finally:
        replica.remove()
        primary.remove()
