"""Lightweight projection of the graph for bulk reads: names, types and texts."""

from collections.abc import Sequence

from mcp_memory.storage.database import Row
from mcp_memory.storage.scope import Scope
from mcp_memory.text.graph_lines import EntityLine, GraphLines, RelationLine


class GraphProjection:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def whole(self) -> GraphLines:
        """Everything, in stored order."""
        run = self._scope.run
        return _lines(run("outline_entities"), run("outline_observations"), run("outline_relations"))

    def of(self, seqs: Sequence[int]) -> GraphLines:
        """These entities, and every relation with at least one end among them, in stored order."""
        fetch = self._scope.fetch
        relations = {row["seq"]: row for row in fetch("outline_relations_of", seqs)}
        return _lines(
            sorted(fetch("outline_entities_of", seqs), key=lambda row: row["seq"]),
            fetch("outline_observations_of", seqs),
            [relations[seq] for seq in sorted(relations)],
        )


def _lines(entities: list[Row], observations: list[Row], relations: list[Row]) -> GraphLines:
    texts: dict[int, list[str]] = {}
    for row in observations:
        texts.setdefault(row["entity_seq"], []).append(row["content"])
    return GraphLines(
        tuple(EntityLine(row["name"], row["type"], tuple(texts.get(row["seq"], ()))) for row in entities),
        tuple(RelationLine(row["source"], row["target"], row["type"]) for row in relations),
    )
