"""The REST API: a file for each resource."""

from fastapi import APIRouter

from mcp_memory.server.rest import events, memories


def routers() -> list[APIRouter]:
    return [memories.router, events.router]
