"""The definition of a tool: its contract for a model, and the use case behind it."""

from __future__ import annotations

import inspect
import json
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar, get_type_hints

import mcp_types as types
from pydantic import ConfigDict, Field, TypeAdapter, WithJsonSchema
from pydantic_core import to_json

from mcp_memory.errors import MemoryServerError
from mcp_memory.model import Progress, unreported
from mcp_memory.server.mcp import schema
from mcp_memory.server.mcp.offered_tools import ALL_NAMES, about_offered
from mcp_memory.server.mcp.schema import Json
from mcp_memory.server.mcp.validation import ArgumentReader
from mcp_memory.server.shapes.inputs import Kinds
from mcp_memory.server.shapes.shape import Shape
from mcp_memory.text.budget import within
from mcp_memory.text.plain import plain

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from mcp_memory.engine import Engine

T = TypeVar("T")


def _hints(
    *, read_only: bool = False, destructive: bool = False, idempotent: bool = False
) -> types.ToolAnnotations:
    """All four hints, because hosts assume the worst of a missing one."""
    return types.ToolAnnotations(
        read_only_hint=read_only,
        destructive_hint=destructive,
        idempotent_hint=idempotent,
        open_world_hint=False,
    )


READS = _hints(read_only=True, idempotent=True)
ADDS = _hints()
CHANGES = _hints(idempotent=True)
DELETES = _hints(destructive=True, idempotent=True)
TAKES_BACK = _hints(destructive=True)

Tell = Progress
quietly = unreported


class Run(Protocol):
    def __call__(
        self, engine: Engine, arguments: Mapping[str, Any], tell: Tell = quietly, /
    ) -> types.CallToolResult: ...


@dataclass(frozen=True, kw_only=True)
class Tool:
    name: str
    title: str
    description: str
    """Written for a model: when to use the tool, and when not."""
    annotations: types.ToolAnnotations
    describe_input: Callable[[], Json]
    """The schema of its arguments, built when the tool is listed or called."""
    describe_output: Callable[[], Json] | None
    """The same for its result; None: not published."""
    run: Run
    """Takes an engine that acts for the caller. May block, and may raise a `MemoryServerError`."""
    asks: str = ""
    """The argument that is embedded as a question."""
    says: str = ""
    """The argument that is embedded as a text to be stored."""
    reports_progress: bool = False
    """Whether `run` reports progress."""

    @cached_property
    def input_schema(self) -> Json:
        return self.describe_input()

    @cached_property
    def output_schema(self) -> Json | None:
        return self.describe_output and self.describe_output()

    def listing(self, *fields: str, description: str = "") -> Tool:
        """The same tool with only these fields in its schema, and without an output schema. It still accepts
        all fields. A field with a `!` is required here.
        """
        narrow = partial(_narrowed, self.describe_input, fields)
        said = description or self.description
        return replace(self, describe_input=narrow, describe_output=None, description=said)

    def foresee(self, engine: Engine, arguments: Mapping[str, Any]) -> None:
        """Let the model begin with the text of a call, before a thread is found that carries it out."""
        text = arguments.get(self.asks or self.says)
        if isinstance(text, str):
            engine.foresee(text, "query" if self.asks else "passage")

    @property
    def only_reads(self) -> bool:
        return bool(self.annotations.read_only_hint)

    def listed(self, offered: Collection[str] = ALL_NAMES) -> types.Tool:
        """The tool as clients see it; the description mentions only offered tools."""
        return types.Tool(
            name=self.name,
            title=self.title,
            description=about_offered(self.description, offered),
            input_schema=_about_offered(self.input_schema, offered),
            output_schema=self.output_schema,
            annotations=self.annotations,
        )


@dataclass(frozen=True, kw_only=True)
class Resource:
    """Data that a host may show and watch. Every tool that writes may change it."""

    uri: str
    name: str
    title: str
    description: str
    mime_type: str
    read: Callable[[Engine], str]

    def listed(self) -> types.Resource:
        return types.Resource.model_validate(self, from_attributes=True)


@dataclass(frozen=True, kw_only=True)
class Template:
    """Resources of one kind, one for each name."""

    prefix: str
    """The part of the URI before the name, which is percent-encoded."""
    variable: str
    name: str
    title: str
    description: str
    mime_type: str
    read: Callable[[Engine, str], str]
    complete: Callable[[Engine, str], Sequence[str]]
    """Names that begin with this."""

    @property
    def uri_template(self) -> str:
        return f"{self.prefix}{{{self.variable}}}"

    def listed(self) -> types.ResourceTemplate:
        return types.ResourceTemplate.model_validate(self, from_attributes=True)


