"""A single request to the shared server, with a timeout."""

from __future__ import annotations

import os
import time
from contextlib import suppress

from mcp_memory import __version__
from mcp_memory.thin import wire
from mcp_memory.thin.endpoint import NoServer, endpoint_of, hello, read_line
from mcp_memory.thin.settings import Unreadable, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mcp_memory.thin.endpoint import Endpoint
    from mcp_memory.thin.settings import ThinSettings


LONGEST_WAIT = 60.0
"""Seconds to wait for another server that can tell the outcome of a request."""

LOOK_EVERY = 0.1
"""Polling interval in seconds while a server starts."""


class Refused(Exception):
    """The server refused the request; the message is the server's."""

    def __init__(self, message: str, code: str = "internal") -> None:
        super().__init__(message)
        self.code = code


class Unanswered(NoServer):
    """A server received the request but did not answer: the outcome is unknown."""


def ask(
    want: str,
    request: Mapping[str, Any] | None = None,
    *,
    timeout: float | None = None,
    start: bool = False,
    environ: Mapping[str, str] | None = None,
) -> Any:
    """The answer of this environment's shared server; None if there is none, or on timeout.

    `want` names a request that the server knows (`server/shared/requests.py`), `request` is what it takes,
    as JSON. `timeout` is the total in seconds. With `start`, a server is started if none runs, without
    waiting for it. Raises `Refused` when the server answers with an error.
    """
    environ = os.environ if environ is None else environ
    try:
        settings = resolve({}, environ, os.getcwd())
        if settings["shared"] == "no":
            return None
        endpoint = endpoint_of(settings, environ)
        return ask_at(endpoint, settings, want, request, timeout=timeout)
    except Unreadable:
        return None
    except NoServer:
        if start and endpoint.why_not() is None:
            _start(endpoint, settings)
        return None


def ask_at(
    endpoint: Endpoint,
    settings: ThinSettings,
    want: str,
    request: Mapping[str, Any] | None = None,
    *,
    timeout: float | None = None,
) -> Any:
    """The same at a known endpoint. Raises `NoServer` when no answer comes."""
    deadline = None if timeout is None else time.monotonic() + timeout
    with endpoint.connect(timeout) as connected:
        try:
            connected.sendall(wire.encoded(hello(settings, __version__, want, request=dict(request or {}))))
            said = wire.decoded(read_line(connected, deadline))
        except OSError as error:
            raise Unanswered(str(error)) from error
    if "error" in said:
        raise Refused(str(said["error"]), str(said.get("code", "internal")))
    return said.get("answer")


def ask_until_answered(
    endpoint: Endpoint, settings: ThinSettings, want: str, request: Mapping[str, Any]
) -> Any:
    """The same for a request that changes something: exactly once, even if the server dies meanwhile. Raises
    `NoServer` only if no server has received it.
    """
    keyed = {**request, "key": f"{os.urandom(12).hex()}/1", "again": False}
    deadline = time.monotonic() + LONGEST_WAIT
    while True:
        try:
            return ask_at(endpoint, settings, want, keyed)
        except Unanswered:
            keyed["again"] = True
        except NoServer:
            if not keyed["again"] or time.monotonic() > deadline:
                raise
            _start(endpoint, settings)
            time.sleep(LOOK_EVERY)


def _start(endpoint: Endpoint, settings: ThinSettings) -> None:
    from mcp_memory.thin.launch import start_server

    with suppress(OSError):
        start_server(endpoint, settings)
