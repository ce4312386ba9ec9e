"""Databases of every released schema, as their own versions wrote them: see tools/schema_sample.py.

Schema 7 is not among them: it was released together with 8.
"""

from __future__ import annotations

from pathlib import Path

import apsw
import psycopg

SAMPLES = Path(__file__).parents[1] / "data" / "schemas"
NUMBERS = sorted({int(path.name[:4]) for path in SAMPLES.glob("*.sql")})


def put_sample(url: str, number: int) -> None:
    """Into a file that does not exist yet, or a database with nothing in it."""
    if url.startswith("sqlite:///"):
        connection = apsw.Connection(url.removeprefix("sqlite:///"))
        connection.execute(_text(number, "sqlite"))
        connection.close()
    else:
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(_text(number, "postgres").encode())


def version_of(url: str) -> int:
    """The schema that a database has now."""
    if url.startswith("sqlite:///"):
        connection = apsw.Connection(url.removeprefix("sqlite:///"))
        [[version]] = connection.execute("PRAGMA user_version")
        connection.close()
        return int(version)
    with psycopg.connect(url) as server:
        [[newest]] = server.execute("SELECT max(number) FROM mcp_memory.migration").fetchall()
        return int(newest)


def _text(number: int, engine: str) -> str:
    return (SAMPLES / f"{number:04}.{engine}.sql").read_text("utf-8")
