"""Entities and relations as JSON for programs and as rows for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mcp_memory.cli.output import printable, say, shaped, table
from mcp_memory.model import Entity, Graph, Node, Relation


def entity_json(entity: Entity) -> dict[str, Any]:
    return shaped("EntityJson", entity)


def node_json(node: Node) -> dict[str, Any]:
    return shaped("NodeJson", node)


def relation_json(relation: Relation) -> dict[str, Any]:
    return shaped("RelationJson", relation)


def graph_json(graph: Graph) -> dict[str, Any]:
    return shaped("GraphJson", graph)


def print_nodes(nodes: Iterable[Node]) -> None:
    for node in nodes:
        say(heading(node.entity))
        if node.entity.description:
            say(f"  {node.entity.description}")
        for memory in node.observations:
            kind = "" if memory.kind == "generic" else f"[{memory.kind}] "
            say(f"  • {kind}{printable(memory.content)}")


def heading(entity: Entity) -> str:
    status = "" if entity.status == "active" else f", {entity.status}"
    return f"{entity.name} ({entity.type}{status})"


def print_relations(relations: Iterable[Relation], *, empty: str = "No relations.") -> None:
    table(
        ("number", "from", "type", "to", "since", "ended"),
        ((one.seq, one.source, one.type, one.target, one.created_at, one.ended_at) for one in relations),
        empty=empty,
    )
