"""The REST API: a file for each resource."""

from fastapi import APIRouter

from mcp_memory.server.rest import (
    about,
    analytics,
    captured,
    changes,
    entities,
    entity_curation,
    events,
    graph,
    maintenance,
    memories,
    memory_lifecycle,
    operations,
    reflections,
    relations,
    session,
    spaces,
    transfer,
)


def routers() -> list[APIRouter]:
    return [
        memories.router,
        memory_lifecycle.router,
        maintenance.router,
        entities.router,
        entity_curation.router,
        entity_curation.report_router,
        relations.router,
        graph.router,
        reflections.router,
        analytics.router,
        changes.router,
        captured.router,
        captured.arrivals_router,
        spaces.router,
        session.router,
        about.router,
        transfer.router,
        events.router,
        operations.router,
    ]
