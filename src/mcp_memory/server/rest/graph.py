"""The graph as a whole over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from mcp_memory.engine.graph_overview import MOST_NODES
from mcp_memory.fields import Share
from mcp_memory.server.rest.dependencies import ANYWHERE, Acting
from mcp_memory.server.rest.fields import AsOf
from mcp_memory.server.shapes.entities import Entity, Relation
from mcp_memory.server.shapes.shape import Shape

router = APIRouter(prefix="/api/graph", tags=["entities"], responses=ANYWHERE)


class OverviewNode(Entity):
    degree: int = Field(description="How many active relations touch it, also those not shown.")
    observation_count: int


class GraphOverview(Shape):
    nodes: list[OverviewNode] = Field(description="The best connected first.")
    edges: list[Relation] = Field(description="Relations among them, the strongest first.")
    total: int = Field(description="How many entities there are in all.")
    truncated: bool = Field(description="There are more relations among these entities than are shown.")


@router.get("")
def read_graph(
    engine: Acting,
    limit: Annotated[int, Query(ge=1, le=MOST_NODES, description="How many entities at most.")] = 500,
    min_strength: Annotated[Share, Query(description="Only relations at least this strong.")] = 0.0,
    as_of: Annotated[AsOf, Query()] = None,
) -> GraphOverview:
    """Read the best connected entities, and the relations among them."""
    found = engine.graph_overviews.overview(limit=limit, min_strength=min_strength, as_of=as_of)
    return GraphOverview.of(found)