@dataclass(frozen=True, kw_only=True)
class PromptArgument:
    name: str
    description: str
    required: bool = False
    complete: Callable[[Engine, str], Sequence[str]] | None = None


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A prompt that a person may choose."""

    name: str
    title: str
    description: str
    arguments: Sequence[PromptArgument] = ()
    text: str = ""
    """A fixed text, without sentences about tools that are not offered."""
    render: Callable[[Engine, Mapping[str, str]], str] | None = None
    """Instead of a fixed text: built from memories."""
    about: Collection[str] = ()
    """Offered only with one of these tools."""

    def listed(self) -> types.Prompt:
        return types.Prompt.model_validate(self, from_attributes=True)


def _narrowed(describe: Callable[[], Json], fields: Sequence[str]) -> Json:
    return schema.listed_only(describe(), fields)


def _about_offered(described: Json, offered: Collection[str]) -> Json:
    """The schema with descriptions that mention only offered tools."""
    if offered is ALL_NAMES:
        return described
    kept: Json = {}
    for key, value in described.items():
        if key == "description" and isinstance(value, str):
            kept[key] = about_offered(value, offered)
        elif isinstance(value, dict):
            kept[key] = _about_offered(value, offered)
        elif isinstance(value, list):
            kept[key] = [_about_offered(one, offered) if isinstance(one, dict) else one for one in value]
        else:
            kept[key] = value
    return kept


def refusal(error: MemoryServerError) -> types.CallToolResult:
    """The failure as text only. Hosts validate structured content against the output schema even for a failed
    call, and would show their own error instead of ours.
    """
    return failed(json.dumps({"error": str(error), "code": error.code}, ensure_ascii=False))


def failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def answer(structured: Json) -> types.CallToolResult:
    """The result twice: structured for programs, and as text, compact, for hosts that show only text."""
    text = to_json(structured, inf_nan_mode="null").decode()
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=structured)


@dataclass(frozen=True, kw_only=True)
class ToolSet:
    """Tools that belong together, and how their server presents itself."""

    name: str
    tools: Sequence[Tool]
    resources: Sequence[Resource] = ()
    templates: Sequence[Template] = ()
    prompts: Sequence[Prompt] = ()
    has_view: bool = False
    """Whether results are shown inside the conversation, by clients that can do so."""
    instruct: Callable[[Collection[str]], str] | None = None
    """For the model, once per session: what this memory is good for, given the tools that are offered."""
    server_name: str = "mcp-memory"
    greeting: str = "mcp-memory"
    """Description for the log."""
    refuse: Callable[[MemoryServerError], types.CallToolResult] = refusal


Moment = Annotated[datetime, WithJsonSchema({"type": "string"})]
"""Without a format in its schema, because a date alone is accepted too."""


KINDS: Kinds = {tuple[str, ...]: list[str], Mapping[str, Any]: dict[str, Any], datetime: Moment}
"""How arguments read the types of the domain. The engine checks numbers, and says what to do."""


class Arguments(Shape):
    """Arguments of a tool, or of one item. Unknown fields are errors."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)


class NoArguments(Arguments):
    pass


class Sized(Arguments):
    """Arguments of a tool whose answer can be large."""

    max_tokens: int | None = Field(None, ge=50, description="Cut the answer to about this many tokens.")

    def values(self, kind: type[DataclassInstance] | None = None) -> dict[str, Any]:
        """Without the budget: `tool` cuts the answer, not the use case."""
        return {name: value for name, value in super().values(kind).items() if name != "max_tokens"}


Body = Callable[..., Any]
"""`(engine, arguments) -> answer`, or without arguments: parse, one call, render.

A slow one has a last parameter `tell` for progress.
"""


_making = threading.RLock()


def made_once(make: Callable[[], T]) -> Callable[[], T]:
    """A value that is made by its first use, in one thread at a time.

    Two threads that complete the same pydantic adapter undo each other's work for a moment, which failed a
    call when two assistants began with the same tool.
    """
    made: list[T] = []

    def get() -> T:
        if not made:
            with _making:
                if not made:
                    made.append(make())
        return made[0]

    return get


def complete_adapter(takes: type[Arguments]) -> TypeAdapter[Any]:
    adapter = TypeAdapter[Any](takes)
    adapter.rebuild()
    return adapter


def tool(
    *, title: str, annotations: types.ToolAnnotations, asks: str = "", says: str = ""
) -> Callable[[Body], Tool]:
    """Make a tool of a function: its name, its docstring, the type of its arguments and of its answer.

    The arguments are an `Arguments` model, the answer is a `Shape`. `asks` and `says`: see `Tool`.
    """

    def declared(body: Body) -> Tool:
        # Not imported: that would load the storage before the first call.
        hints = get_type_hints(body, localns={"Engine": object}, include_extras=True)
        _, *rest = inspect.signature(body).parameters
        tells = "tell" in rest
        rest = [name for name in rest if name != "tell"]
        takes: type[Arguments] = hints[rest[0]] if rest else NoArguments
        adapter = made_once(partial(complete_adapter, takes))
        describe_input = made_once(lambda: schema.input_schema(adapter()))
        reader = made_once(lambda: ArgumentReader(adapter(), describe_input()))
        sized = "max_tokens" in takes.model_fields

        def describe_output() -> Json:
            described = schema.output_schema(TypeAdapter(hints["return"]))
            if sized:
                described["properties"].setdefault("truncated", {"type": "boolean"})
            return described

        def run(engine: Engine, arguments: Mapping[str, Any], tell: Tell = quietly) -> types.CallToolResult:
            accepted = reader().read(arguments)
            value = body(engine, *([accepted] if rest else []), **({"tell": tell} if tells else {}))
            structured = plain(value)
            if sized and accepted.max_tokens is not None:
                structured = within(structured, accepted.max_tokens)
            return answer(structured)

        return Tool(
            name=body.__name__,
            title=title,
            description=inspect.cleandoc(body.__doc__ or ""),
            annotations=annotations,
            describe_input=describe_input,
            describe_output=describe_output,
            run=run,
            asks=asks,
            says=says,
            reports_progress=tells,
        )

    return declared
