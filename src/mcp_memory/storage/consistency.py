"""Checks what no database enforces: loose references, names of events, dates, digests of tokens."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from mcp_memory.events import EVENTS
from mcp_memory.storage import queries
from mcp_memory.storage.database import Connection
from mcp_memory.storage.diagnostics import Finding
from mcp_memory.storage.schema import TABLES, is_time

Ask = Callable[[str, Mapping[str, Any]], Sequence[Mapping[str, Any]]]
"""The rows of a statement that both engines understand."""

SKEW = timedelta(days=1)
"""How far ahead the clocks of other machines may be."""

DIGEST_LENGTH = 64
MAY_BE_AHEAD = frozenset({"expires_at"})

REPAIR = "run `mcp-memory doctor --repair`"

_SQL = queries.load()


def inconsistencies(ask: Ask, now: datetime | None) -> Iterator[Finding]:
    """Without `now`, dates are not looked at."""
    yield _reflections(ask)
    yield _superseded(ask)
    yield _event_names(ask)
    yield _tokens(ask)
    if now is not None:
        yield _dates(ask, now)


def repair_inconsistencies(connection: Connection) -> int:
    """Keep reflections about nothing as general ones, and show memories that supersede themselves."""
    repairs = ("keep_reflections_about_nothing", "show_superseded_by_themselves")
    return sum(connection.change(_SQL[name]) for name in repairs)


def _reflections(ask: Ask) -> Finding:
    count = len(ask(_SQL["reflections_about_nothing"], {}))
    detail = f"{count:,} are about an entity or a relation that is gone" if count else "each has its subject"
    advice = f"{REPAIR}, which keeps them as reflections about everything"
    return Finding("reflections", not count, detail, advice)


def _superseded(ask: Ask) -> Finding:
    found = [row["id"] for row in ask(_SQL["superseded_by_themselves"], {})]
    detail = f"{len(found):,} memories are superseded by themselves, and so not shown: {_listed(found)}"
    return Finding("superseded", not found, detail if found else "by other memories", REPAIR)


def _event_names(ask: Ask) -> Finding:
    unknown = [row["name"] for row in ask(_SQL["event_names"], {}) if row["name"] not in EVENTS]
    detail = f"the journal has events of unknown kinds: {_listed(unknown)}"
    advice = (
        "update mcp-memory if a newer one has used this database; else another program wrote them, "
        "and the history may not be true"
    )
    return Finding("journal", not unknown, detail if unknown else "every event is of a known kind", advice)


def _tokens(ask: Ask) -> Finding:
    useless = [row["name"] for row in ask(_SQL["unusable_tokens"], {"length": DIGEST_LENGTH})]
    detail = f"nobody can come in with {_listed(useless)}: the digest is damaged" if useless else "all usable"
    advice = "run `mcp-memory token revoke NAME`, and create another one"
    return Finding("tokens", not useless, detail, advice)


def _dates(ask: Ask, now: datetime) -> Finding:
    ahead = {}
    for table in TABLES:
        columns = [column for column in table.columns if is_time(column) and column not in MAY_BE_AHEAD]
        if columns:
            late = " OR ".join(f"{column} > :limit" for column in columns)
            [row] = ask(_SQL["late_rows"].format(table=table.name, late=late), {"limit": now + SKEW})
            ahead[table.name] = row["count"]
    found = [f"{count:,} of {name}" for name, count in ahead.items() if count]
    detail = f"rows are dated in the future: {', '.join(found)}" if found else "none is in the future"
    advice = (
        "check this machine's clock first; if it is right, these rows count as new until then: "
        "update or delete what they describe, or restore a backup"
    )
    return Finding("dates", not found, detail, advice)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(ascii, names[:3])) + (", …" if len(names) > 3 else "")
