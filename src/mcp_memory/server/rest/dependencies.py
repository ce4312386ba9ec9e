"""Shared parameters of routes: the caller, paging, conditions, idempotency."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal
from uuid import UUID

import anyio.to_thread
from fastapi import Depends, Header, Path, Query
from fastapi.dependencies.utils import get_flat_params
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BeforeValidator, ConfigDict, Field, model_validator
from starlette.requests import Request

from mcp_memory.engine import Engine
from mcp_memory.engine.access import CARRIED_OUT, Claim
from mcp_memory.engine.cursors import LONGEST as LONGEST_CURSOR
from mcp_memory.errors import Stale
from mcp_memory.server.lazy import LazyEngine
from mcp_memory.server.principal import principal_of
from mcp_memory.server.problems import documented
from mcp_memory.server.shapes.shape import Shape

PAGE = 50
MOST_PER_PAGE = 200
MOST_SKIPPED = 2**31 - 1

ANYWHERE = documented(400, 401, 403, 413, 421, 422, 429, 500, 503)
"""Errors that every route may return."""


Recorded = Annotated[
    Literal["yes", "no"],
    Header(
        alias="X-Memory-Record",
        description="`no`: reads do not count as use: they reinforce nothing and teach nothing.",
    ),
]


async def acting(request: Request, recorded: Recorded = "yes") -> Engine:
    """The engine, on behalf of the request's principal."""
    lazy: LazyEngine = request.app.state.engine
    engine = lazy.ready
    if engine is None:
        engine = await anyio.to_thread.run_sync(lazy)
    principal = principal_of(request)
    caller = replace(principal.caller, readable=principal.spaces)
    route = request.scope.get("route")
    tool = f"{request.method} {getattr(route, 'path', request.url.path)}"
    engine = engine.acting_for(replace(caller, via=caller.via or "program", tool=tool, remote=True))
    return engine if recorded == "yes" else engine.unrecorded()


Acting = Annotated[Engine, Depends(acting)]
Id = Annotated[UUID, Path(description="The id that a create or a list returned.")]


async def known_parameters(request: Request) -> None:
    """Refuse query parameters that the route does not have: a misspelt filter would filter nothing.

    Without a thread, which health checks could not get while all are busy.
    """
    known = {
        field.validation_alias or field.alias for field in get_flat_params(request.scope["route"].dependant)
    }
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        raise RequestValidationError(
            [
                {"type": "extra_forbidden", "loc": ("query", name), "msg": _no_such(name, known)}
                for name in unknown
            ]
        )


def _no_such(name: str, known: set[str]) -> str:
    close = difflib.get_close_matches(name, sorted(known), n=1)
    meant = f"did you mean {close[0]}?" if close else f"there are {', '.join(sorted(known)) or 'none'}"
    return f"There is no such parameter: {meant}"


def _split(values: Any) -> Any:
    """`a,b` means the same as a repeated parameter."""
    if not isinstance(values, list):
        return values
    return [part.strip() for value in values for part in str(value).split(",") if part.strip()]


Names = Annotated[list[str], BeforeValidator(_split), Field(max_length=100)]
"""A query parameter that may be repeated, or hold several names with commas between them."""


class Paging(Shape):
    model_config = ConfigDict(extra="ignore", defer_build=False)

    limit: int = Field(PAGE, ge=1, le=MOST_PER_PAGE, description="Maximum number of results.")
    offset: int = Field(0, ge=0, le=MOST_SKIPPED, description="Number of results to skip.")

    @model_validator(mode="before")
    @classmethod
    def _given(cls, values: Any) -> Any:
        """Empty parameters, as in `?source=`, count as not given."""
        if not isinstance(values, dict):
            return values
        required = {name for name, field in cls.model_fields.items() if field.is_required()}
        return {name: value for name, value in values.items() if name in required or value not in ("", [""])}

    def next(self, request: Request, total: int) -> str | None:
        """The address of the next page."""
        return self.page_after(request, self.limit, total)

    def page_after(self, request: Request, shown: int, total: int) -> str | None:
        """The address of the next page, after one with this many items."""
        following = self.offset + shown
        if following >= total or not shown:
            return None
        url = request.url.include_query_params(limit=shown, offset=following)
        return f"{url.path}?{url.query}"


