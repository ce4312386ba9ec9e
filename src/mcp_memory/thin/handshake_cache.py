"""Cached handshake and lists, so that a client need not wait for a server to start.

The handshake and the lists of tools, prompts and resources follow from the version and the tool sets.
Answers are cached from every session, as the bytes that the server sent: nothing is parsed. If the started
server's answer differs, the cache is corrected and the client is notified that the list has changed.
"""

from __future__ import annotations

import json
import os

from mcp_memory import __version__
from mcp_memory.thin.settings import cache_folder, digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mcp_memory.thin.settings import ThinSettings

    Message = Mapping[str, Any]

CHANGED = {
    "tools/list": "notifications/tools/list_changed",
    "prompts/list": "notifications/prompts/list_changed",
    "resources/list": "notifications/resources/list_changed",
}
"""Notification for a changed list."""

_DESCRIBING = frozenset({"initialize", "server/discover", "resources/templates/list", *CHANGED})
_ERA = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_VIEWS = "io.modelcontextprotocol/ui"
_ABOUT_THE_CLIENT = frozenset({"clientInfo", "capabilities", "_meta"})
_RESULT = b',"result":'


class HandshakeCache:
    """Cached answers, one file per request, in a folder shared by clients with the same tool sets."""

    def __init__(self, folder: str, shipped: str = "") -> None:
        self._folder = folder
        self._shipped = shipped

    def answer(self, request: Message, era: str) -> bytes | None:
        """The cached answer to a request; None if there is none."""
        result = self._known(_file_name(request, era))
        if not result:
            return None
        return b'{"jsonrpc":"2.0","id":%b,"result":%b}\n' % (json.dumps(request["id"]).encode(), result)

    def learn(self, request: Message, era: str, line: bytes) -> bool:
        """Cache the answer to a request. Returns whether it differs from the cached one."""
        name, result = _file_name(request, era), _result(line)
        known = self._known(name)
        if not result or result == known:
            return False
        self._keep(name, result)
        return known is not None

    def _known(self, name: str) -> bytes | None:
        return _read(os.path.join(self._folder, name)) or _read(os.path.join(self._shipped, name))

    def _keep(self, name: str, result: bytes) -> None:
        file = os.path.join(self._folder, name)
        draft = f"{file}.{os.getpid()}"
        try:
            os.makedirs(self._folder, exist_ok=True)
            with open(draft, "wb") as opened:
                opened.write(result)
            os.replace(draft, file)
        except OSError:
            return  # without the cache a start is only slower


def describes(request: Message) -> bool:
    return request.get("method") in _DESCRIBING


def handshake_cache(settings: ThinSettings, environ: Mapping[str, str]) -> HandshakeCache:
    """The cached descriptions, else those that came with the program."""
    name = folder_name(settings["tools"])
    learned = os.path.join(cache_folder(environ), "descriptions", f"{__version__}-{name}")
    return HandshakeCache(learned, os.path.join(os.path.dirname(__file__), "descriptions", name))


def folder_name(tools: str) -> str:
    sets = "-".join(part.strip() for part in tools.split(","))
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in sets)


def era_of(request: Message, known: str) -> str:
    """The version of the protocol that a request is in; `known` is that of the session.

    The lists of clients that support views mention them, so they are cached separately.
    """
    params = request.get("params") or {}
    meta = params.get("_meta") or {}
    version = params.get("protocolVersion") or meta.get(_ERA)
    if not version:
        return known
    capabilities = params.get("capabilities") or meta.get(_CAPABILITIES) or {}
    return f"{version} {_VIEWS}" if _VIEWS in (capabilities.get("extensions") or {}) else str(version)


def _file_name(request: Message, era: str) -> str:
    """File name of a request: its method, and a digest of its parameters."""
    params = request.get("params") or {}
    asked = {name: value for name, value in params.items() if name not in _ABOUT_THE_CLIENT}
    method = str(request["method"]).replace("/", "-")
    return f"{method}-{digest(json.dumps([era, asked], sort_keys=True))}.json"


def _result(line: bytes) -> bytes:
    """The result part of an answer, after its id; empty for an error."""
    _, found, rest = line.partition(_RESULT)
    end = rest.rstrip()
    return end[:-1] if found and end.endswith(b"}") else b""


def _read(file: str) -> bytes | None:
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except OSError:
        return None
