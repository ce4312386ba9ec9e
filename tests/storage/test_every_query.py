"""Every statement must at least be understood by every engine, and both must have the same schema."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mcp_memory.storage import Database, Store, filters, queries, rows
from mcp_memory.storage.database import Connection, insert_sql
from mcp_memory.storage.orders import ORDERS
from mcp_memory.storage.relations import RELATION_COLUMNS
from mcp_memory.storage.schema import COLUMNS, TABLES, is_time

_SLOT = re.compile(r"\{(\w+)\}")
_PARAM = re.compile(r"(?<!:):([a-z_]\w*)")
_COMMENT_OR_TEXT = re.compile(r"--[^\n]*|'[^']*'")

GENERATED = {"memory": {"used_epoch", "created_day"}}
"""Columns the database fills in itself."""


def filled(sql: str) -> str:
    """The query with something in each slot that it might hold."""
    table = re.search(r"\b(?:FROM|JOIN|UPDATE) (\w+) o\b", sql)
    columns = (
        ", ".join(f"o.{column}" for column in COLUMNS[table[1]]) if table and table[1] in COLUMNS else "*"
    )
    slots = {
        "columns": RELATION_COLUMNS if "JOIN entity s" in sql else columns,
        "keys": ":k0, :k1",
        "table": "memory",
        "where": "o.space_id = :space_id",
        "order": "o.seq",
        "lower": "lowered",
        "effective": filters.EFFECTIVE_CONFIDENCE,
        "joins": "",
        "column": "seq",
        "active": "",
        "entities": "1 = 1",
        "memories": "1 = 1",
        "few": "+",
        "late": "created_at > :limit",
    }
    return _SLOT.sub(lambda found: slots[found[1]], sql)


def explain(connection: Connection, sql: str) -> None:
    names = _PARAM.findall(_COMMENT_OR_TEXT.sub("", sql))
    params: dict[str, Any] = dict.fromkeys(names)
    assert connection.run(f"EXPLAIN {sql}", params)


@pytest.mark.parametrize("name", sorted(queries.load()))
def test_a_named_query_is_understood(migrated: dict[str, Store], name: str) -> None:
    for store in migrated.values():
        with store.database.read() as connection:
            explain(connection, filled(queries.load()[name]))


@pytest.fixture(scope="module")
def with_indexes(migrated: dict[str, Store]) -> dict[str, Store]:
    """With a full-text index, as statements about it need."""
    sqlite = migrated["sqlite"].database
    with sqlite.write() as connection:
        connection.change(queries.load("sqlite")["create_word_index"].format(index="memory_words_1"))
    return migrated


ENGINE_SLOTS = {
    "sqlite": {
        "scored": queries.load("sqlite")["score_words"].format(index="memory_words_1", extra_weight=1),
        "extra_weight": "1",
        "living": "",
        "alive": "1 = 1",
        "table": "memory",
        "columns": "seq",
        "column": "version",
        "where": "seq = :seq",
        "owner": "memory",
        "allowed": "o.seq > 0",
        "text": "content",
        "last_seq": "0",
        "mark": "seq",
        "values": "seq",
        "same": "1 = 1",
        "new": "o.seq = NEW.seq",
        "old": "seq = OLD.seq",
        "trigger": "some_trigger",
        "kind": "VIEW",
        "name": "some_view",
        "assignments": "version = 1",
    },
    "postgres": {
        "owner": "memory",
        "allowed": "o.seq > 0",
        "part": "seq > 0",
        "key": "v.embedding",
        "wanted": "CAST('[1]' AS public.vector)",
        "weights": "1 AS weight_0",
        "counts": "count(*) AS count_0",
        "rarities": "count_0 AS rarity_0",
        "worth": "rarity_0 * weight_0",
        "k1": "1",
        "b": "1",
        "one_minus_b": "0",
        "space_id": "1",
        "sample": "SELECT lexemes FROM memory_words",
        "lock": "1",
        "living": "",
        "schema": "mcp_memory",
        "place": "flush",
        "index": "vector_near_1",
        "operators": "vector_cosine_ops",
        "change": "SET (fastupdate = on)",
        "table": "memory",
        "column": "content",
        "hash": "content_hash",
        "milliseconds": "1",
        "new": "content_hash",
        "stored": "content_hash",
    },
}
PER_QUERY = {"sampled_words": {"part": "2"}}
NOT_EXPLAINED = ("CREATE", "DROP", "ALTER")
"""Statements that EXPLAIN does not take; the tests of what they make run them."""
SPECIAL = {
    "move_to_shared", "forget_indexes", "compact_time", "compact_event_time", "compact_hash", "compact_id",
    "add_mark", "put_mark", "marks", "copy_rows", "count_copies", "redescribe", "first_without_copy",
    "copy_hashes", "lock_memory_against_vacuum", "lock_memory", "without_waiting_for_disk", "vacuum_memory",
}  # fmt: skip
"""About a temporary table, the schema itself, or what is there only during a migration: likewise."""


def engine_query(engine: str, name: str) -> str:
    slots = {**ENGINE_SLOTS[engine], **PER_QUERY.get(name, {})}
    if engine == "sqlite":
        slots["index"] = "memory_words_1"
    return _SLOT.sub(lambda found: slots[found[1]], queries.load(engine)[name])


@pytest.mark.parametrize(
    ("engine", "name"),
    [(engine, name) for engine in ("sqlite", "postgres") for name in sorted(queries.load(engine))],
)
def test_a_query_of_one_engine_is_understood_by_it(
    with_indexes: dict[str, Store], engine: str, name: str
) -> None:
    sql = engine_query(engine, name)
    if not _COMMENT_OR_TEXT.sub("", sql).strip().startswith(NOT_EXPLAINED) and name not in SPECIAL:
        with with_indexes[engine].database.read() as connection:
            explain(connection, sql)


def test_both_engines_define_the_queries_that_the_seam_asks_for() -> None:
    for engine in ENGINES:
        assert set(queries.SEAM) <= queries.load(engine).keys()
        assert not queries.load(engine).keys() & queries.load().keys()


@pytest.mark.parametrize("order", sorted(ORDERS))
def test_an_order_of_memories_is_understood(store: Store, order: str) -> None:
    sql = queries.load()["find_memories"].replace("{order}", ORDERS[order].sql)
    with store.database.read() as connection:
        explain(connection, filled(sql))


@pytest.mark.parametrize("table", sorted(COLUMNS))
def test_the_statements_that_write_rows_are_understood(store: Store, table: str) -> None:
    columns = COLUMNS[table]
    with store.database.read() as connection:
        explain(connection, insert_sql(table, columns))
        explain(connection, rows.update_sql(table, columns[1:]))
        explain(connection, rows.delete_sql(table))
        explain(connection, rows.find_sql(table))


@pytest.mark.parametrize("table", sorted(COLUMNS))
def test_the_columns_we_write_are_the_columns_there_are(store: Store, table: str) -> None:
    real = columns_of(store.database, table)
    assert set(real) - GENERATED.get(table, set()) == set(COLUMNS[table])
    for column, declared in real.items():
        assert is_time(column) == (declared.upper() in ("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE"))


NOT_ARCHIVED = {
    "space": "an archive is of one space, and may be imported into another",
    "memory_tag": "derived from memory.tags",
    "embedding_model": "vectors are derived",
    "vector": "vectors are derived",
    "pending": "vectors are derived",
    "entity_access": "archived as `access`",
    "entity_access_day": "archived within `access`",
    "co_occurrence": "archived as `co_occurrence`",
    "search_event": "the search log is about use, and its entities have other numbers elsewhere",
    "search_result": "part of the search log",
    "feedback": "part of the search log",
    "setting": "belongs to a database",
    "token": "belongs to a server",
    "session": "belongs to a server",
    "answered": "idempotency keys expire",
}


def test_every_table_is_archived_or_says_why_not() -> None:
    assert {table.name for table in TABLES if table.record is None} == NOT_ARCHIVED.keys()


def test_both_engines_have_the_same_tables(migrated: dict[str, Store]) -> None:
    tables = {engine: tables_of(store.database) for engine, store in migrated.items()}
    assert tables["sqlite"] - ONLY_SQLITE == tables["postgres"] - ONLY_POSTGRES
    for table in tables["sqlite"] & tables["postgres"]:
        columns = {engine: set(columns_of(store.database, table)) for engine, store in migrated.items()}
        assert columns["sqlite"] - {"id"} == columns["postgres"] - {"id"}, table


ENGINES = ("sqlite", "postgres")
ONLY_SQLITE = {"vector_sketch", "vector_segment", "trigram_index", "stale_trigrams"}
"""How SQLite finds near vectors; PostgreSQL has an index type for it."""
ONLY_POSTGRES = {
    "migration",
    "words_total",
    "common_word",
    "memory_words",
    "entity_words",
    "reflection_words",
}
"""The version, which SQLite keeps in the file's header, and words, which it keeps in FTS5, space by space."""


