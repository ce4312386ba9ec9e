"""Reads and writes memories and their versions."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, NamedTuple

from mcp_memory.errors import NotFound
from mcp_memory.model import DEFAULT_IMPORTANCE, Filter, Memory, MemoryVersion, Origin
from mcp_memory.ranking.decay import REINFORCEMENT
from mcp_memory.storage import filters
from mcp_memory.storage.database import Allowed, Columns, Row
from mcp_memory.storage.orders import ORDERS, ListPosition
from mcp_memory.storage.row_values import reader_of
from mcp_memory.storage.rows import plain
from mcp_memory.storage.schema import COLUMNS
from mcp_memory.storage.scope import Scope
from mcp_memory.text.fingerprint import (
    ContentHash,
    exact_fingerprint,
    fingerprint,
    fingerprints,
)

MEMORY_COLUMNS = ", ".join(
    f"o.{column}" for column in COLUMNS["memory"] if column not in ("space_id", "content_hash")
)
_SLOTS = {"columns": MEMORY_COLUMNS}


@dataclass(frozen=True, slots=True)
class KnownTexts:
    """Texts that are living memories, and for the others the hash to store them by as observations.

    A text that equals a memory except for spacing is stored by another hash.
    """

    memories: dict[str, Memory]
    free_hashes: dict[str, ContentHash]


class RankingFacts(NamedTuple):
    """Facts about a memory that ranking needs besides its match. A tuple: hundreds are read in a search."""

    channel: str | None
    created_at: datetime
    importance: float
    effective_confidence: float
    superseded: bool


@dataclass(frozen=True, slots=True)
class WholeSpace:
    """All living memories of a small space, in the order they were stored."""

    seqs: Sequence[int]
    contents: Sequence[str | None]
    """None for a long one."""
    facts: Sequence[RankingFacts | None]
    """None for one that does not pass the filter."""


memory_of = reader_of(Memory, tags=tuple)


class Memories:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def get(self, id: str) -> Memory:
        """Living or forgotten; `NotFound` when there is none."""
        row = self._scope.first("memory_by_id", slots=_SLOTS, id=id)
        if row is None:
            raise NotFound(f"no memory has the id {id}")
        return memory_of(row)

    def fetch(self, seqs: Iterable[int]) -> dict[int, Memory]:
        """Existing ones, in the order asked for."""
        wanted = list(dict.fromkeys(seqs))
        found = {row["seq"]: row for row in self._scope.fetch("memories_by_seq", wanted, slots=_SLOTS)}
        return {seq: memory_of(found[seq]) for seq in wanted if seq in found}

    def fetch_ids(self, ids: Iterable[str]) -> dict[str, Memory]:
        """The same by id."""
        wanted = list(dict.fromkeys(ids))
        found = {row["id"]: row for row in self._scope.fetch("memories_by_id", wanted, slots=_SLOTS)}
        return {id: memory_of(found[id]) for id in wanted if id in found}

    def equal_to(self, content: str) -> Memory | None:
        """The living memory with the same content, ignoring white space."""
        row = self._scope.first("living_memory_by_hash", slots=_SLOTS, content_hash=fingerprint(content))
        return memory_of(row) if row else None

    def archived_with(self, content: str) -> Memory | None:
        """The archived memory with the same content, if there is one and no living memory has it."""
        row = self._scope.first("archived_memory_by_hash", slots=_SLOTS, content_hash=fingerprint(content))
        return memory_of(row) if row else None

    def archived_texts(self, most: int, page: int) -> Iterator[tuple[int, str]]:
        """Number and content of archived memories, the newest first."""
        before, left = 2**62, most
        while left > 0 and (rows := self._scope.run("archived_texts", before=before, limit=min(page, left))):
            yield from ((row["seq"], row["content"]) for row in rows)
            before, left = rows[-1]["seq"], left - len(rows)

    def age_versions(self, before: datetime, keep: int) -> int:
        """Delete versions older than a time, except the newest few of each memory. Returns their number."""
        return self._scope.change("remove_old_versions", before=before, keep=keep)

    def was_forgotten(self, content: str, reason: str) -> bool:
        """Whether a memory with the same content was forgotten for this reason."""
        found = self._scope.first(
            "forgotten_memory_by_hash", content_hash=fingerprint(content), reason=reason
        )
        return found is not None

    def exactly(self, contents: Iterable[str]) -> dict[str, Memory]:
        """Living memories by exact content."""
        return self.known_texts(contents).memories

    def known_texts(self, contents: Iterable[str]) -> KnownTexts:
        """Which of these texts are living memories, and by which hash the others can be stored."""
        texts = list(dict.fromkeys(contents))
        hashes = dict(zip(texts, fingerprints(texts), strict=True))
        taken = {row["content_hash"] for row in self._scope.fetch("living_hashes", chain(*hashes.values()))}
        found = self._scope.fetch("living_memories_by_hash", taken, slots=_SLOTS)
        # A memory and an observation may have the same text: then the observation is meant.
        found.sort(key=lambda row: row["origin"] == "observation")
        memories = {row["content"]: memory_of(row) for row in found if row["content"] in hashes}
        free: dict[str, ContentHash] = {}
        for text, (normal, exact, spelling) in hashes.items():
            if text not in memories:
                free[text] = spelling if normal in taken else exact
                taken.add(free[text])
        return KnownTexts(memories, free)

    def find(
        self,
        filter: Filter,
        *,
        order: str,
        limit: int,
        offset: int = 0,
        after: ListPosition | None = None,
        half_life: timedelta,
    ) -> list[Memory]:
        """Those that pass, in an order; `after`: from the row behind that place on."""
        at = after.begun_at if after else self._scope.at
        allowed = filters.where(filter, self._scope.space_id, at, half_life, ordered=True)
        further = f" AND {ORDERS[order].beyond}" if after else ""
        found = self._scope.run(
            "find_memories",
            slots={**_SLOTS, "where": allowed.condition + further, "order": ORDERS[order].sql},
            **{**filters.decay_params(at, half_life), **allowed.params, **(after.params if after else {})},
            limit=limit,
            offset=offset,
        )
        return [memory_of(row) for row in found]

    def place(self, memory: Memory, order: str, *, begun_at: datetime, half_life: timedelta) -> ListPosition:
        """The position of a memory in a sort order."""
        slots = {"columns": ORDERS[order].columns}
        decay = filters.decay_params(begun_at, half_life)
        [row] = self._scope.run("keys_of_memory", slots=slots, seq=memory.seq, **decay)
        return ListPosition(tuple(row[f"key_{number}"] for number in range(len(row))), begun_at)

    def count(self, filter: Filter, *, half_life: timedelta) -> int:
        allowed = filters.where(filter, self._scope.space_id, self._scope.at, half_life)
        params = {key: value for key, value in allowed.params.items() if key != "space_id"}
        return self._scope.count("count_memories", slots={"where": allowed.condition}, **params)

    def allowed(self, filter: Filter, *, half_life: timedelta) -> Allowed:
        """The filter as an SQL condition, for searches by words and vectors."""
        return filters.where(filter, self._scope.space_id, self._scope.at, half_life)

    def ranking_facts(
        self, seqs: Iterable[int], filter: Filter, *, half_life: timedelta
    ) -> dict[int, RankingFacts]:
        """Ranking facts of those that pass the filter."""
        allowed = self.allowed(filter, half_life=half_life)
        rows = self._scope.fetch_tuples(
            "ranking_facts_of_memories",
            seqs,
            slots={"where": allowed.condition, "effective": filters.EFFECTIVE_CONFIDENCE},
            **{**filters.decay_params(self._scope.at, half_life), **allowed.params},
        )
        return {seq: _facts_of(*facts) for seq, *facts in rows}

    def whole_space(
        self, filter: Filter, most: int, longest: int, *, half_life: timedelta
    ) -> WholeSpace | None:
        """All that ranking needs, in one statement; None if there are more than so many memories.

        Contents of more bytes than the `longest` are left out.
        """
        allowed = self.allowed(filter, half_life=half_life)
        rows = self._scope.run_tuples(
            "whole_space",
            slots={"where": allowed.condition, "effective": filters.EFFECTIVE_CONFIDENCE},
            **{**filters.decay_params(self._scope.at, half_life), **allowed.params},
            most=most + 1,
            longest=longest,
        )
        if len(rows) > most:
            return None
        return WholeSpace(
            [row[0] for row in rows],
            [row[1] for row in rows],
            [_facts_of(*facts) if passes else None for _, _, passes, *facts in rows],
        )

    def neighbours(self, seqs: Iterable[int]) -> dict[int, tuple[int | None, int | None]]:
        """The memories stored right before and after each of them, in its space."""
        rows = self._scope.fetch_tuples("neighbours_of_memories", seqs)
        return {seq: (before, after) for seq, before, after in rows}

    def contents(self, seqs: Iterable[int]) -> dict[int, str]:
        """The content alone of each memory."""
        return dict(self._scope.fetch_tuples("contents_of_memories", seqs))

    def about(
        self, entity_seqs: Iterable[int], filter: Filter, *, half_life: timedelta
    ) -> list[tuple[int, int, float]]:
        """(entity, memory, relevance) of the memories about these entities that pass the filter."""
        allowed = self.allowed(filter, half_life=half_life)
        rows = self._scope.fetch(
            "memories_about", entity_seqs, slots={"where": allowed.condition}, **allowed.params
        )
        return [(row["entity_seq"], row["memory_seq"], row["relevance"]) for row in rows]

    def ids_like(self, part: str) -> list[str]:
        """A few ids with this prefix or suffix; `part` is hex digits and hyphens, not a pattern."""
        found = self._scope.run("memory_ids_like", beginning=f"{part}%", ending=f"%{part}")
        return [row["id"] for row in found]

    def count_outside_graph(self) -> int:
        """How many are about no entity, or superseded."""
        return self._scope.count("count_memories_outside_graph")

    def any_orphan(self, newest: int) -> bool:
        """Whether any of the newest memories stored on their own is about no entity."""
        return self._scope.first("orphan_memory", newest=newest) is not None

    @property
    def current(self) -> Allowed:
        """Neither forgotten nor superseded."""
        return Allowed(
            "o.space_id = :space_id AND o.forgotten_at IS NULL AND o.superseded_at IS NULL",
            {"space_id": self._scope.space_id},
        )

    @property
    def current_observations(self) -> Allowed:
        """The current ones that are about some entity."""
        return Allowed(
            f"{self.current.condition}"
            " AND EXISTS (SELECT 1 FROM entity_memory em WHERE em.memory_seq = o.seq)",
            self.current.params,
        )

    def add(
        self,
        *,
        id: str,
        content: str,
        type: str,
        origin: Origin,
        importance: float,
        kind: str,
        confidence: float = 1.0,
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        pinned: bool = False,
        flagged: bool = False,
        captured: bool = False,
        quarantined: bool = False,
        **others: str | None,
    ) -> Memory:
        """Store a memory; `others` are its columns of text that may be missing."""
        if unknown := others.keys() - Memory.__slots__:
            raise TypeError(f"a memory has no {', '.join(sorted(unknown))}")
        at = self._scope.at
        values = {
            **others, "id": id, "content": content, "content_hash": self._free_hash(origin, content),
            "type": type, "kind": kind, "tags": list(tags),
            "confidence": confidence, "importance": importance, "metadata": dict(metadata or {}),
            "origin": origin, "pinned_at": at if pinned else None, "flagged_at": at if flagged else None,
            "captured_at": at if captured else None, "quarantined_at": at if quarantined else None,
        }  # fmt: skip
        [memory] = self._add_all({name: [value] for name, value in values.items()}, {})
        return memory

    def add_observations(
        self,
        texts: Mapping[str, str],
        hashes: Mapping[str, ContentHash],
        *,
        kind: str,
        flagged: Collection[str] = (),
    ) -> list[Memory]:
        """Add observations by id, in order; the `flagged` texts resemble earlier ones.

        `hashes`: the free ones of `known_texts`.
        """
        at = self._scope.at
        shared = {
            "type": "observation", "kind": kind, "tags": [], "confidence": 1.0,
            "importance": DEFAULT_IMPORTANCE["observation"], "metadata": {}, "origin": "observation",
            "pinned_at": at,  # observations of the graph do not fade
        }  # fmt: skip
        contents = list(texts.values())
        own: Columns = {
            "id": list(texts), "content": contents, "content_hash": [hashes[text] for text in contents],
            "flagged_at": [at if text in flagged else None for text in contents],
        }  # fmt: skip
        return self._add_all(own, shared)

    def _add_all(self, own: Columns, shared: Row) -> list[Memory]:
        at = self._scope.at
        shared = {
            "created_at": at,
            "updated_at": at,
            "access_count": 0,
            "version": 1,
            "provenance": dict(self._scope.provenance),
            **shared,
        }
        return list(map(memory_of, self._scope.rows.insert_all("memory", own, shared)))

    def _free_hash(self, origin: Origin, content: str) -> ContentHash:
        return (
            fingerprint(content) if origin == "memory" else self.known_texts([content]).free_hashes[content]
        )

    def revise(self, memory: Memory, reason: str, **changes: Any) -> Memory:
        """Change a memory, keeping its earlier state as a version."""
        number = self.keep_version(memory, memory, reason)
        if "content" in changes:
            changes["content_hash"] = _hash(memory.origin, changes["content"])
        return self.change(memory, **changes, version=number + 1, updated_at=self._scope.at)

    def change(self, memory: Memory, **changes: Any) -> Memory:
        """Change without a version: a pin, a flag, forgetting."""
        if "tags" in changes:
            changes["tags"] = list(changes["tags"])
        return memory_of(self._scope.rows.changed("memory", memory.seq, changes))

    def keep_version(self, memory: Memory, of: Memory, reason: str) -> int:
        """Store the state of `of` in the history of `memory`. Returns its version number."""
        number = self._scope.count("last_version_of_memory", memory_seq=memory.seq) + 1
        state = plain({name: getattr(of, name) for name in Memory.__slots__}) or {}
        self._scope.rows.insert(
            "memory_version",
            {
                "memory_seq": memory.seq, "number": number,
                "content": of.content, "state": {**state, "tags": list(of.tags)}, "reason": reason,
                "created_at": self._scope.at,
            },
        )  # fmt: skip
        return number

    def versions(self, memory: Memory) -> list[MemoryVersion]:
        """Oldest first."""
        return [
            MemoryVersion(
                number=row["number"], content=row["content"], state=row["state"], reason=row["reason"],
                at=row["created_at"],
            )
            for row in self._scope.run("versions_of_memory", memory_seq=memory.seq)
        ]  # fmt: skip

    def remove(self, memory: Memory) -> None:
        """Delete the memory with its links, associations and versions. Undoable."""
        rows = self._scope.rows
        for link in self._scope.run("links_of_memory", memory_seq=memory.seq):
            rows.delete("entity_memory", link["seq"])
        for association in self._scope.run("associations_touching_seqs", memory_seq=memory.seq):
            rows.delete("association", association["seq"])
        for version in self._scope.run("version_seqs_of_memory", memory_seq=memory.seq):
            rows.delete("memory_version", version["seq"])
        rows.delete("memory", memory.seq)

    def confirm(self, seqs: Iterable[int]) -> None:
        """Take captured memories off trial, because they were used."""
        self._scope.change_each("confirm_captured", seqs)

    def reinforce(self, seqs: Iterable[int]) -> None:
        """Count a read: it raises count, time and confidence."""
        self._scope.change_each("reinforce_memories", seqs, at=self._scope.at, added=REINFORCEMENT)


def _facts_of(
    channel: str | None,
    created_at: datetime,
    importance: float,
    superseded_at: datetime | None,
    effective: float,
) -> RankingFacts:
    # Above 1 only when two clocks disagree. Hot path: `min` costs more than all else here.
    effective = 1.0 if effective > 1.0 else effective
    return RankingFacts(channel, created_at, importance, effective, superseded_at is not None)


def _hash(origin: Origin, content: str) -> ContentHash:
    # Graph tools match observations exactly, white space included.
    return (exact_fingerprint if origin == "observation" else fingerprint)(content)
