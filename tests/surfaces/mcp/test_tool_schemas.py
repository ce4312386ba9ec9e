"""What hosts are known to stumble over in a list of tools, for every tool of every set."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mcp_memory.config import TOOL_SETS
from mcp_memory.server.mcp.sets import tool_sets
from mcp_memory.server.mcp.tools import Tool

TOOLS = [
    pytest.param(tool, id=f"{tool_set.name}-{tool.name}")
    for name in TOOL_SETS
    for tool_set in tool_sets([name])
    for tool in tool_set.tools
]


def parts(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema and every schema inside it."""
    yield path, schema
    for name, field in schema.get("properties", {}).items():
        yield from parts(field, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from parts(schema[key], f"{path}.{key}")
    for index, option in enumerate(schema.get("anyOf", [])):
        yield from parts(option, f"{path}|{index}")


def schemas(tool: Tool) -> list[dict[str, Any]]:
    return [schema for schema in (tool.input_schema, tool.output_schema) if schema is not None]


@pytest.mark.parametrize("tool", TOOLS)
def test_names_are_short_and_plain(tool: Tool) -> None:
    assert re.fullmatch(r"[a-z][a-z_]{0,29}", tool.name)
    assert tool.title
    assert len(tool.description) > 20


@pytest.mark.parametrize("tool", TOOLS)
def test_every_hint_is_given(tool: Tool) -> None:
    hints = tool.annotations.model_dump(exclude={"title"})
    assert None not in hints.values()
    assert not (hints["read_only_hint"] and hints["destructive_hint"])


@pytest.mark.parametrize("tool", TOOLS)
def test_schemas_are_valid_and_of_objects(tool: Tool) -> None:
    for schema in schemas(tool):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"


@pytest.mark.parametrize("tool", TOOLS)
def test_schemas_refer_to_nothing_and_every_list_says_of_what(tool: Tool) -> None:
    for schema in schemas(tool):
        for path, part in parts(schema):
            assert not {"$ref", "$defs", "definitions", "allOf", "oneOf"} & part.keys(), path
            assert part.get("type") != "array" or "items" in part, path


@pytest.mark.parametrize("tool", TOOLS)
def test_inputs_have_one_plain_type_each_and_no_choice_at_the_top(tool: Tool) -> None:
    assert "anyOf" not in tool.input_schema
    for path, part in parts(tool.input_schema):
        assert isinstance(part.get("type", "any"), str), path


@pytest.mark.parametrize("tool", TOOLS)
def test_every_argument_is_described(tool: Tool) -> None:
    described = [
        path
        for path, part in parts(tool.input_schema)
        for name, field in part.get("properties", {}).items()
        if not field.get("description") and not _is_list_of_records(field)
    ]
    assert described == []


def _is_list_of_records(field: dict[str, Any]) -> bool:
    """Its fields say what it is; Anthropic's own schemas leave the list itself without words."""
    return any(option.get("items", {}).get("properties") for option in field.get("anyOf", [field]))
