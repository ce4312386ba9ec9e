"""The page's login cookie, and the proof that a request with it comes from the page."""

from __future__ import annotations

import hashlib
import hmac

from starlette.datastructures import Headers
from starlette.requests import Request, cookie_parser
from starlette.responses import Response

CSRF_HEADER = "x-csrf-token"
CLIENT_HEADER = "x-memory-client"
"""The page's client name in the journal when no token names it."""


def cookie_name(host: str) -> str:
    """Cookies are shared between ports, so the name contains the server's port."""
    _, _, port = host.rpartition(":")
    return f"mcp_memory_{port if port.isdecimal() else 'page'}"


def session_secret(headers: Headers) -> str:
    """The secret in the login cookie; empty without one."""
    return cookie_parser(headers.get("cookie", "")).get(cookie_name(headers.get("host", "")), "")


def csrf_token(secret: str) -> str:
    """The CSRF token, which the page must send with each change."""
    return hashlib.sha256(f"csrf {secret}".encode()).hexdigest()


def proves_origin(headers: Headers, secret: str) -> bool:
    return hmac.compare_digest(headers.get(CSRF_HEADER, "").encode(), csrf_token(secret).encode())


def set_cookie(request: Request, response: Response, secret: str, seconds: int) -> None:
    response.set_cookie(
        cookie_name(request.headers.get("host", "")),
        secret,
        max_age=seconds,
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
