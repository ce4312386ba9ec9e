"""Migrations come in pairs, numbered without a gap: two of one number would break every database."""

from mcp_memory.storage import queries


def test_both_engines_have_the_same_migrations_without_a_gap() -> None:
    sqlite, postgres = queries.migrations("sqlite"), queries.migrations("postgres")
    assert [(script.number, script.name) for script in sqlite] == [
        (script.number, script.name) for script in postgres
    ]
