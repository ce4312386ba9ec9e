"""Serves the page: files that were built and compressed ahead of time."""

from __future__ import annotations

import hashlib
import mimetypes
from importlib import resources
from importlib.resources.abc import Traversable

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from mcp_memory import __version__
from mcp_memory.server.problems import problem

FOREVER = "public, max-age=31536000, immutable"
"""For files whose name changes with their content."""

PLAIN_CSP = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
"""For the fallback page that explains how to build the real one: no script, inline style."""


def install(app: FastAPI, folder: Traversable | None = None) -> None:
    """Add the routes of the page. `folder`: where its files are, if elsewhere than in this package."""
    files = folder or resources.files("mcp_memory.server").joinpath("page")

    # Without a thread: reading a small file takes less time than handing it to one.
    async def home(request: Request) -> Response:
        return _document(request, files, "index.html")

    async def api_reference(request: Request) -> Response:
        return _document(request, files, "docs.html")

    async def asset(request: Request) -> Response:
        found = _file(request, files.joinpath("assets"), request.path_params["name"], FOREVER)
        return found or problem(request, 404, "not_found", "There is no such file.")

    async def icon(request: Request) -> Response:
        return _file(request, files, "favicon.svg", "max-age=86400") or Response(status_code=204)

    for path, serve in (
        ("/", home),
        ("/docs", api_reference),
        ("/assets/{name}", asset),
        ("/favicon.svg", icon),
    ):
        app.router.add_route(path, serve, methods=["GET"], include_in_schema=False)


def _document(request: Request, files: Traversable, name: str) -> Response:
    return _file(request, files, name, "no-cache") or _not_built(request)


def _file(request: Request, folder: Traversable, name: str, caching: str) -> Response | None:
    if "/" in name or "\\" in name or name.startswith("."):
        return None
    plain, packed = folder.joinpath(name), folder.joinpath(name + ".gz")
    if not plain.is_file():
        return None
    headers = {"cache-control": caching, "vary": "accept-encoding"}
    is_packed = packed.is_file() and "gzip" in request.headers.get("accept-encoding", "")
    if is_packed:
        headers["content-encoding"] = "gzip"
    content = (packed if is_packed else plain).read_bytes()
    if caching != FOREVER:
        headers["etag"] = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
        if headers["etag"] in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
    return Response(
        content, headers=headers, media_type=mimetypes.guess_type(name)[0] or "application/octet-stream"
    )


def _not_built(request: Request) -> HTMLResponse:
    text = resources.files("mcp_memory.server").joinpath("start.html").read_text("utf-8")
    base = str(request.base_url).rstrip("/")
    return HTMLResponse(
        text.replace("{base}", base).replace("{version}", __version__),
        headers={"content-security-policy": PLAIN_CSP, "cache-control": "no-cache"},
    )
