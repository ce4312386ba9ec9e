"""Keeps words, tags and pending vectors consistent with the rows of a transaction.

It reads from `Rows` what was written, so that no caller can forget it, and updates what became stale once,
before the commit.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from mcp_memory.model import Owner
from mcp_memory.storage.database import Row, WordRow
from mcp_memory.storage.schema import TABLE
from mcp_memory.storage.scope import Scope
from mcp_memory.text.stems import indexed_text
from mcp_memory.text.words import label_text, tokens_text


class DerivedData:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._memories: dict[int, Row | None] = {}
        self._rewritten: set[int] = set()
        self._entities: dict[int, Row | None] = {}
        self._snapshots: set[int] = set()
        self._reflections: dict[int, Row | None] = {}
        self._queued: list[tuple[Owner, int]] = []
        """Rows made in this transaction that need a vector."""

    def update(self) -> None:
        """Bring it up to date with the rows that were written."""
        # A row that was changed after it was added comes twice, in this order.
        for table, rows in self._scope.rows.added:
            self._see_new(table, rows)
        for table, before, after in self._scope.rows.changes:
            self._see(table, before, after)
        self._flush_memories()
        self._flush_entities()
        self._flush_reflections()
        self._flush_queue()

    def _see(self, table: str, before: Row | None, after: Row | None) -> None:
        row = after or before
        assert row is not None
        if before and after and not any(before[column] != after[column] for column in TABLE[table].indexed):
            return
        if table == "memory":
            self._memories[row["seq"]] = after if _is_living(after) else None
            if _is_living(before) != _is_living(after) or (before or {}).get("content") != row["content"]:
                self._rewritten.add(row["seq"])
        elif table == "entity":
            self._entities[row["seq"]] = after
            self._snapshots.add(row["seq"])
        elif table == "entity_memory":
            self._snapshots |= {image["entity_seq"] for image in (before, after) if image}
        elif table == "reflection":
            self._reflections[row["seq"]] = after

    def _see_new(self, table: str, rows: Sequence[Row]) -> None:
        # As `_see` does with each of them, and without asking each what has changed.
        if table == "memory":
            self._memories.update((row["seq"], row if _is_living(row) else None) for row in rows)
            self._rewritten.update(row["seq"] for row in rows)
        elif table == "entity":
            self._entities.update((row["seq"], row) for row in rows)
            self._snapshots.update(row["seq"] for row in rows)
        elif table == "entity_memory":
            self._snapshots.update(row["entity_seq"] for row in rows)
        elif table == "reflection":
            self._reflections.update((row["seq"], row) for row in rows)

    def _flush_memories(self) -> None:
        living = {seq: row for seq, row in self._memories.items() if row is not None}
        earlier = self._earlier("memory", self._memories)
        self._scope.change_each("remove_memory_tags", earlier)
        self._scope.change_many(
            "put_memory_tag",
            (
                {"tag": tag, "memory_seq": seq}
                for seq, row in living.items()
                for tag in dict.fromkeys(row["tags"])
            ),
        )
        self._put_words("memory", self._memories)
        self._drop("memory", self._memories)
        self._want_vectors("memory", self._rewritten & living.keys())
        # Links of new memories were observed already.
        for row in self._scope.fetch("entities_of_memories", earlier):
            self._snapshots.add(row["entity_seq"])

    def _flush_entities(self) -> None:
        self._put_words("entity", self._entities)
        self._drop("entity", self._entities)
        self._want_vectors("entity", {seq for seq in self._snapshots if self._entities.get(seq, True)})

    def _flush_reflections(self) -> None:
        self._put_words("reflection", self._reflections)
        self._drop("reflection", self._reflections)
        self._want_vectors("reflection", {seq for seq, row in self._reflections.items() if row})

    def _put_words(self, owner: Owner, rows: Mapping[int, Row | None]) -> None:
        put, connection = self._scope.database.words.put, self._scope.connection
        words = [found for row in rows.values() if row and (found := words_of(owner, row))]
        new = self._scope.rows.new[owner]
        if earlier := [row for row in words if row.seq not in new]:
            put(connection, owner, earlier)
        if added := [row for row in words if row.seq in new] if earlier else words:
            put(connection, owner, added, new=True)

    def _drop(self, owner: Owner, rows: Mapping[int, Row | None]) -> None:
        gone = self._earlier(owner, (seq for seq, row in rows.items() if row is None))
        if not gone:
            return
        self._scope.database.words.remove(self._scope.connection, owner, self._scope.space_id, gone)
        self._remove_vectors(owner, gone)
        self._scope.change_each("remove_pending", gone, owner=owner)

    def _want_vectors(self, owner: Owner, seqs: Iterable[int]) -> None:
        wanted = sorted(seqs)
        if not wanted:
            return
        # A vector of the old text must not be found until the new one is made. An entity's snapshot changes
        # gradually, so its old vector stays in use until then, except for a model that is being built, whose
        # vectors are not checked again.
        self._remove_vectors(owner, self._earlier(owner, wanted), only_building=owner == "entity")
        at_hand = self._scope.vectors_at_hand
        waiting = [seq for seq in wanted if not (at_hand and self._put_vector_at_hand(owner, seq))]
        earlier = self._earlier(owner, waiting)
        self._scope.change_each("add_pending", earlier, slots={"table": owner}, owner=owner)
        new = self._scope.rows.new[owner]
        self._queued += [(owner, seq) for seq in waiting if seq in new]

    def _flush_queue(self) -> None:
        if not self._queued:
            return
        owners, seqs = zip(*self._queued, strict=True)
        self._scope.connection.insert_all(
            "pending",
            {"owner": owners, "seq": seqs},
            {"space_id": self._scope.space_id, "stamp": self._scope.count("next_stamp")},
        )
        self._queued.clear()

    def _put_vector_at_hand(self, owner: Owner, seq: int) -> bool:
        if (owner, seq) not in self._scope.vectors_at_hand:
            return False
        model_id, vector = self._scope.vectors_at_hand[owner, seq]
        scope = self._scope
        scope.database.vectors.put(scope.connection, model_id, owner, [(seq, scope.space_id, vector)])
        scope.change_each("remove_pending", self._earlier(owner, [seq]), owner=owner)
        return True

    def _remove_vectors(self, owner: Owner, seqs: list[int], *, only_building: bool = False) -> None:
        for model in self._models if seqs else ():
            if not only_building or model["state"] == "building":
                self._scope.database.vectors.remove(self._scope.connection, model["id"], owner, seqs)

    def _earlier(self, owner: Owner, seqs: Iterable[int]) -> list[int]:
        """Rows that existed before this transaction: only their derived data can be stale."""
        new = self._scope.rows.new[owner]
        return [seq for seq in seqs if seq not in new]

    @cached_property
    def _models(self) -> list[Row]:
        return self._scope.run("embedding_models")


def _is_living(row: Row | None) -> bool:
    return row is not None and row["forgotten_at"] is None


def words_of(owner: Owner, row: Row) -> WordRow | None:
    """The searchable words of a row; None for a forgotten memory."""
    if owner == "memory":
        return _memory_words(row) if _is_living(row) else None
    return _entity_words(row) if owner == "entity" else _reflection_words(row)


def _memory_words(row: Row) -> WordRow:
    tags, context = row["tags"], row["context"]
    extra = (
        tokens_text(" ".join([*tags, row["type"], context or ""]))
        if tags or context
        else label_text(row["type"])
    )
    return WordRow(row["seq"], row["space_id"], indexed_text(row["content"]), extra)


def _entity_words(row: Row) -> WordRow:
    description = row["description"]
    extra = tokens_text(f"{row['type']} {description}") if description else label_text(row["type"])
    return WordRow(row["seq"], row["space_id"], tokens_text(row["name"]), extra)


def _reflection_words(row: Row) -> WordRow:
    return WordRow(
        row["seq"],
        row["space_id"],
        indexed_text(row["content"]),
        tokens_text(f"{row['author']} {row['mood'] or ''}"),
    )
