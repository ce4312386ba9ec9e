"""Failures as problem details (RFC 9457): one shape for all of them."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import compile_path

from mcp_memory.errors import MemoryServerError

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"

STATUSES: Mapping[str, int] = {
    "invalid": 422,
    "not_found": 404,
    "conflict": 409,
    "stale": 412,
    "forbidden": 403,
    "unavailable": 503,
    # Not transient: this server is not configured for it.
    "unequipped": 409,
}
"""The HTTP status of each code of `mcp_memory.errors`."""

RETRY_AFTER = 1
"""Retry-After in seconds while the database or the model is unavailable."""


class Fault(BaseModel):
    """One error in a request."""

    where: str = Field(description="Which part of the request, as in `body.content` or `query.limit`.")
    what: str


class Problem(BaseModel):
    """Why a request failed, and what to do about it."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str = Field(description="What went wrong this time, and what would help.")
    instance: str = Field(description="The requested path.")
    code: str = Field(description="The kind of error, for programs.")
    errors: list[Fault] = Field(default=[], description="Each error in an invalid request.")


def problem(
    request: Request,
    status: int,
    code: str,
    detail: str,
    errors: Sequence[Fault] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    told = Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        instance=request.url.path,
        code=code,
        errors=list(errors),
    )
    # ASCII, because an error may quote half of a surrogate pair, which UTF-8 cannot encode.
    return Response(json.dumps(told.model_dump()), status, headers=headers, media_type=MEDIA_TYPE)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """OpenAPI responses for these errors."""
    return {
        status: {"model": Problem, "description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {}}}
        for status in statuses
    }


def install(app: FastAPI) -> None:
    """Let the app answer every failure with problem details."""
    app.add_exception_handler(MemoryServerError, _expected)
    app.add_exception_handler(RequestValidationError, _misshapen)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(Exception, _unexpected)


def answered(request: Request, error: MemoryServerError | HTTPException) -> Response:
    """A failure outside any route."""
    return (_expected if isinstance(error, MemoryServerError) else _refused)(request, error)


def _expected(request: Request, error: Exception) -> Response:
    assert isinstance(error, MemoryServerError)
    status = STATUSES.get(error.code, 500)
    headers = {"Retry-After": str(RETRY_AFTER)} if error.retryable else None
    return problem(request, status, error.code, str(error), headers=headers)


def _misshapen(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    if any(one["type"] == "json_invalid" for one in found):
        return problem(request, 400, "malformed", "The body is not JSON: check it with a JSON parser.")
    faults = [Fault(where=".".join(map(str, one["loc"])), what=one["msg"]) for one in found]
    detail = "; ".join(f"{fault.where}: {fault.what}" for fault in faults[:3])
    return problem(request, 422, "invalid", detail, faults)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(_allowed(request))
    # Python 3.13 renamed this phrase; the code that programs compare stays.
    code = "content_too_large" if error.status_code == 413 else HTTPStatus(error.status_code).name.lower()
    return problem(request, error.status_code, code, error.detail, headers=headers)


def _unexpected(request: Request, error: Exception) -> Response:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return problem(
        request, 500, "internal", "The server failed and did not carry out the request; its log says why."
    )


def _allowed(request: Request) -> list[str]:
    """All methods of a path: the router only looks at its first route."""
    paths: Mapping[str, Mapping[str, Any]] = request.app.openapi()["paths"]
    path = request.url.path
    if path in paths:
        return sorted(method.upper() for method in paths[path])
    here = (methods for template, methods in paths.items() if compile_path(template)[0].match(path))
    return sorted({method.upper() for methods in here for method in methods})
