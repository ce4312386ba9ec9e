"""Entities and relations as JSON for programs and as rows for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mcp_memory.cli.output import printable, say, table
from mcp_memory.model import Entity, Graph, Node, Relation


def entity_json(entity: Entity) -> dict[str, Any]:
    return {
        "id": entity.id,
        "name": entity.name,
        "type": entity.type,
        "status": entity.status,
        "description": entity.description,
        "metadata": entity.metadata,
        "created_at": entity.created_at,
        "updated_at": entity.updated_at,
    }


def node_json(node: Node) -> dict[str, Any]:
    observations = [
        {"id": memory.id, "content": memory.content, "kind": memory.kind, "created_at": memory.created_at}
        for memory in node.observations
    ]
    return {**entity_json(node.entity), "observations": observations}


def relation_json(relation: Relation) -> dict[str, Any]:
    return {
        "id": relation.id,
        "number": relation.seq,
        "from": relation.source,
        "type": relation.type,
        "to": relation.target,
        "strength": relation.strength,
        "confidence": relation.confidence,
        "context": relation.context,
        "created_at": relation.created_at,
        "ended_at": relation.ended_at,
    }


def graph_json(graph: Graph) -> dict[str, Any]:
    return {
        "entities": [node_json(node) for node in graph.nodes],
        "relations": [relation_json(relation) for relation in graph.relations],
    }


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
