"""Whole spaces over HTTP: taken out line by line, and brought in while telling how far it is."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import IO, Annotated, Literal

import anyio.to_thread
from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from mcp_memory.engine import Engine
from mcp_memory.errors import Invalid, MemoryServerError
from mcp_memory.server.problems import STATUSES
from mcp_memory.server.rest.dependencies import ANYWHERE, Acting
from mcp_memory.server.shapes.shape import Shape

router = APIRouter(prefix="/api", tags=["transfer"], responses=ANYWHERE)

NDJSON = "application/x-ndjson"
CHUNK = 64 * 1024
"""Bytes that are sent at once."""

KEPT_IN_MEMORY = 2**20
"""Bytes; what is longer waits on disk, so that a long upload keeps nobody from writing."""

LONGEST_LINE = 2**24

Format = Literal["anthropic", "full"]


class Import(Shape):
    """What came in."""

    entities_imported: int
    relations_imported: int
    errors: int = Field(description="Lines that cannot be read.")
    skipped: int = Field(description="Lines that say nothing that could be kept.")
    problems: list[str] = Field(description="What was wrong with the first of them.")
    records: dict[str, int] = Field(description="From a full export: how many of each kind are new.")


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
    """Take everything out of the space, as lines of JSON, at one moment."""
    lines = engine.transfer.export_full() if format == "full" else engine.transfer.export_anthropic()
    name = "memory.jsonl" if format == "anthropic" else "mcp-memory.jsonl"
    return StreamingResponse(
        _pieces(_spooled(lines)),
        media_type=NDJSON,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@router.post(
    "/import",
    response_model=Import,
    responses={200: {"content": {NDJSON: {"schema": {"type": "string"}}}}},
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {NDJSON: {"schema": {"type": "string"}}},
        }
    },
)
async def import_space(
    request: Request,
    engine: Acting,
    format: Annotated[Format | None, Query(description="What the first line shows, unless given.")] = None,
) -> Response:
    """Add the lines of an export, or of Anthropic's memory file, to what is known.

    Who accepts `application/x-ndjson` is told how far it is: lines of `{"done": bytes, "total": bytes}`,
    then one of `{"imported": …}` or `{"problem": …}`.
    """
    received = await _received(request)
    size = received.tell()
    received.seek(0)
    if NDJSON in request.headers.get("accept", ""):
        return StreamingResponse(_progress(engine, received, size, format), media_type=NDJSON)

    def work() -> Import:
        with received:
            return Import.of(engine.transfer.import_from(_lines(received), format))

    return JSONResponse((await anyio.to_thread.run_sync(work)).model_dump())


async def _received(request: Request) -> IO[bytes]:
    file: IO[bytes] = SpooledTemporaryFile(max_size=KEPT_IN_MEMORY)  # noqa: SIM115
    async for chunk in request.stream():
        await anyio.to_thread.run_sync(file.write, chunk)
    return file


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    while line := file.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE:
            raise Invalid(f"a line has more than {LONGEST_LINE:,} bytes: this is no file of memories")
        yield line


def _spooled(lines: Iterable[str]) -> IO[bytes]:
    """The whole export in a temporary file: a client that reads slowly must not hold a transaction open."""
    file: IO[bytes] = SpooledTemporaryFile(max_size=KEPT_IN_MEMORY)  # noqa: SIM115
    try:
        file.writelines(line.rstrip("\n").encode() + b"\n" for line in lines)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(CHUNK):
            yield piece


def _progress(engine: Engine, file: IO[bytes], size: int, format: Format | None) -> Iterator[bytes]:
    told: queue.Queue[dict[str, object] | None] = queue.Queue()
    worker = threading.Thread(
        target=_import_telling, args=(engine, file, size, format, told.put), name="import", daemon=True
    )
    worker.start()
    while (line := told.get()) is not None:
        yield json.dumps(line).encode() + b"\n"
    worker.join()


def _import_telling(
    engine: Engine,
    file: IO[bytes],
    size: int,
    format: Format | None,
    tell: Callable[[dict[str, object] | None], None],
) -> None:
    try:
        with file:
            done = engine.transfer.import_from(
                _lines(file), format, progress=lambda count: tell({"done": count, "total": size})
            )
        tell({"imported": Import.of(done).model_dump()})
    except MemoryServerError as error:
        tell({"problem": {"code": error.code, "status": STATUSES[error.code], "detail": str(error)}})
    finally:
        tell(None)
