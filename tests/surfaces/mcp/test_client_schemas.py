"""Every tool as the SDKs of the large providers convert it, with the rules of their strict modes."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from anthropic import transform_schema
from google.genai import types as gemini
from openai.lib._pydantic import _ensure_strict_json_schema as to_strict

from mcp_memory.config import TOOL_SETS
from mcp_memory.server.mcp.sets import tool_sets
from mcp_memory.server.mcp.tools import Tool

TOOLS = [
    pytest.param(tool, id=f"{tool_set.name}-{tool.name}")
    for name in TOOL_SETS
    for tool_set in tool_sets([name])
    for tool in tool_set.tools
]
OURS = [case for case in TOOLS if not str(case.id).startswith("anthropic")]

REFUSED_BY_STRICT = {"default", "oneOf", "allOf", "not", "patternProperties", "if", "then", "else", "$ref"}


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from parts(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from parts(value)


@pytest.mark.parametrize("tool", TOOLS)
def test_openai_takes_it_in_strict_mode(tool: Tool) -> None:
    strict = to_strict(copy.deepcopy(tool.input_schema), path=(), root={})
    for part in parts({name: value for name, value in strict.items() if name != "$schema"}):
        if part.get("type") == "object":
            assert part["additionalProperties"] is False
            assert part.get("required", []) == list(part.get("properties", {}))
        if "properties" not in part or "type" in part:
            assert not REFUSED_BY_STRICT & part.keys()


@pytest.mark.parametrize("tool", OURS)
def test_a_strict_client_may_send_null_for_what_it_does_not_mean(tool: Tool) -> None:
    for part in parts(tool.input_schema):
        if part.get("type") == "object":
            for name, field in part.get("properties", {}).items():
                optional = name not in part.get("required", ())
                assert ({"type": "null"} in field.get("anyOf", [])) is optional, name


@pytest.mark.parametrize("tool", TOOLS)
def test_gemini_takes_it(tool: Tool) -> None:
    plain = {name: value for name, value in tool.input_schema.items() if name != "$schema"}
    schema = gemini.JSONSchema.model_validate(plain)
    converted = gemini.Schema.from_json_schema(json_schema=schema, raise_error_on_unsupported_field=True)
    assert set(converted.properties or {}) == set(plain["properties"])
    declared = gemini.FunctionDeclaration(
        name=tool.name, description=tool.description, parameters_json_schema=plain
    )
    assert declared.name == tool.name


@pytest.mark.parametrize("tool", TOOLS)
def test_claude_takes_it(tool: Tool) -> None:
    converted = transform_schema(copy.deepcopy(tool.input_schema))
    assert set(converted.get("properties", {})) == set(tool.input_schema["properties"])
    assert not {"anyOf", "oneOf", "allOf"} & tool.input_schema.keys()
    assert len(tool.name) <= 64
