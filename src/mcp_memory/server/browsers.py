"""Protects against web pages of other origins: host names, Origin, fetch metadata, and CORS.

A page in a browser can send requests to this machine, and can make its own name resolve to it (DNS
rebinding). Programs send none of these headers, and are not affected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from mcp_memory.server.refusals import Refusal

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_HOST = re.compile(r"(?:\[(?P<six>[0-9a-fA-F:.]+)\]|(?P<name>[^\[\]:@/?#\s]+))(?::\d{1,5})?")

PREFLIGHT_HEADERS: Mapping[str, str] = {
    "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
    "access-control-allow-headers": (
        "authorization, content-type, accept, if-match, if-none-match, idempotency-key, last-event-id, "
        "x-memory-space, mcp-session-id, mcp-protocol-version"
    ),
    "access-control-max-age": "600",
}
EXPOSED_HEADERS = "etag, location, retry-after, link, mcp-session-id"


@dataclass(frozen=True, kw_only=True)
class BrowserRules:
    hosts: frozenset[str] = LOOPBACK
    """Allowed host names; empty: any."""
    origins: frozenset[str] = frozenset()
    """Other origins whose pages may call the server."""

    def check(self, headers: Headers, *, page: bool) -> None:
        """Raise `Refusal` for a request from a page of another origin; `page`: it is for our own page."""
        self._check_host(headers)
        if headers.get("origin") in self.origins:
            return
        self._check_origin(headers)
        self._check_fetch_site(headers, page)

    def cors(self, headers: Headers) -> dict[str, str]:
        """Headers that let an allowed page read the answer."""
        # Also without an origin: a cached answer must not serve a page that may read it, or the reverse.
        varying = {"vary": "Origin"} if self.origins else {}
        origin = headers.get("origin")
        if origin is None or origin not in self.origins:
            return varying
        return {
            "access-control-allow-origin": origin,
            "access-control-expose-headers": EXPOSED_HEADERS,
            **varying,
        }

    def is_preflight(self, method: str, headers: Headers) -> bool:
        return (
            method == "OPTIONS"
            and "access-control-request-method" in headers
            and headers.get("origin") in self.origins
        )

    def _check_host(self, headers: Headers) -> None:
        if self.hosts and host_name(headers.get("host", "")) not in self.hosts:
            raise Refusal(421, "This host name is not allowed. Set API_ALLOWED_HOSTS to add it.")

    def _check_origin(self, headers: Headers) -> None:
        origin = headers.get("origin")
        if origin is None:
            return
        place = _place(origin)
        if not place or place != headers.get("host"):
            raise Refusal(403, "Web pages of other origins may not call this server.")

    def _check_fetch_site(self, headers: Headers, page: bool) -> None:
        # Images, scripts and form-less GETs carry no Origin; browsers say in this header where they come
        # from. Another site may only link to the page itself.
        if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
            return
        if page and headers.get("sec-fetch-mode") == "navigate":
            return
        raise Refusal(403, "Web pages of other sites may not call this server.")


def host_name(host: str) -> str:
    """The name in a Host header, without its port; empty if the header is malformed."""
    match = _HOST.fullmatch(host)
    return (match["six"] or match["name"]).lower() if match else ""


def _place(origin: str) -> str:
    """The name and port in an Origin header; empty if the header is malformed."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""
