"""What a tool is: a contract for a model, and the use case behind it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, Protocol, get_type_hints

import mcp_types as types
from pydantic import ConfigDict, TypeAdapter, WithJsonSchema

from mcp_memory.errors import MemoryServerError
from mcp_memory.model import Progress, unreported
from mcp_memory.server.mcp import schema
from mcp_memory.server.mcp.schema import Json
from mcp_memory.server.shapes.shape import Shape
from mcp_memory.text.plain import plain

if TYPE_CHECKING:
    from mcp_memory.engine import Engine


def _hints(
    *, read_only: bool = False, destructive: bool = False, idempotent: bool = False
) -> types.ToolAnnotations:
    """All four, because a host must assume the worst of one that is not given."""
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
    input_schema: Json
    describe_output: Callable[[], Json]
    """The schema of what the tool answers; made when it is listed."""
    run: Run
    """Takes an engine that acts for the caller. May block, and may raise a `MemoryServerError`."""

    @cached_property
    def output_schema(self) -> Json:
        return self.describe_output()

    @property
    def only_reads(self) -> bool:
        return bool(self.annotations.read_only_hint)

    def listed(self) -> types.Tool:
        return types.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.input_schema,
            output_schema=self.output_schema,
            annotations=self.annotations,
        )


@dataclass(frozen=True, kw_only=True)
class Resource:
    """Something a host may show and watch. Every tool that writes may have changed it."""

    uri: str
    name: str
    title: str
    description: str
    mime_type: str
    read: Callable[[Engine], str]

    def listed(self) -> types.Resource:
        return types.Resource(
            uri=self.uri,
            name=self.name,
            title=self.title,
            description=self.description,
            mime_type=self.mime_type,
        )


@dataclass(frozen=True, kw_only=True)
class Template:
    """Resources of one kind, one for each name there is."""

    prefix: str
    """What comes before the name in its address; the name is percent-encoded."""
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
        return types.ResourceTemplate(
            uri_template=self.uri_template,
            name=self.name,
            title=self.title,
            description=self.description,
            mime_type=self.mime_type,
        )


@dataclass(frozen=True, kw_only=True)
class PromptArgument:
    name: str
    description: str
    required: bool = False
    complete: Callable[[Engine, str], Sequence[str]] | None = None


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """Words that a person may put before an assistant."""

    name: str
    title: str
    description: str
    arguments: Sequence[PromptArgument] = ()
    render: Callable[[Engine, Mapping[str, str]], str]

    def listed(self) -> types.Prompt:
        return types.Prompt(
            name=self.name,
            title=self.title,
            description=self.description,
            arguments=[
                types.PromptArgument(name=item.name, description=item.description, required=item.required)
                for item in self.arguments
            ],
        )


def refusal(error: MemoryServerError) -> types.CallToolResult:
    """The failure as text only.

    Hosts hold structured content against the output schema even when the call failed, and would
    show their own complaint in place of ours.
    """
    return failed(json.dumps({"error": str(error), "code": error.code}, ensure_ascii=False))


def failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def answer(structured: Json) -> types.CallToolResult:
    """The same twice: structured for programs, and as text for hosts that show only text."""
    text = json.dumps(structured, ensure_ascii=False)
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=structured)


@dataclass(frozen=True, kw_only=True)
class ToolSet:
    """Tools that belong together, and how their server presents itself."""

    name: str
    tools: Sequence[Tool]
    resources: Sequence[Resource] = ()
    templates: Sequence[Template] = ()
    prompts: Sequence[Prompt] = ()
    instructions: str | None = None
    """For the model, once per session: what this memory is good for."""
    server_name: str = "mcp-memory"
    greeting: str = "mcp-memory"
    """What is running, in words for the log."""
    refuse: Callable[[MemoryServerError], types.CallToolResult] = refusal


Moment = Annotated[datetime, WithJsonSchema({"type": "string"})]
"""Without a format in its schema: a date alone will do as well."""


class Arguments(Shape):
    """What a tool, or one item of it, takes. Anything else is an error: it was meant to do something."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)


class NoArguments(Arguments):
    pass


Body = Callable[..., Any]
"""`(engine, arguments) -> answer`, or without arguments: parse, one call, render.

One that takes long has a last parameter `tell`, which it tells how far it is.
"""


def tool(*, title: str, annotations: types.ToolAnnotations) -> Callable[[Body], Tool]:
    """Make a tool of a function: its name, its docstring, the type of its arguments and of its answer.

    The arguments are an `Arguments` model, the answer is a `Shape`.
    """

    def declared(body: Body) -> Tool:
        # The engine is only named: importing it here would load storage before the first call.
        hints = get_type_hints(body, localns={"Engine": object}, include_extras=True)
        _, *rest = inspect.signature(body).parameters
        tells = "tell" in rest
        rest = [name for name in rest if name != "tell"]
        taken: TypeAdapter[Any] = TypeAdapter(hints[rest[0]] if rest else NoArguments)
        given: TypeAdapter[Any] = TypeAdapter(hints["return"])
        takes = schema.input_schema(taken)

        def run(engine: Engine, arguments: Mapping[str, Any], tell: Tell = quietly) -> types.CallToolResult:
            accepted = schema.validated(taken, takes, arguments)
            value = body(engine, *([accepted] if rest else []), **({"tell": tell} if tells else {}))
            return answer(plain(value))

        return Tool(
            name=body.__name__,
            title=title,
            description=inspect.cleandoc(body.__doc__ or ""),
            annotations=annotations,
            input_schema=takes,
            describe_output=partial(schema.output_schema, given),
            run=run,
        )

    return declared
