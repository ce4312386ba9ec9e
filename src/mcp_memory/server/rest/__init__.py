"""The REST API: a file for each resource."""

from fastapi import APIRouter

from mcp_memory.server.rest import (
    analytics,
    changes,
    entities,
    entity_care,
    events,
    memories,
    memory_life,
    operations,
    reflections,
    relations,
    spaces,
    transfer,
    upkeep,
)


def routers() -> list[APIRouter]:
    return [
        memories.router,
        memory_life.router,
        upkeep.router,
        entities.router,
        entity_care.router,
        entity_care.report_router,
        relations.router,
        reflections.router,
        analytics.router,
        changes.router,
        spaces.router,
        transfer.router,
        events.router,
        operations.router,
    ]
