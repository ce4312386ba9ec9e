"""The graph tool that finds entities by meaning."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from mcp_memory.server.mcp.tools import READS, Arguments, tool

if TYPE_CHECKING:
    from mcp_memory.engine import Engine
    from mcp_memory.engine.entity_search import EntityHit


class SearchSemantic(Arguments):
    query: Annotated[str, Field(description="A question or a description, in plain words.")]
    limit: Annotated[int, Field(description="How many entities at most.", ge=1, le=50)] = 10
    explain: Annotated[bool, Field(description="Also say for each result where it came from.")] = False


class Scoring(TypedDict):
    importance: float
    temporal_factor: float
    cooc_boost: float


class EntityFound(TypedDict):
    name: str
    entityType: str
    observations: list[str]
    limbic_score: float
    scoring: Scoring
    routing_strategy: str
    distance: NotRequired[float]
    rrf_score: NotRequired[float]
    explanation: NotRequired[dict[str, Any]]


class MemoryFound(TypedDict):
    id: str
    content: str
    memory_type: str


class EntitiesFound(TypedDict):
    results: list[EntityFound]
    memories: NotRequired[list[MemoryFound]]
    mode: str


@tool(title="Search by Meaning", annotations=READS)
def search_semantic(engine: Engine, arguments: SearchSemantic) -> EntitiesFound:
    """Find entities by what they are about, even in other words; names and numbers in the query count too.

    The first tool to reach for when something may be known already. For an exact piece of text use
    search_nodes, for a known name open_nodes. `memories` are facts that fit and belong to no entity.
    `mode` says if only words could be searched, and why.
    """
    answer = engine.entities.search(arguments.query, arguments.limit, explain=arguments.explain)
    found: EntitiesFound = {"results": [_found(hit) for hit in answer.hits], "mode": answer.mode}
    if answer.unattached:
        found["memories"] = [
            {"id": memory.id, "content": memory.content, "memory_type": memory.type}
            for memory in answer.unattached
        ]
    return found


def _found(hit: EntityHit) -> EntityFound:
    found: EntityFound = {
        "name": hit.node.entity.name,
        "entityType": hit.node.entity.type,
        "observations": hit.node.texts,
        "limbic_score": round(hit.limbic_score, 4),
        "scoring": {
            "importance": round(hit.scoring.importance, 4),
            "temporal_factor": round(hit.scoring.temporal_factor, 4),
            "cooc_boost": round(hit.scoring.cooc_boost, 4),
        },
        "routing_strategy": hit.routing_strategy,
    }
    if hit.distance is not None:
        found["distance"] = round(hit.distance, 4)
    if hit.rrf_score is not None:
        found["rrf_score"] = round(hit.rrf_score, 6)
    if hit.explanation is not None:
        found["explanation"] = asdict(hit.explanation)
    return found
