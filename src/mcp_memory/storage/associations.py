"""Reads and writes associations between memories."""

from collections.abc import Iterable
from dataclasses import dataclass

from mcp_memory.errors import NotFound
from mcp_memory.model import Association, Memory
from mcp_memory.storage.scope import Scope


@dataclass(frozen=True, slots=True)
class Edge:
    """Lightweight projection for spreading activation."""

    source_seq: int
    target_seq: int
    type: str
    weight: float


class Associations:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def put(self, id: str, source: Memory, target: Memory, type: str, weight: float) -> bool:
        """Associate two memories, or update the weight. Returns whether anything changed."""
        found = self._scope.first(
            "association_between", source_seq=source.seq, target_seq=target.seq, type=type
        )
        if found:
            return self._scope.rows.update("association", found["seq"], {"weight": weight})
        self._scope.rows.insert(
            "association",
            {
                "id": id, "source_seq": source.seq, "target_seq": target.seq,
                "type": type, "weight": weight, "created_at": self._scope.at,
            },
        )  # fmt: skip
        return True

    def get(self, source: Memory, target: Memory, type: str) -> Association:
        for found in self.of(source):
            if (found.source_id, found.target_id, found.type) == (source.id, target.id, type):
                return found
        raise NotFound(f"memory {source.id} has no association {type} with {target.id}")

    def of(self, memory: Memory) -> list[Association]:
        return [
            Association(
                seq=row["seq"], id=row["id"], source_id=row["source_id"], target_id=row["target_id"],
                type=row["type"], weight=row["weight"], created_at=row["created_at"],
            )
            for row in self._scope.fetch("associations_touching", [memory.seq])
        ]  # fmt: skip

    def edges(self, seqs: Iterable[int]) -> list[Edge]:
        """Every association that touches one of the memories, once."""
        found = {row["seq"]: row for row in self._scope.fetch("associations_touching", seqs)}
        return [
            Edge(row["source_seq"], row["target_seq"], row["type"], row["weight"]) for row in found.values()
        ]

    def remove(self, seq: int) -> None:
        self._scope.rows.delete("association", seq)

    def move(self, absorbed: Memory, into: Memory) -> None:
        """Move the associations of an absorbed memory to the one that absorbed it."""
        for row in self._scope.fetch("associations_touching", [absorbed.seq]):
            source = into.seq if row["source_seq"] == absorbed.seq else row["source_seq"]
            target = into.seq if row["target_seq"] == absorbed.seq else row["target_seq"]
            self._scope.rows.delete("association", row["seq"])
            taken = self._scope.first(
                "association_between", source_seq=source, target_seq=target, type=row["type"]
            )
            if source != target and not taken:
                self._scope.rows.insert(
                    "association",
                    {
                        "id": row["id"], "source_seq": source,
                        "target_seq": target, "type": row["type"], "weight": row["weight"],
                        "created_at": row["created_at"],
                    },
                )  # fmt: skip