class CursorPaging(Paging):
    """Paging of a list that may be long: by offset, or by the cursor in `next`."""

    cursor: str | None = Field(
        None,
        max_length=LONGEST_CURSOR,
        description="From `next`: goes on after the page before, as quickly however deep the list is.",
    )

    def page_at(self, request: Request, cursor: str | None) -> str | None:
        """The address of the page that begins at a cursor."""
        if cursor is None:
            return None
        url = request.url.remove_query_params("offset").include_query_params(limit=self.limit, cursor=cursor)
        return f"{url.path}?{url.query}"


Part = Annotated[Paging, Query()]

REPLAYED = {"Idempotent-Replayed": "true"}

_ETAG = re.compile(r'"(\d{1,18})"')


def expected_version(if_match: str | None) -> int | None:
    """The version in an If-Match header; None: any."""
    if if_match is None or if_match.strip() == "*":
        return None
    found = _ETAG.fullmatch(if_match.strip())
    if found is None:
        raise Stale("If-Match holds no ETag of this server: send the one from the last read")
    return int(found[1])


IfMatch = Annotated[
    str | None,
    Header(description="The `ETag` of the last read; 412 if the resource has changed since."),
]


@dataclass(frozen=True, slots=True)
class Made:
    """The result of a create; `new` is False if it existed before."""

    shape: Shape
    location: str
    new: bool = True
    etag: str | None = None

    @property
    def status(self) -> int:
        return 201 if self.new else 200

    @property
    def headers(self) -> dict[str, str]:
        return {"Location": self.location, **({"ETag": self.etag} if self.etag else {})}


class AlreadyDone(Shape):
    """The same request was done before, and its answer was lost."""

    detail: str = (
        "This was done before and is not done again; its answer was lost. It made what is at Location."
    )
    change_id: str = Field(description="What undo takes.")


DONE_BEFORE: dict[int | str, dict[str, Any]] = {
    303: {"model": AlreadyDone, "description": "It was done before, and its answer was lost"}
}
"""Further responses of an idempotent create."""


class Once:
    """Runs a create once per idempotency key, and replays its answer to retries."""

    def __init__(self, engine: Engine, key: str | None, request: str) -> None:
        self._engine = engine
        self._key = key
        self._request = request

    def __call__(self, create: Callable[[Engine], Made], *, event: str, place: str) -> JSONResponse:
        """`event` is the prefix of the event's name; `place` is the path of the new resource, with `{id}`."""
        if self._key is None:
            return _answered(create(self._engine))
        known = self._engine.access.claim(self._key, self._request)
        if isinstance(known, Claim):
            return self._first(known, create)
        if known.status == CARRIED_OUT:
            return self._pointer(known.body["act"], event, place)
        headers = {**known.body["headers"], **REPLAYED}
        return JSONResponse(known.body["body"], known.status, headers)

    def _first(self, claim: Claim, create: Callable[[Engine], Made]) -> JSONResponse:
        access = self._engine.access
        try:
            made = create(self._engine.once(claim))
            body = made.shape.model_dump(mode="json")
        except BaseException:
            access.release(claim)
            raise
        access.answer(claim, made.status, {"headers": made.headers, "body": body})
        return _answered(made)

    def _pointer(self, act: str, event: str, place: str) -> JSONResponse:
        """The server stopped before it could store its answer."""
        about = [one.subject for one in self._engine.history.events_of(act) if one.name.startswith(event)]
        headers = {"Location": place.format(id=about[0]), **REPLAYED} if about else REPLAYED
        return JSONResponse(AlreadyDone(change_id=act).model_dump(), 303, headers)


def _answered(made: Made) -> JSONResponse:
    return JSONResponse(made.shape.model_dump(mode="json"), made.status, made.headers)


async def once(
    request: Request,
    engine: Acting,
    idempotency_key: Annotated[
        str | None,
        Header(
            description="Chosen by the caller: a request with the same key is carried out once.",
            min_length=1,
            max_length=200,
        ),
    ] = None,
) -> Once:
    asked = b"\n".join([request.method.encode(), request.url.path.encode(), await request.body()])
    return Once(engine, idempotency_key, hashlib.sha256(asked).hexdigest())


Which = Annotated[str, Path(description="The entity's id or name; one with a slash only by its id.")]

OnlyOnce = Annotated[Once, Depends(once)]
