"""Calls that are refused."""

from typing import Any

import pytest
from mcp import MCPError
from mcp_types import INVALID_PARAMS

from tests.surfaces.mcp.anthropic.servers import Graph, entity, graph

ALICE = entity("Alice", "person", "likes tea")


@pytest.mark.parametrize(
    ("tool", "arguments", "complaint"),
    [
        ("create_entities", {}, "entities: Invalid input: expected array, received undefined"),
        (
            "create_entities",
            {"entities": "Alice"},
            "entities: Invalid input: expected array, received string",
        ),
        (
            "create_entities",
            {"entities": [{"name": "Alice", "entityType": "person"}]},
            "entities.0.observations: Invalid input: expected array, received undefined",
        ),
        (
            "create_entities",
            {"entities": [ALICE, {"name": 1, "entityType": None, "observations": [True]}]},
            "entities.1.name: Invalid input: expected string, received number, "
            "entities.1.entityType: Invalid input: expected string, received null, "
            "entities.1.observations.0: Invalid input: expected string, received boolean",
        ),
        (
            "create_relations",
            {"relations": [{"from": "Alice", "to": "Alice"}]},
            "relations.0.relationType: Invalid input: expected string, received undefined",
        ),
        (
            "add_observations",
            {"observations": [{"entityName": "Alice", "contents": "tea"}]},
            "observations.0.contents: Invalid input: expected array, received string",
        ),
        (
            "delete_entities",
            {"entityNames": None},
            "entityNames: Invalid input: expected array, received null",
        ),
        (
            "delete_observations",
            {"deletions": [3]},
            "deletions.0: Invalid input: expected object, received number",
        ),
        ("delete_relations", {"relations": {}}, "relations: Invalid input: expected array, received object"),
        ("search_nodes", {}, "query: Invalid input: expected string, received undefined"),
        ("search_nodes", {"query": ["a"]}, "query: Invalid input: expected string, received array"),
        ("open_nodes", {"names": "Alice"}, "names: Invalid input: expected array, received string"),
    ],
)
class TestArgumentsThatDoNotFit:
    def test_are_refused_and_nothing_is_written(
        self, memory: Graph, tool: str, arguments: dict[str, Any], complaint: str
    ) -> None:
        answer = memory.call(tool, **arguments)
        assert answer.failed
        assert answer.structured is None
        assert f"Input validation error: Invalid arguments for tool {tool}: " in answer.text
        assert memory.read() == graph([])

    @pytest.mark.since_2("words it differently")
    def test_are_explained(self, memory: Graph, tool: str, arguments: dict[str, Any], complaint: str) -> None:
        answer = memory.call(tool, **arguments)
        assert answer.text == f"Input validation error: Invalid arguments for tool {tool}: {complaint}"


@pytest.mark.since_2("takes queries of any length")
def test_a_query_of_2049_characters_is_refused(memory: Graph) -> None:
    answer = memory.call("search_nodes", query="a" * 2049)
    assert answer.failed
    assert answer.text == (
        "Input validation error: Invalid arguments for tool search_nodes: "
        "query: Too big: expected string to have <=2048 characters"
    )


@pytest.mark.since_2("answers with a failed result")
def test_an_unknown_tool_is_a_protocol_error(memory: Graph) -> None:
    with pytest.raises(MCPError, match="Tool no_such_tool not found") as refused:
        memory.call("no_such_tool")
    assert refused.value.code == INVALID_PARAMS


def test_the_server_goes_on_after_a_refused_call(memory: Graph) -> None:
    memory.observe("Zed", "unknown")
    memory.call("create_entities")
    memory.create(ALICE)
    assert memory.read() == graph([ALICE])
