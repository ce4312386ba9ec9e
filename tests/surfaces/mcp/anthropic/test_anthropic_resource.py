"""The knowledge graph as a resource that can be watched."""

import json
from collections.abc import Iterator

import pytest

from tests.surfaces.mcp.anthropic.servers import GRAPH_URI, Graph, Json, Starter, entity, graph, relation

ALICE = entity("Alice", "person", "speaks 日本語")
MUTATIONS: dict[str, Json] = {
    "create_entities": {"entities": [entity("New")]},
    "create_relations": {"relations": [relation("Alice", "Alice")]},
    "add_observations": {"observations": [{"entityName": "Alice", "contents": ["sings"]}]},
    "delete_entities": {"entityNames": ["Alice"]},
    "delete_observations": {"deletions": [{"entityName": "Alice", "observations": ["speaks 日本語"]}]},
    "delete_relations": {"relations": [relation("Alice", "Alice")]},
}
NO_OPS: dict[str, Json] = {
    "create_entities": {"entities": [ALICE]},
    "create_relations": {"relations": []},
    "add_observations": {"observations": [{"entityName": "Alice", "contents": ["speaks 日本語"]}]},
    "delete_entities": {"entityNames": ["Nobody"]},
    "delete_observations": {"deletions": [{"entityName": "Nobody", "observations": ["x"]}]},
    "delete_relations": {"relations": [relation("Nobody", "Alice")]},
}
READS: dict[str, Json] = {
    "read_graph": {},
    "search_nodes": {"query": "a"},
    "open_nodes": {"names": ["Alice"]},
}

# Handshake-era subscriptions are what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore:resources/:mcp.MCPDeprecationWarning")


@pytest.fixture
def watched(starter: Starter) -> Iterator[Graph]:
    with starter.start(mode="legacy") as graph:
        graph.create(ALICE)
        graph.subscribe()
        yield graph


def test_one_resource_is_listed(memory: Graph) -> None:
    [resource] = memory.portal.call(lambda: memory.client.list_resources(cache_mode="bypass")).resources
    assert (resource.name, str(resource.uri), resource.title, resource.mime_type) == (
        "knowledge-graph",
        GRAPH_URI,
        "Knowledge Graph",
        "application/json",
    )
    assert resource.description


def test_the_resource_is_the_whole_graph(memory: Graph) -> None:
    memory.create(ALICE)
    contents = memory.resource()
    assert (str(contents.uri), contents.mime_type) == (GRAPH_URI, "application/json")
    assert contents.text == json.dumps(graph([ALICE]), indent=2, ensure_ascii=False)


def test_an_empty_graph_can_be_read(memory: Graph) -> None:
    assert memory.resource().text == json.dumps(graph([]), indent=2)


def test_every_mutation_is_reported_even_when_it_changes_nothing(watched: Graph) -> None:
    for calls in (NO_OPS, MUTATIONS):
        for tool, arguments in calls.items():
            watched.create(ALICE)
            watched.updates()
            watched.call(tool, **arguments)
            assert watched.updates() == [GRAPH_URI], f"{tool} {arguments}"


def test_reading_and_failing_are_not_reported(watched: Graph) -> None:
    calls = READS | {
        "add_observations": {"observations": [{}]},
        "create_relations": {},
    }
    for tool, arguments in calls.items():
        watched.call(tool, **arguments)
        assert watched.updates() == [], tool
    watched.observe("Nobody", "unknown")
    assert watched.updates() == []


def test_nothing_is_reported_after_unsubscribing(watched: Graph) -> None:
    watched.unsubscribe()
    watched.create(entity("Bob"))
    assert watched.updates() == []


def test_nothing_is_reported_to_who_did_not_ask(starter: Starter) -> None:
    with starter.start(mode="legacy") as graph:
        graph.create(ALICE)
        assert graph.updates() == []
