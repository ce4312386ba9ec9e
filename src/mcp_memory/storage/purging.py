"""Permanent removal, including every trace in versions, journal and search log."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from mcp_memory.errors import NotFound
from mcp_memory.events import EntityPurged, MemoryPurged
from mcp_memory.model import Entity, Memory
from mcp_memory.storage.database import Row
from mcp_memory.storage.entities import Entities
from mcp_memory.storage.journal import Journal
from mcp_memory.storage.memories import Memories
from mcp_memory.storage.rows import Image, packed, unpacked
from mcp_memory.storage.scope import Scope

_LIKE = str.maketrans({"\\": r"\\", "%": r"\%", "_": r"\_"})


@dataclass(frozen=True, slots=True)
class Doomed:
    """The data to erase. `ids` and `texts` must disappear from the journal too."""

    entity: Entity | None
    memories: tuple[Memory, ...]
    ids: frozenset[str]
    texts: frozenset[str]


@dataclass(frozen=True, slots=True)
class Mentions:
    """The rows that mention some ids, found beforehand: others may write while the journal is searched."""

    ids: frozenset[str] = frozenset()
    events: frozenset[int] = frozenset()
    versions: frozenset[int] = frozenset()
    last_event: int = 0
    """Later events and versions have to be searched too."""
    last_version: int = 0


class Purging:
    def __init__(self, scope: Scope, memories: Memories, entities: Entities, journal: Journal) -> None:
        self._scope = scope
        self._memories = memories
        self._entities = entities
        self._journal = journal

    def find(self, which: str) -> Doomed:
        """A memory by id, or an entity by name or id with all memories about it. Deleted ones are found as
        long as the journal has them.
        """
        memory = self._memories.fetch_ids([which]).get(which)
        if memory is not None:
            return self._doomed([memory])
        entity = self._entities.find_named(which) or self._entity_by_id(which)
        if entity is not None:
            return self._doomed_with(entity)
        return self._remembered(which)

    def mentions(self, doomed: Doomed) -> Mentions:
        """Where the journal and the versions mention it."""
        [version] = self._scope.run("last_version")
        found = Mentions(doomed.ids, last_event=self._journal.last_seq(), last_version=version["seq"])
        return replace(
            found,
            events=frozenset(row["seq"] for id in doomed.ids for row in self._events(id, 0)),
            versions=frozenset(row["seq"] for id in doomed.ids for row in self._versions(id, 0)),
        )

    def erase(self, doomed: Doomed, known: Mentions = Mentions()) -> int:  # noqa: B008 (frozen)
        """Remove it. Returns how many journal events mentioned it."""
        for memory in doomed.memories:
            self._scope.change("remove_searches_that_found_by", memory_seq=memory.seq)
            self._memories.remove(memory)
        self._erase_versions(doomed, known)
        for id in sorted(doomed.ids):
            # Stored answers for idempotent replay hold the text too.
            self._scope.change("remove_answers_mentioning", needle=f"%{id}%")
        if doomed.entity is not None:
            self._erase_entity(doomed.entity)
        what = doomed.entity or next(iter(doomed.memories), None)
        subject = what.id if what else min(doomed.ids)
        self._journal.record_for_good(EntityPurged(subject) if doomed.entity else MemoryPurged(subject))
        for memory in doomed.memories if doomed.entity else ():
            self._journal.record_for_good(MemoryPurged(memory.id))
        return self._redact(doomed, known)

    def sweep(self, before: datetime) -> None:
        """Delete usage counts of entities that were deleted beyond undo."""
        self._scope.change("remove_stray_access", before=before)
        self._scope.change("remove_stray_access_days")
        self._scope.change("remove_stray_co_occurrences", before=before)

    def _doomed(
        self, memories: Iterable[Memory], ids: Iterable[str] = (), texts: Iterable[str] = ()
    ) -> Doomed:
        going = tuple(memories)
        said = {memory.content for memory in going}
        for memory in going:
            said |= {version.content for version in self._memories.versions(memory)}
        return Doomed(
            None, going, frozenset({*ids, *(memory.id for memory in going)}), frozenset({*texts, *said})
        )

    def _doomed_with(self, entity: Entity) -> Doomed:
        links = self._scope.run("links_of_entity", entity_seq=entity.seq)
        memories = self._memories.fetch(link["memory_seq"] for link in links).values()
        relations = self._scope.run("relation_seqs_touching", entity_seq=entity.seq)
        about = [("entity", entity.seq), *(("relation", relation["seq"]) for relation in relations)]
        reflections = [
            reflection
            for target_type, seq in about
            for reflection in self._scope.run(
                "reflection_seqs_about", target_type=target_type, target_seq=seq
            )
        ]
        rows = [
            *(self._scope.rows.find("relation", relation["seq"]) for relation in relations),
            *(self._scope.rows.find("reflection", reflection["seq"]) for reflection in reflections),
        ]
        found = self._doomed(memories, [entity.id, *(row["id"] for row in rows if row)], [entity.name])
        return Doomed(entity, found.memories, found.ids, found.texts)

    def _remembered(self, which: str) -> Doomed:
        """A deleted memory or entity, from what the journal still has of it."""
        for row in self._scope.run("entity_deletions"):
            if which in (row["payload"].get("name"), row["subject"]):
                return _traces(self._images(row["act"]), which)
        if self._journal.about(which):
            return Doomed(None, (), frozenset({which}), frozenset())
        raise NotFound(f"there is no memory with the id {which!r}, nor an entity of that name")

    def _entity_by_id(self, id: str) -> Entity | None:
        try:
            return self._entities.get_id(id)
        except NotFound:
            return None

    def _images(self, act: str) -> list[Image]:
        return [
            image for row in self._scope.run("events_of_act", act=act) for image in unpacked(row["before"])
        ]

    def _erase_entity(self, entity: Entity) -> None:
        self._entities.remove(entity)
        for query in (
            "remove_access", "remove_access_days", "remove_co_occurrences", "remove_searches_that_found"
        ):  # fmt: skip
            self._scope.change(query, entity_seq=entity.seq)
        self._scope.change("remove_searches_for", needle=f"%{entity.name.lower().translate(_LIKE)}%")

    def _erase_versions(self, doomed: Doomed, known: Mentions) -> None:
        """Those of a memory that another one absorbed."""
        found = {row["seq"]: row for row in self._scope.fetch("versions_numbered", sorted(known.versions))}
        for id in sorted(doomed.ids):
            for row in self._versions(id, known.last_version if id in known.ids else 0):
                found[row["seq"]] = row
        for seq, version in found.items():
            if version["state"].get("id") in doomed.ids:
                self._scope.rows.delete("memory_version", seq)

    def _redact(self, doomed: Doomed, known: Mentions) -> int:
        found = {row["seq"]: row for row in self._scope.fetch("events_numbered", sorted(known.events))}
        for id in sorted(doomed.ids):
            for row in self._events(id, known.last_event if id in known.ids else 0):
                found[row["seq"]] = row
        self._scope.change_many("rewrite_event", (_redacted(row, doomed) for row in found.values()))
        return len(found)

    def _events(self, id: str, after: int) -> list[Row]:
        return self._scope.run("events_mentioning", needle=f"%{id}%", id=id, after=after)

    def _versions(self, id: str, after: int) -> list[Row]:
        return self._scope.run("versions_mentioning", needle=f"%{id}%", after=after)


def _redacted(event: Row, doomed: Doomed) -> Row:
    told = {"id": event["subject"]} if event["subject"] in doomed.ids else event["payload"]
    return {
        "seq": event["seq"],
        "payload": _silenced(told, doomed.texts),
        "before": packed(
            _blank(image) if _shows(image, doomed.ids) else image for image in unpacked(event["before"])
        ),
    }


def _traces(images: list[Image], which: str) -> Doomed:
    """The ids and texts of one entity in the images of its deletion."""
    rows = [(image["table"], image["key"], image["before"]) for image in images if image["before"]]
    entity = next(
        (row for table, _, row in rows if table == "entity" and which in (row["name"], row["id"])), None
    )
    if entity is None:
        return Doomed(None, (), frozenset({which}), frozenset({which}))
    about = list(_about(rows, entity["seq"]))
    ids = {row["id"] for row in about} | {entity["id"]}
    texts = {row["content"] for row in about if "content" in row} | {entity["name"]}
    return Doomed(None, (), frozenset(ids), frozenset(texts))


def _about(rows: list[tuple[str, int, Row]], entity_seq: int) -> Iterator[Row]:
    linked = {
        row["memory_seq"]
        for table, _, row in rows
        if table == "entity_memory" and row["entity_seq"] == entity_seq
    }
    for table, key, row in rows:
        if (
            (table == "memory" and key in linked)
            or (table == "relation" and entity_seq in (row["source_seq"], row["target_seq"]))
            or (table == "reflection" and (row["target_type"], row["target_seq"]) == ("entity", entity_seq))
        ):
            yield row


def _shows(image: Image, ids: frozenset[str]) -> bool:
    """Whether the row an image holds is one of these, or a version of one."""
    before = image["before"] or {}
    return before.get("id") in ids or (before.get("state") or {}).get("id") in ids


def _blank(image: Image) -> Image:
    # No row ever has this digest, so the act can no longer be undone.
    return {"table": image["table"], "key": image["key"], "before": None, "after": "purged"}


def _silenced(value: Any, texts: frozenset[str]) -> Any:
    if isinstance(value, str):
        return "" if any(text in value for text in texts) else value
    if isinstance(value, dict):
        return {key: _silenced(inner, texts) for key, inner in value.items()}
    if isinstance(value, list):
        return [_silenced(inner, texts) for inner in value]
    return value
