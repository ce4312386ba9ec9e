"""Who the server says it is and what it offers."""

from collections.abc import Iterator
from typing import Any

import pytest
from mcp import MCPError
from mcp_types import METHOD_NOT_FOUND

from tests.surfaces.mcp.anthropic.servers import Graph, Json, Starter

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}


def record(closed: bool, **properties: Json) -> Json:
    schema: Json = {"type": "object", "properties": properties}
    if properties:
        schema["required"] = list(properties)
    return schema | ({"additionalProperties": False} if closed else {})


def records(item: Json) -> Json:
    return {"type": "array", "items": item}


def entities(closed: bool) -> Json:
    return records(record(closed, name=TEXT, entityType=TEXT, observations=TEXTS))


def relations(closed: bool) -> Json:
    return records(record(closed, **{"from": TEXT}, to=TEXT, relationType=TEXT))


GRAPH = record(True, entities=entities(True), relations=relations(True))
STATUS = record(True, success={"type": "boolean"}, message=TEXT)
INPUTS = {
    "create_entities": record(False, entities=entities(False)),
    "create_relations": record(False, relations=relations(False)),
    "add_observations": record(False, observations=records(record(False, entityName=TEXT, contents=TEXTS))),
    "delete_entities": record(False, entityNames=TEXTS),
    "delete_observations": record(
        False, deletions=records(record(False, entityName=TEXT, observations=TEXTS))
    ),
    "delete_relations": record(False, relations=relations(False)),
    "read_graph": record(False),
    "search_nodes": record(False, query=TEXT),
    "open_nodes": record(False, names=TEXTS),
}
OUTPUTS = {
    "create_entities": record(True, entities=entities(True)),
    "create_relations": record(True, relations=relations(True)),
    "add_observations": record(True, results=records(record(True, entityName=TEXT, addedObservations=TEXTS))),
    "delete_entities": STATUS,
    "delete_observations": STATUS,
    "delete_relations": STATUS,
    "read_graph": GRAPH,
    "search_nodes": GRAPH,
    "open_nodes": GRAPH,
}
WRITES = {
    "read_only_hint": False,
    "destructive_hint": False,
    "idempotent_hint": False,
    "open_world_hint": False,
}
DELETES = WRITES | {"destructive_hint": True, "idempotent_hint": True}
READS = WRITES | {"read_only_hint": True, "idempotent_hint": True}


def meaning(schema: Any) -> Any:
    """A schema without what only people read, and without what release 2.0.0 added."""
    if isinstance(schema, list):
        return [meaning(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    left_out = {"description", "$schema", "maxLength"}
    return {
        key: meaning(value) for key, value in schema.items() if key not in left_out or isinstance(value, dict)
    }


def tools(memory: Graph) -> dict[str, Any]:
    listed = memory.portal.call(lambda: memory.client.list_tools(cache_mode="bypass"))
    return {tool.name: tool for tool in listed.tools}


@pytest.fixture
def greeted(starter: Starter) -> Iterator[Graph]:
    """A server that was greeted with the initialize handshake."""
    with starter.start(mode="legacy") as graph:
        yield graph


def test_the_handshake_tells_name_and_capabilities_and_no_instructions(greeted: Graph) -> None:
    assert greeted.client.server_info is not None
    assert greeted.client.server_info.name == "memory-server"
    assert greeted.client.instructions is None
    assert greeted.client.server_capabilities.model_dump(by_alias=True, exclude_none=True) == {
        "resources": {"subscribe": True, "listChanged": True},
        "tools": {"listChanged": True},
    }


def test_there_are_no_prompts(memory: Graph) -> None:
    with pytest.raises(MCPError) as refused:
        memory.portal.call(memory.client.list_prompts)
    assert refused.value.code == METHOD_NOT_FOUND


def test_starting_is_announced_on_stderr(starter: Starter) -> None:
    with starter.start() as graph:
        graph.read()
    assert "Knowledge Graph MCP Server running on stdio" in graph.stderr_text()


def test_the_nine_tools_are_listed_in_order_with_their_titles(memory: Graph) -> None:
    assert [(name, tool.title) for name, tool in tools(memory).items()] == [
        ("create_entities", "Create Entities"),
        ("create_relations", "Create Relations"),
        ("add_observations", "Add Observations"),
        ("delete_entities", "Delete Entities"),
        ("delete_observations", "Delete Observations"),
        ("delete_relations", "Delete Relations"),
        ("read_graph", "Read Graph"),
        ("search_nodes", "Search Nodes"),
        ("open_nodes", "Open Nodes"),
    ]


def test_every_tool_is_described(memory: Graph) -> None:
    assert [name for name, tool in tools(memory).items() if not tool.description] == []


def test_inputs_are_open_and_every_field_is_required(memory: Graph) -> None:
    assert {name: meaning(tool.input_schema) for name, tool in tools(memory).items()} == INPUTS


def test_outputs_are_closed_at_every_level(memory: Graph) -> None:
    outputs = {name: meaning(tool.output_schema) for name, tool in tools(memory).items()}
    outputs["create_entities"]["properties"].pop("skipped", None)
    assert outputs == OUTPUTS


@pytest.mark.since_2("never says which entities it skipped")
def test_create_entities_may_say_which_ones_it_skipped(memory: Graph) -> None:
    assert tools(memory)["create_entities"].output_schema["properties"]["skipped"] == TEXTS


@pytest.mark.since_2("takes queries of any length")
def test_a_query_has_at_most_2048_characters(memory: Graph) -> None:
    assert tools(memory)["search_nodes"].input_schema["properties"]["query"]["maxLength"] == 2048


@pytest.mark.since_2("names draft-07")
def test_schemas_are_of_the_2020_12_draft(memory: Graph) -> None:
    schemas = [
        schema for tool in tools(memory).values() for schema in (tool.input_schema, tool.output_schema)
    ]
    assert {schema["$schema"] for schema in schemas} == {"https://json-schema.org/draft/2020-12/schema"}


def test_every_hint_is_given(memory: Graph) -> None:
    expected = dict.fromkeys(("create_entities", "create_relations", "add_observations"), WRITES)
    expected |= dict.fromkeys(("delete_entities", "delete_observations", "delete_relations"), DELETES)
    expected |= dict.fromkeys(("read_graph", "search_nodes", "open_nodes"), READS)
    hints = {name: tool.annotations.model_dump(exclude_none=True) for name, tool in tools(memory).items()}
    assert {name: {hint: given[hint] for hint in WRITES} for name, given in hints.items()} == expected
