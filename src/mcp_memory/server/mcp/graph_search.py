"""The graph tool that finds entities by meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from mcp_memory.server.mcp.graph_outputs import PlainEntity
from mcp_memory.server.mcp.tools import READS, Sized, tool
from mcp_memory.server.shapes.entities import Mentioned
from mcp_memory.server.shapes.shape import Record, Rounded, Shape, omitted

if TYPE_CHECKING:
    from mcp_memory.engine import Engine


class SearchSemantic(Sized):
    query: str = Field(description="A question or a description, in plain words.")
    limit: int = Field(10, description="How many entities at most.", ge=1, le=50)
    explain: bool = Field(False, description="Also say for each result where it came from.")


class LimbicFactors(Shape):
    importance: Rounded
    temporal_factor: Rounded
    cooc_boost: Rounded


class EntityFound(PlainEntity):
    limbic_score: Rounded
    scoring: LimbicFactors
    routing_strategy: str
    distance: Rounded | None = omitted()
    rrf_score: Annotated[float, AfterValidator(lambda score: round(score, 6))] | None = omitted()
    explanation: Record | None = omitted()


class EntitiesFound(Shape):
    hits: list[EntityFound] = Field(serialization_alias="results")
    orphans: list[Mentioned] | None = omitted("memories")
    mode: str


@tool(title="Search by Meaning", annotations=READS, asks="query")
def search_semantic(engine: Engine, arguments: SearchSemantic) -> EntitiesFound:
    """Find entities by what they are about, even in other words; names and numbers in the query count too.

    The first tool to reach for when something may be known already. For an exact piece of text use
    search_nodes, for a known name open_nodes. `memories` are facts that fit and belong to no entity.
    `mode` says if only words could be searched, and why.
    """
    answer = engine.entities.outlines(arguments.query, arguments.limit, explain=arguments.explain)
    return EntitiesFound.of(answer)