def tables_of(database: Database) -> set[str]:
    """All but those of the words, which each engine keeps in its own way."""
    with database.read() as connection:
        if database.name == "sqlite":
            found = connection.run(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
                " AND name NOT LIKE '%\\_words%' ESCAPE '\\'"
            )
        else:
            found = connection.run(
                "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'mcp_memory'"
                " AND table_name NOT LIKE '%\\_words'"
            )
    return {row["name"] for row in found}


def columns_of(database: Database, table: str) -> dict[str, str]:
    """By name, with the type each was declared with."""
    with database.read() as connection:
        if database.name == "sqlite":
            found = connection.run(
                "SELECT name, type FROM pragma_table_xinfo(:table) WHERE hidden <> 1", {"table": table}
            )
        else:
            found = connection.run(
                "SELECT column_name AS name, data_type AS type FROM information_schema.columns"
                " WHERE table_schema = 'mcp_memory' AND table_name = :table",
                {"table": table},
            )
    return {row["name"]: row["type"] for row in found}


# Statements that do not name their space. On one PostgreSQL that costs nothing: they name rows by numbers
# that belong to one space, or are about the database as a whole. On a database spread over machines by
# space, each of the first kind would be sent to all of them; docs/scaling.md says what to do then.
BY_NUMBER = {
    "add_feedback", "add_search_result", "archived_access_days", "archived_co_occurrences",
    "associations_touching", "co_occurrences_among", "entities_of_memories", "entity_seqs_of_memories",
    "count_relations_touching", "feedback_of_searches", "first_relations_touching",
    "observations_of", "outline_observations_of", "outline_relations_of",
    "put_archived_access", "put_archived_access_day", "put_archived_co_occurrence", "relations_touching",
    "remove_access", "remove_access_days", "remove_co_occurrences", "remove_memory_tags", "remove_pending",
    "results_of_searches", "settle_all_pending", "vectors_by_seq",
}  # fmt: skip
OF_THE_WHOLE = {
    "activate_embedding_model", "add_embedding_model", "add_page_session", "add_space", "add_token",
    "event_names", "late_rows", "show_superseded_by_themselves", "superseded_by_themselves",
    "unusable_tokens",
    "count_pending_anywhere", "count_unembedded", "count_vectors", "embedding_models", "forget_answered",
    "any_space", "page_session_by_digest", "put_setting", "remove_embedding_model",
    "remove_expired_page_sessions", "remove_setting",
    "remove_page_session", "remove_stray_access", "remove_stray_access_days",
    "remove_stray_co_occurrences", "remove_token", "remove_vectors_of_model", "setting_by_key",
    "space_by_name", "spaces", "token_by_digest", "tokens",
}  # fmt: skip


def test_a_new_statement_names_its_space_or_says_why_not() -> None:
    lacking = {name for name, sql in queries.load().items() if "space_id" not in sql and "{where}" not in sql}
    assert lacking == BY_NUMBER | OF_THE_WHOLE
