"""Storing and recalling over a real connection, beyond the documented examples."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.surfaces.speaking import Conversation, Json, Refused, conversation


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conversation]:
    with conversation(tmp_path_factory.mktemp("storing"), "--tools", "memory", details=True) as opened:
        yield opened


@pytest.fixture
def memory(server: Conversation) -> Conversation:
    """The same server for all, emptied for each."""
    server.call("delete_memories", before_date="2999-01-01")
    return server


def contents(answer: Json) -> list[str]:
    return [found["content"] for found in answer["memories"]]


def test_everything_that_is_given_comes_back(memory: Conversation) -> None:
    stored = memory.call(
        "store_memory",
        content="Alice manages the frontend team",
        tags=["people"],
        source="chat",
        context="asked who leads whom",
        metadata={"since": 2024, "deep": {"list": [1, None]}},
        entity_names=["Alice"],
    )
    [found] = memory.call("recall_memories", query="Who manages the team?")["memories"]
    for field in ("id", "tags", "source", "context", "metadata", "entity_names", "created_at"):
        assert found[field] == stored[field]
    assert "by content and meaning" in stored["message"]


def test_what_differs_in_a_number_is_kept_and_reported(memory: Conversation) -> None:
    first = memory.call("store_memory", content="The server listens on port 8080")
    second = memory.call("store_memory", content="The server listens on port 8081")
    assert second["outcome"] == "created"
    [similar] = second["similar"]
    assert similar["id"] == first["id"]
    assert "8080" in similar["reason"]


def test_results_are_narrowed_by_entity_source_and_date(memory: Conversation) -> None:
    memory.call("store_memory", content="Rex sleeps a lot", entity_names=["Rex"], source="vet")
    memory.call("store_memory", content="Tom sleeps a lot", entity_names=["Tom"])
    for narrowed in ({"entity_name": "Rex"}, {"source": "vet"}):
        assert contents(memory.call("recall_memories", query="sleeps", **narrowed)) == ["Rex sleeps a lot"]
    assert memory.call("recall_memories", query="sleeps", before_date="2020-01-01")["memories"] == []
    assert memory.call("recall_memories", query="sleeps", after_date="2020-01-01")["total_found"] == 2


def test_graph_search_follows_relations(memory: Conversation) -> None:
    memory.call(
        "create_relations",
        relations=[{"source": "Ann", "target": "Ben", "relation_type": "manages", "strength": 0.9}],
    )
    memory.call("store_memory", content="Ben plays chess", entity_names=["Ben"])
    answer = memory.call("recall_memories", query="What is around Ann?", search_mode="graph", explain=True)
    assert contents(answer) == ["Ben plays chess"]
    [found] = answer["memories"]
    assert found["score"] == 0.9
    assert found["explanation"]["graph"]["through"] == "Ben"
    assert answer["search_mode"] == "graph, from Ann"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"content": ""}, "empty"),
        ({"content": "x" * 50_001}, "50,000"),
        ({"content": "a\0b"}, "NUL"),
        ({"content": "fine", "confidence": 1.5}, "between 0 and 1"),
        ({"content": "fine", "urgency": 1}, "not known here"),
        ({}, "content is missing"),
    ],
)
def test_a_bad_memory_is_refused_with_the_reason(memory: Conversation, arguments: Json, words: str) -> None:
    with pytest.raises(Refused, match=words):
        memory.call("store_memory", **arguments)
    assert memory.call("get_memory_stats")["total_memories"] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"query": " "}, "empty"),
        ({"query": "x", "limit": 101}, "between 1 and 100"),
        ({"query": "x", "limit": 0}, "between 1 and 100"),
        ({"query": "x", "min_confidence": 2}, "between 0 and 1"),
        ({"query": "x", "entity_name": "Nobody"}, "Nobody"),
        ({"query": "x", "search_mode": "psychic"}, "search_mode"),
    ],
)
def test_a_bad_search_is_refused_with_the_reason(memory: Conversation, arguments: Json, words: str) -> None:
    with pytest.raises(Refused, match=words):
        memory.call("recall_memories", **arguments)
