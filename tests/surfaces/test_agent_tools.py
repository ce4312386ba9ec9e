"""The three tools of the agent set over a real connection; and one fact, seen by all three sets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.surfaces.speaking import Conversation, Refused, conversation


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conversation]:
    with conversation(tmp_path_factory.mktemp("agent"), "--tools", "graph,memory,agent") as opened:
        yield opened


@pytest.fixture
def agent(server: Conversation) -> Conversation:
    """The same server for all, emptied for each."""
    server.call("delete_memories", before_date="2999-01-01")
    return server


def contents(answer: dict[str, object]) -> list[str]:
    return [found["content"] for found in answer["memories"]]  # type: ignore[attr-defined]


def test_the_agent_set_alone_has_three_tools(tmp_path: Path) -> None:
    with conversation(tmp_path, "--tools", "agent") as alone:
        assert alone.tools.keys() == {"memory_save", "memory_recall", "memory_delete"}


def test_a_saved_fact_is_recalled_with_its_relevance(agent: Conversation) -> None:
    saved = agent.call("memory_save", content="The user's dog is called Rex", source="user stated explicitly")
    assert (saved["success"], saved["message"]) == (True, "Memory saved successfully")
    answer = agent.call("memory_recall", query="What is the name of the dog?")
    [found] = answer["memories"]
    assert (found["id"], found["memory_type"], found["importance"]) == (saved["memory_id"], "fact", 0.5)
    assert 0 < found["relevance_score"] <= 1
    assert answer["total_found"] == 1
    assert "> The user's dog is called Rex" in answer["summary"]
    assert answer["mode"] == "hybrid"


def test_a_preference_with_high_importance(agent: Conversation) -> None:
    agent.call("memory_save", content="Prefers short answers", memory_type="preference", importance=0.95)
    [found] = agent.call("memory_recall", mode="important")["memories"]
    assert (found["memory_type"], found["importance"]) == ("preference", 0.95)


def test_a_decision_with_an_association(agent: Conversation) -> None:
    old = agent.call("memory_save", content="Deploys run on Jenkins", memory_type="decision")
    agent.call(
        "memory_save",
        content="From May on, Buildkite does all of it",
        memory_type="decision",
        associations=[{"target_id": old["memory_id"], "relation_type": "updates", "weight": 0.9}],
    )
    answer = agent.call("memory_recall", query="Where do deploys run, Jenkins?", explain=True)
    assert contents(answer) == ["From May on, Buildkite does all of it", "Deploys run on Jenkins"]
    assert [found["superseded"] for found in answer["memories"]] == [False, True]
    assert answer["memories"][0]["explanation"]["association"] > 0


def test_something_very_similar_is_linked_as_an_update(agent: Conversation) -> None:
    old = agent.call("memory_save", content="The meeting is on March 14th")
    new = agent.call("memory_save", content="The meeting is on March 15th")
    [link] = new["updates"]
    assert link["memory_id"] == old["memory_id"]
    assert link["similarity"] > 0.9


def test_recent_typed_and_sorted(agent: Conversation) -> None:
    agent.call("memory_save", content="Call the dentist", memory_type="todo", importance=0.9)
    agent.call("memory_save", content="Water the plants", memory_type="todo", importance=0.1)
    agent.call("memory_save", content="My name is Ana", memory_type="identity")
    assert contents(agent.call("memory_recall", mode="recent", max_results=1)) == ["My name is Ana"]
    typed = agent.call("memory_recall", mode="typed", memory_type="todo")
    assert contents(typed) == ["Water the plants", "Call the dentist"]
    assert typed["total_found"] == 2
    by_importance = agent.call("memory_recall", mode="typed", memory_type="todo", sort_by="importance")
    assert contents(by_importance) == ["Call the dentist", "Water the plants"]


def test_a_deleted_memory_is_not_recalled_by_any_tool(agent: Conversation) -> None:
    saved = agent.call("memory_save", content="The secret is blue cheese")
    gone = agent.call("memory_delete", memory_id=saved["memory_id"], reason="asked to")
    assert gone["forgotten"] is True
    assert "blue cheese" in gone["message"]
    assert agent.call("memory_recall", query="blue cheese")["memories"] == []
    assert agent.call("memory_recall", mode="recent")["total_found"] == 0
    assert agent.call("recall_memories", query="blue cheese")["memories"] == []
    assert agent.call("memory_delete", memory_id="nobody")["forgotten"] is False


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("memory_save", {"content": ""}, "empty"),
        ("memory_save", {"content": "é" * 25_001}, "50,000"),
        ("memory_save", {"content": "x", "importance": -1}, "between 0 and 1"),
        ("memory_save", {"content": "x", "associations": [{"target_id": "nobody"}]}, "nobody"),
        ("memory_recall", {}, "query"),
        ("memory_recall", {"mode": "typed"}, "memory_type"),
        ("memory_recall", {"query": "x", "max_results": 51}, "between 1 and 50"),
    ],
)
def test_bad_input_is_refused_with_the_reason(
    agent: Conversation, tool: str, arguments: dict[str, object], words: str
) -> None:
    with pytest.raises(Refused, match=words):
        agent.call(tool, **arguments)
    assert agent.call("get_memory_stats")["total_memories"] == 0


def test_a_fact_written_through_each_set_is_found_through_the_other_two(agent: Conversation) -> None:
    agent.call(
        "create_entities",
        entities=[{"name": "Quokka", "entityType": "Animal", "observations": ["lives on Rottnest Island"]}],
    )
    agent.call("store_memory", content="Kakapos cannot fly", entity_names=["Kakapo"])
    agent.call("memory_save", content="Axolotls regrow their limbs")
    for question, fact in (
        ("Where is Rottnest Island?", "lives on Rottnest Island"),
        ("Can kakapos fly?", "Kakapos cannot fly"),
        ("Which axolotls regrow limbs?", "Axolotls regrow their limbs"),
    ):
        assert contents(agent.call("recall_memories", query=question))[0] == fact
        assert contents(agent.call("memory_recall", query=question))[0] == fact
    names = {found["name"] for found in agent.call("search_semantic", query="Can kakapos fly?")["results"]}
    assert "Kakapo" in names
    [opened] = agent.call("open_nodes", names=["Kakapo"])["entities"]
    assert opened["observations"] == ["Kakapos cannot fly"]
