"""What a server says about itself, remembered, so that a client need not wait while one starts.

The handshake and the lists of tools, prompts and resources follow from the version and the tool sets.
Answers are learned from every session. One that the server that comes up does not confirm is corrected,
and the client is told that the list has changed.
"""

from __future__ import annotations

import json
import os

from mcp_memory import __version__
from mcp_memory.thin import wire
from mcp_memory.thin.settings import cache_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mcp_memory.thin.settings import Settings

    Message = Mapping[str, Any]

CHANGED = {
    "tools/list": "notifications/tools/list_changed",
    "prompts/list": "notifications/prompts/list_changed",
    "resources/list": "notifications/resources/list_changed",
}
"""How a client hears that a list it has seen is another."""

_DESCRIBING = frozenset({"initialize", "server/discover", "resources/templates/list", *CHANGED})
_ERA = "io.modelcontextprotocol/protocolVersion"
_ABOUT_THE_CLIENT = frozenset({"clientInfo", "capabilities", "_meta"})


class Description:
    """Answers by question, in a file that all clients with the same tool sets share."""

    def __init__(self, file: str, shipped: str = "") -> None:
        self._file = file
        self._answers: dict[str, Any] | None = None
        self._shipped = shipped

    def answer(self, request: Message, era: str) -> Any:
        """The result that such a request had before; None if it is not known."""
        key = _key(request, era)
        return self._known().get(key) if key else None

    def learn(self, request: Message, era: str, result: Any) -> bool:
        """Keep a result; whether it is another than the one that was known."""
        key = _key(request, era)
        if not key or self._known().get(key) == result:
            return False
        known_before = key in self._known()
        self._known()[key] = result
        self._write()
        return known_before

    def _known(self) -> dict[str, Any]:
        if self._answers is None:
            self._answers = _read(self._file) or _read(self._shipped)
        return self._answers

    def _write(self) -> None:
        draft = f"{self._file}.{os.getpid()}"
        try:
            os.makedirs(os.path.dirname(self._file), exist_ok=True)
            with open(draft, "wb") as opened:
                opened.write(wire.encoded(self._answers))
            os.replace(draft, self._file)
        except OSError:
            return  # without a cache it is only slower


def describes(request: Message) -> bool:
    return request.get("method") in _DESCRIBING


def description_of(settings: Settings, environ: Mapping[str, str]) -> Description:
    """What was learned before, else what came with the program."""
    name = file_name(settings["tools"])
    learned = os.path.join(cache_folder(environ), "descriptions", f"{__version__}-{name}")
    return Description(learned, os.path.join(os.path.dirname(__file__), "descriptions", name))


def file_name(tools: str) -> str:
    sets = "-".join(part.strip() for part in tools.split(","))
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in sets) + ".json"


def era_of(request: Message, known: str) -> str:
    """The version of the protocol that a request is in; `known` is that of the session."""
    params = request.get("params") or {}
    return str(params.get("protocolVersion") or (params.get("_meta") or {}).get(_ERA) or known)


def _key(request: Message, era: str) -> str:
    if not describes(request):
        return ""
    params = {
        name: value for name, value in (request.get("params") or {}).items() if name not in _ABOUT_THE_CLIENT
    }
    return json.dumps([request["method"], era, params], sort_keys=True)


def _read(file: str) -> dict[str, Any]:
    try:
        with open(file, "rb") as opened:
            return wire.decoded(opened.read())
    except OSError:
        return {}
