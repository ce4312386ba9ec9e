"""Export and import of whole spaces over HTTP, with progress."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal, Self

import anyio
import anyio.to_thread
from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.concurrency import iterate_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mcp_memory.engine import Engine
from mcp_memory.engine.graph_import import Imported
from mcp_memory.engine.import_preview import Preview
from mcp_memory.engine.spooling import spool, temporary_file
from mcp_memory.errors import MemoryServerError
from mcp_memory.server.problems import STATUSES
from mcp_memory.server.rest.dependencies import ANYWHERE, Acting
from mcp_memory.server.shapes.shape import Shape, drawn

router = APIRouter(prefix="/api", tags=["transfer"], responses=ANYWHERE)

NDJSON = "application/x-ndjson"
CHUNK = 64 * 1024
"""Bytes that are sent at once."""

IMPORT_THREADS = anyio.CapacityLimiter(4)
PREVIEW_THREADS = anyio.CapacityLimiter(2)
EXPORT_THREADS = anyio.CapacityLimiter(4)
"""Long work has threads of its own: imports that wait for each other must leave the others to everybody."""

Format = Literal["anthropic", "full"]


@drawn(Imported, without="known format")
class Import(Shape):
    """The result of an import."""


@drawn(Preview)
class ImportPreview(Shape):
    """The preview of an import."""


ImportFormat = Annotated[str | None, Query(description="Detected unless given.", max_length=40)]
FileName = Annotated[
    str, Query(description="The file's name: its suffix helps to detect the format.", max_length=200)
]
BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": {NDJSON: {"schema": {"type": "string"}}}}},
)
def export_space(
    engine: Acting,
    format: Annotated[
        Format, Query(description="`full`: everything; `anthropic`: the file of Anthropic's memory server.")
    ] = "full",
) -> StreamingResponse:
    """Export the whole space as lines of JSON, at one moment."""
    lines = engine.transfer.export_full() if format == "full" else engine.transfer.export_anthropic()
    name = "memory.jsonl" if format == "anthropic" else "mcp-memory.jsonl"
    return _Spooled(
        (line.encode() for line in lines),
        media_type=NDJSON,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@router.post("/import/preview", openapi_extra=BODY)
async def preview_import(
    request: Request, engine: Acting, format: ImportFormat = None, name: FileName = ""
) -> ImportPreview:
    """Preview an import: its format and contents. Changes nothing."""
    upload = await _received(request, name)

    def work() -> ImportPreview:
        with upload:
            return ImportPreview.of(engine.transfer.preview(upload.path, format, uploaded=True))

    return await anyio.to_thread.run_sync(work, limiter=PREVIEW_THREADS)


@router.post(
    "/import",
    response_model=Import,
    responses={200: {"content": {NDJSON: {"schema": {"type": "string"}}}}},
    openapi_extra=BODY,
)
async def import_space(
    request: Request, engine: Acting, format: ImportFormat = None, name: FileName = ""
) -> Response:
    """Import a file: a full export, or another program's memories.

    A client that accepts `application/x-ndjson` gets progress: lines of `{"done": bytes, "total": bytes}`,
    then one of `{"imported": …}` or `{"problem": …}`.
    """
    upload = await _received(request, name)
    if NDJSON in request.headers.get("accept", ""):
        return StreamingResponse(_progress(engine, upload, format), media_type=NDJSON)

    def work() -> Import:
        with upload:
            return Import.of(engine.transfer.import_from(upload.path, format, uploaded=True))

    return JSONResponse((await anyio.to_thread.run_sync(work, limiter=IMPORT_THREADS)).model_dump())


class Upload:
    """A file that a request brought, in a folder of its own, until it is closed."""

    def __init__(self, name: str) -> None:
        self._folder = TemporaryDirectory(prefix="mcp-memory-import-")
        # Only the suffix of the caller's file name is used, to detect the format.
        ending = re.sub(r"[^.A-Za-z0-9]", "", Path(name).suffix)[:12]
        self.path = Path(self._folder.name) / f"import{ending}"

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()


async def _received(request: Request, name: str) -> Upload:
    """Spool the body to disk, so that a slow upload does not block other writers."""
    upload = await anyio.to_thread.run_sync(Upload, name)
    try:
        with upload.path.open("wb") as file:
            async for chunk in request.stream():
                await anyio.to_thread.run_sync(file.write, chunk)
    except BaseException:
        upload.__exit__()
        raise
    return upload


class _Spooled(StreamingResponse):
    """Lines that are written to a file before the first is sent: a slow client holds no transaction open.

    The response closes the file, because an iterator that is never begun could not: a client may leave
    before the first line.
    """

    def __init__(self, lines: Iterator[bytes], **options: Any) -> None:
        super().__init__(iter(()), **options)
        self._lines = lines

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with temporary_file() as file:
            await anyio.to_thread.run_sync(spool, self._lines, file, limiter=EXPORT_THREADS)
            self.body_iterator = iterate_in_threadpool(iter(partial(file.read, CHUNK), b""))
            await super().__call__(scope, receive, send)


def _progress(engine: Engine, upload: Upload, format: str | None) -> AsyncIterator[bytes]:
    """Begin the import at once, which then closes the upload, and report on it."""
    told: asyncio.Queue[dict[str, object] | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def tell(line: dict[str, object] | None) -> None:
        with suppress(RuntimeError):  # the server has stopped meanwhile
            loop.call_soon_threadsafe(told.put_nowait, line)

    work = (engine, upload, format, tell)
    threading.Thread(target=_import_telling, args=work, name="import", daemon=True).start()
    return _reported(told)


async def _reported(told: asyncio.Queue[dict[str, object] | None]) -> AsyncIterator[bytes]:
    while (line := await told.get()) is not None:
        yield json.dumps(line).encode() + b"\n"


def _import_telling(
    engine: Engine,
    upload: Upload,
    format: str | None,
    tell: Callable[[dict[str, object] | None], None],
) -> None:
    try:
        with upload:
            size = upload.size
            done = engine.transfer.import_from(
                upload.path,
                format,
                uploaded=True,
                progress=lambda doing, done, _: tell({"done": done, "total": size}),
            )
        tell({"imported": Import.of(done).model_dump()})
    except MemoryServerError as error:
        tell({"problem": {"code": error.code, "status": STATUSES[error.code], "detail": str(error)}})
    finally:
        tell(None)
