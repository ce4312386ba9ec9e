"""Whatever a model sends to a tool is answered or refused in words, and leaves the store sound."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from mcp_memory.engine import Engine
from mcp_memory.errors import MemoryServerError
from mcp_memory.server.mcp.sets import tool_sets
from mcp_memory.server.mcp.tools import Tool
from mcp_memory.storage import Store
from tests.consistency import troubles

TOOLS: dict[str, Tool] = {
    tool.name: tool for tool_set in tool_sets(["graph", "memory", "agent"]) for tool in tool_set.tools
}
KNOWN_NAMES = ["Ana", "Borg", "Ana - tea"]
KNOWN_TEXTS = ["likes tea", "likes  tea", "works on port 8080", "contiene", "parte_de", "person", "unknown"]
NASTY_TEXTS = [
    "", " ", "\0", "a\0b", "\ud800", "x\udfff", "%", "_", "'\"", "\\", "\"OR*", "NEAR(a b)", "{keys}",
    ":space_id", "İ", "ß" * 300, "東京", "x" * 3000, "🙂", "00000000-0000-7000-8000-000000000001", "a\nb",
    "~nobody-here/x", "[" * 5000, "2999-01-01", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00",
]  # fmt: skip
NUMBERS = [0, 1, 2, -1, 50, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**400]
FLOATS = [0.0, 0.5, 1.0, -0.1, 1.5, 1e308, 5e-324, float("nan"), float("inf"), float("-inf")]
WILD: dict[str, list[Any]] = {
    "string": ["\0", "\ud800", "x" * 60_000, "[" * 5000, "~%_'\"\\", "0001-01-01T00:00:00+14:00"],
    "integer": [-1, 2**63, 10**400],
    "number": [-0.1, float("nan"), float("inf")],
    "object": [{"a": 10**400}, {"\0": 1}, {"\ud800": 1}, {"a": float("nan")}, {"x" * 60_000: 1}],
    "array": [[KNOWN_NAMES[0]] * 101, [f"x{number}" for number in range(2000)], "[" * 5000],
}
"""By kind, what a model would hardly send."""

texts = st.sampled_from(KNOWN_NAMES + KNOWN_TEXTS + NASTY_TEXTS)
anything = st.recursive(
    st.none() | st.booleans() | st.sampled_from(NUMBERS + FLOATS) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of the kind that a schema asks for, however wild."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema:
        return st.one_of([fitting(option) for option in schema["anyOf"]])
    match schema.get("type"):
        case "string":
            return texts
        case "integer":
            return st.sampled_from(NUMBERS)
        case "number":
            return st.sampled_from(FLOATS)
        case "boolean":
            return st.booleans()
        case "array":
            return st.lists(fitting(schema["items"]), max_size=3)
        case "object" if "properties" in schema:
            return objects(schema)
    return st.dictionaries(texts, anything, max_size=2)


def objects(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    required = set(schema.get("required", ()))
    properties = {name: fitting(field) for name, field in schema["properties"].items()}
    return st.fixed_dictionaries(
        {name: value for name, value in properties.items() if name in required},
        optional={name: value for name, value in properties.items() if name not in required},
    )


def calls() -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    return st.sampled_from(sorted(TOOLS)).flatmap(
        lambda name: st.tuples(st.just(name), objects({"properties": {}, **TOOLS[name].input_schema}))
    )


def sound(schema: dict[str, Any], name: str = "") -> Any:
    """A value that a tool can work with."""
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return sound(schema["anyOf"][0], name)
    if "properties" in schema:
        return {key: sound(field, key) for key, field in schema["properties"].items()}
    if "items" in schema:
        return [sound(schema["items"], name)]
    text = "2025-01-01" if "date" in name else KNOWN_NAMES[0]
    return {"string": text, "integer": 1, "number": 0.5, "boolean": False}.get(schema["type"], {"a": "b"})


def spoiled(schema: dict[str, Any]) -> Iterator[Any]:
    """Values that are sound but for one place in them."""
    if "anyOf" in schema:
        for option in schema["anyOf"]:
            yield from spoiled(option)
    elif "properties" in schema:
        for key, field in schema["properties"].items():
            yield from ({**sound(schema), key: value} for value in spoiled(field))
    elif "enum" not in schema:
        yield from WILD.get(schema["type"], ())
        if "items" in schema:
            yield from ([value] for value in spoiled(schema["items"]))


def call(engine: Engine, name: str, arguments: dict[str, Any]) -> None:
    """The tool refuses in words, or answers as it promised to."""
    try:
        result = TOOLS[name].run(engine, arguments)
    except MemoryServerError as error:
        str(error).encode()
        return
    structured = result.structured_content
    assert structured is not None
    json.dumps(structured, ensure_ascii=False, allow_nan=False).encode()
    jsonschema.validate(structured, TOOLS[name].output_schema)


@pytest.mark.parametrize("name", TOOLS)
def test_one_wild_argument_is_answered_or_refused(name: str, engine: Engine, store: Store) -> None:
    entity = {"name": KNOWN_NAMES[0], "entityType": "person", "observations": KNOWN_TEXTS[:3]}
    call(engine, "create_entities", {"entities": [entity]})
    for arguments in spoiled({"properties": {}, **TOOLS[name].input_schema}):
        call(engine, name, arguments)
    assert troubles(store) == []


def test_calls_at_random_are_answered_or_refused(engine: Engine, store: Store) -> None:
    @settings(
        max_examples=60,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(calls(), min_size=4, max_size=10))
    def run(several: list[tuple[str, dict[str, Any]]]) -> None:
        for name, arguments in several:
            call(engine, name, arguments)
        assert troubles(store) == []

    run()
