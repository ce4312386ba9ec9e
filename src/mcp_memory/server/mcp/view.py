"""Shows results inside a conversation, in clients with the extension MCP Apps.

The page's parts are one document. A client that announces the extension reads it as a `ui://` resource, shows
it in a sandbox, and hands it the results of the tools that name it. Other clients are not offered it, so
their list of tools stays short.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

import mcp_types as types
from pydantic import Field

from mcp_memory.errors import Invalid
from mcp_memory.server.mcp import schema
from mcp_memory.server.mcp.tools import READS, Arguments, Tell, Tool, complete_adapter, made_once, quietly
from mcp_memory.server.mcp.validation import ArgumentReader

if TYPE_CHECKING:
    from mcp_memory.engine import Engine

EXTENSION = "io.modelcontextprotocol/ui"
MIME_TYPE = "text/html;profile=mcp-app"
URI = "ui://mcp-memory/view"
LOOK_AGAIN = "look_again"

SHOWN: Mapping[str, Mapping[str, bool]] = {
    "memory_recall": {"details": True, "explain": True},
    "recall_memories": {"details": True, "explain": True},
    "open_nodes": {"details": True},
    "get_entity_graph": {},
}
"""Tools whose results are shown, and what a person wants to see that a model does not pay for."""

_DOCUMENT_META: dict[str, Any] = {"ui": {"csp": {}, "prefersBorder": True}}
"""It loads nothing from anywhere, and would like a frame."""


class LookAgain(Arguments):
    tool: str = Field(description="The tool whose result is shown.")
    arguments: dict[str, Any] = Field({}, description="The arguments it had.")


@dataclass(frozen=True)
class View:
    """The document, if the page was built."""

    folder: Traversable = field(default_factory=lambda: resources.files("mcp_memory.server").joinpath("page"))

    @property
    def _file(self) -> Traversable:
        return self.folder.joinpath("app.html")

    def is_built(self) -> bool:
        return self._file.is_file()

    def contents(self) -> types.TextResourceContents:
        text = self._file.read_text("utf-8")
        return types.TextResourceContents(uri=URI, mime_type=MIME_TYPE, text=text, _meta=_DOCUMENT_META)


def is_shown_by(client: types.ClientCapabilities | None) -> bool:
    """Whether the client shows such documents."""
    announced = (client.extensions if client else None) or {}
    return MIME_TYPE in ((announced.get(EXTENSION) or {}).get("mimeTypes") or ())


def naming_view(listed: types.Tool) -> types.Tool:
    """The tool for a client that shows the document; the one that only the document calls, as such."""
    if listed.name in SHOWN:
        return listed.model_copy(update={"meta": {"ui": {"resourceUri": URI}}})
    if listed.name == LOOK_AGAIN:
        return listed.model_copy(update={"meta": {"ui": {"visibility": ["app"]}}})
    return listed


def look_again(tools: Mapping[str, Tool]) -> Tool:
    """A tool for the document alone: a result once more, with everything in it, not counted as use."""
    adapter = made_once(partial(complete_adapter, LookAgain))
    describe_input = made_once(lambda: schema.input_schema(adapter()))
    reader = made_once(lambda: ArgumentReader(adapter(), describe_input()))
    offered = sorted(SHOWN.keys() & tools.keys())

    def run(engine: Engine, arguments: Mapping[str, Any], tell: Tell = quietly) -> types.CallToolResult:
        wanted: LookAgain = reader().read(arguments)
        if wanted.tool not in offered:
            raise Invalid(f"{wanted.tool!r} has no view: choose one of {', '.join(offered)}")
        in_full = {**wanted.arguments, **SHOWN[wanted.tool]}
        return tools[wanted.tool].run(engine.unrecorded(), in_full, tell)

    return Tool(
        name=LOOK_AGAIN,
        title="Look Again",
        description="For the view of results: a result once more, with everything that is kept.",
        annotations=READS,
        describe_input=describe_input,
        describe_output=None,
        run=run,
    )
