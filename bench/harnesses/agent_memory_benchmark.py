"""A memory provider for vectorize-io/agent-memory-benchmark.

    pip install mcp-one-memory        # in the benchmark's environment, with this file beside it
    REGISTRY["mcp-memory"] = McpMemory   # in its src/memory_bench/memory/__init__.py

Each user id is a space. A document with messages becomes one memory for each message, with its speaker and
date; one without becomes one memory. `retrieve` gives documents back by the id they came with, each with
the date and what was said around it, within a budget of tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from mcp_memory import config
from mcp_memory.engine import Context, Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.recall import Hit
from mcp_memory.model import DEFAULT_SPACE
from mcp_memory.storage import Store
from mcp_memory.storage.sqlite.database import SqliteDatabase
from mcp_memory.wiring import embedder, new_id

BUDGET = 4000
"""Tokens of one answer, reckoned as a quarter of its characters."""


class Document(Protocol):
    """What the benchmark hands over; its own class has these fields."""

    id: str
    content: str
    user_id: str | None
    messages: list[dict[str, Any]] | None
    timestamp: str | None
    context: str | None


@dataclass
class Found:
    """A document as it is given back."""

    id: str
    content: str
    user_id: str | None = None
    messages: list[dict[str, Any]] | None = None
    timestamp: str | None = None
    context: str | None = None


class McpMemory:
    name = "mcp-memory"
    description = "Words, meaning and the surroundings of what was said, without an LLM."
    kind = "local"
    provider: str | None = None
    variant: str | None = None
    link: str | None = None
    logo: str | None = None
    concurrency = 1

    def __init__(self, settings: config.Config | None = None) -> None:
        self._settings = settings or config.load({}, environ={})
        self._now = datetime.now(UTC)
        self._engine: Engine | None = None

    def initialize(self) -> None:
        """Nothing to start."""

    def prepare(self, store_dir: Path, unit_ids: set[str] | None = None, reset: bool = True) -> None:
        file = store_dir / "mcp-memory.db"
        if reset:
            file.unlink(missing_ok=True)
        store_dir.mkdir(parents=True, exist_ok=True)
        self._engine = Engine(
            Context(
                store=Store(SqliteDatabase(file, "NORMAL")).open(),
                embedder=embedder(self._settings),
                clock=lambda: self._now,
                new_id=new_id,
                records_use=False,
            )
        )

    def cleanup(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def ingest(self, documents: Sequence[Document]) -> None:
        for document in documents:
            self._now = _moment(document.timestamp) or self._now
            for text in _texts(document):
                self._space(document.user_id).memories.remember(
                    NewMemory(content=text, source=document.id, context=document.context)
                )

    def retrieve(
        self, query: str, k: int = 10, user_id: str | None = None, query_timestamp: str | None = None
    ) -> tuple[list[Any], dict[str, Any] | None]:
        self._now = _moment(query_timestamp) or self._now
        answer = self._space(user_id).recall.recall_for_agent(query, limit=min(k, 50), explain=True)
        found = list(_within(BUDGET, [_document(hit, user_id) for hit in answer.hits]))
        return found, {"mode": answer.mode, "signals": [dict(hit.explanation or {}) for hit in answer.hits]}

    def _space(self, user_id: str | None) -> Engine:
        if self._engine is None:
            raise RuntimeError("call prepare() first")
        return self._engine.acting_for(replace(self._engine.caller, space=user_id or DEFAULT_SPACE))


def _texts(document: Document) -> list[str]:
    day = f" on {document.timestamp[:10]}" if document.timestamp else ""
    if not document.messages:
        return [document.content]
    return [
        f"{message.get('name') or message.get('role') or 'somebody'} said{day}: {message['content']}"
        for message in document.messages
        if str(message.get("content") or "").strip()
    ]


def _document(hit: Hit, user_id: str | None) -> Found:
    memory = hit.memory
    return Found(
        memory.source or memory.id,
        memory.content,
        user_id,
        None,
        memory.created_at.isoformat(),
        memory.context,
    )


def _within(budget: int, found: Sequence[Found]) -> list[Found]:
    kept: list[Found] = []
    for one in found:
        budget -= len(one.content) // 4
        if budget < 0 and kept:
            break
        kept.append(one)
    return kept


def _moment(text: str | None) -> datetime | None:
    if not text:
        return None
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
