"""Logging in with a browser: a cookie in exchange for a token or a one-time code."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Response
from pydantic import Field
from starlette.requests import Request

from mcp_memory import __version__
from mcp_memory.engine.page_sessions import SESSION_LIFETIME
from mcp_memory.errors import Invalid
from mcp_memory.model import Rights
from mcp_memory.server.cookies import csrf_token, session_secret, set_cookie
from mcp_memory.server.principal import principal_of
from mcp_memory.server.rest.dependencies import ANYWHERE, Acting
from mcp_memory.server.rest.fields import Body
from mcp_memory.server.shapes.shape import Shape

PATH = "/api/session"
router = APIRouter(prefix=PATH, tags=["session"], responses=ANYWHERE)


_CSRF_TOKEN = Field(description="To be sent as `X-CSRF-Token` with every change made with the cookie.")

Status = Literal["open", "logged_in", "login_needed"]
_STATUSES: dict[str, Status] = {
    "open": "open",
    "token": "logged_in",
    "page": "logged_in",
    "nobody": "login_needed",
}


class Login(Body):
    """Either a token or a code."""

    token: str = Field("", max_length=1000, description="A token, as other callers send it in a header.")
    code: str = Field("", max_length=1000, description="A one-time code from `mcp-memory open`.")


class CurrentSession(Shape):
    """The caller, and their rights."""

    status: Status = Field(description="`open`: this server requires no token.")
    client: str = Field(description="The caller's name in the journal.")
    space: str
    rights: Rights
    csrf_token: str | None = _CSRF_TOKEN
    version: str


class LoggedIn(Shape):
    csrf_token: str = _CSRF_TOKEN


class LoggedOut(Shape):
    status: Literal["logged_out"] = "logged_out"


@router.get("")
def read_session(request: Request) -> CurrentSession:
    """Identify the caller. Open to everyone, so that a page knows whether to ask for a token."""
    who = principal_of(request)
    return CurrentSession.of(
        who.caller,
        who,
        status=_STATUSES[who.via],
        csrf_token=csrf_token(session_secret(request.headers)) if who.via == "page" else None,
        version=__version__,
    )


@router.post("")
def log_in(login: Login, request: Request, response: Response, engine: Acting) -> LoggedIn:
    """Exchange a token or a one-time code for a login cookie."""
    sessions = engine.page_sessions
    if bool(login.token) == bool(login.code):
        raise Invalid("send either a token or a code")
    secret = (
        sessions.redeem(login.code)
        if login.code
        else sessions.log_in(login.token, request.app.state.api_token)
    )
    set_cookie(request, response, secret, int(SESSION_LIFETIME.total_seconds()))
    return LoggedIn(csrf_token=csrf_token(secret))


@router.delete("")
def log_out(request: Request, response: Response, engine: Acting) -> LoggedOut:
    """End the session of the cookie."""
    engine.page_sessions.log_out(session_secret(request.headers))
    set_cookie(request, response, "", 0)
    return LoggedOut()
