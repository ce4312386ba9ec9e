"""What assistants send that must say something for every field: null and empty mean "not given"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mcp_memory.config import ALL_SETS
from mcp_memory.server.mcp.sets import tool_sets
from mcp_memory.server.mcp.tools import Tool
from mcp_memory.server.mcp.validation import ArgumentReader
from tests.surfaces.speaking import Conversation, Refused, conversation

TOOLS = [pytest.param(tool, id=tool.name) for tool_set in tool_sets(ALL_SETS) for tool in tool_set.tools]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conversation]:
    with conversation(tmp_path_factory.mktemp("empty"), "--tools", "all") as opened:
        opened.call("store_memory", content="Rex is a dog", tags=["pets"], entity_names=["Rex"])
        opened.call("create_entities", entities=[{"name": "Rex", "entityType": "Dog"}])
        yield opened


def empties(schema: dict[str, Any], empty: Any) -> dict[str, Any]:
    return {name: empty for name in schema["properties"] if name not in schema.get("required", ())}


@pytest.mark.parametrize("empty", [None, "", [], [""], [None]], ids=repr)
@pytest.mark.parametrize(
    ("tool", "needed"),
    [
        ("recall_memories", {"query": "dog"}),
        ("memory_recall", {"query": "dog"}),
        ("search_semantic", {"query": "dog"}),
        ("search_nodes", {"query": "Rex"}),
        ("open_nodes", {"names": ["Rex"]}),
        ("read_graph", {}),
        ("get_entity_graph", {"entity_name": "Rex"}),
        ("list_changes", {}),
        ("consolidation_report", {}),
        ("memory_history", {"memory_id": "MEMORY"}),
        ("search_reflections", {"query": "dog"}),
    ],
)
def test_an_empty_optional_is_as_if_it_were_not_there(
    server: Conversation, tool: str, needed: dict[str, Any], empty: Any
) -> None:
    id = server.call("recall_memories", query="dog")["memories"][0]["id"]
    given = {name: id if value == "MEMORY" else value for name, value in needed.items()}
    with_empties = server.call(tool, **{**empties(server.tools[tool].input_schema, empty), **given})
    plain = server.call(tool, **given)
    assert with_empties.keys() == plain.keys()
    for name in ("memories", "results", "entities", "nodes", "changes"):
        assert len(with_empties.get(name, ())) == len(plain.get(name, ()))


def test_a_write_with_empties_is_the_plain_write(server: Conversation) -> None:
    schema = server.tools["store_memory"].input_schema
    stored = server.call("store_memory", content="The cat is Tom", **empties(schema, ""))
    [found] = server.call("recall_memories", query="cat Tom", details=True, limit=1)["memories"]
    assert found["id"] == stored["id"]
    assert (found["tags"], found["source"], found["memory_type"]) == ([], None, "observation")


def test_an_empty_list_of_tags_does_not_take_them_off_but_clear_does(server: Conversation) -> None:
    stored = server.call("store_memory", content="Ada has two parrots", tags=["pets"], source="a letter")
    server.call("update_memory", memory_id=stored["id"], tags=[], source="", importance=0.9)
    [kept] = server.call("recall_memories", query="Ada parrots", details=True, limit=1)["memories"]
    assert (kept["tags"], kept["source"]) == (["pets"], "a letter")
    server.call("update_memory", memory_id=stored["id"], clear=["tags", "source"])
    [cleared] = server.call("recall_memories", query="Ada parrots", details=True, limit=1)["memories"]
    assert (cleared["tags"], cleared["source"]) == ([], None)


def test_items_of_a_list_may_have_empties_too(server: Conversation) -> None:
    made = server.call(
        "create_relations",
        relations=[{"from": "Rex", "to": "Rex", "relationType": "likes", "source": "", "target": None}],
    )
    assert made["relations"][0]["from"] == "Rex"


def test_what_is_required_must_say_something(server: Conversation) -> None:
    with pytest.raises(Refused, match="content"):
        server.call("store_memory", content=None)
    with pytest.raises(Refused):
        server.call("store_memory", content="")


def test_deleting_with_nothing_but_empties_deletes_nothing(server: Conversation) -> None:
    schema = server.tools["delete_memories"].input_schema
    for empty in (None, "", [""]):
        with pytest.raises(Refused):
            server.call("delete_memories", **empties(schema, empty))


@pytest.mark.parametrize("tool", TOOLS)
def test_open_objects_are_taken_as_text_too(tool: Tool) -> None:
    if "metadata" not in tool.input_schema["properties"]:
        return
    assert {"type": "string"} in tool.input_schema["properties"]["metadata"]["anyOf"]


def test_metadata_as_text_is_metadata(server: Conversation) -> None:
    stored = server.call("store_memory", content="Mia is six", metadata='{"checked": true}', details=True)
    assert stored["metadata"] == {"checked": True}


def test_results_are_compact_unless_details_are_wanted(server: Conversation) -> None:
    [brief] = server.call("recall_memories", query="dog Rex", limit=1)["memories"]
    assert brief.keys() == {"id", "content", "memory_type", "created_at", "score"}
    [full] = server.call("recall_memories", query="dog Rex", limit=1, details=True)["memories"]
    assert {"tags", "confidence", "version", "entity_names"} <= full.keys()
    stored = server.call("store_memory", content="Rex sleeps a lot")
    assert stored.keys() == {"id", "outcome", "message", "similar"}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("recall_memories", {"query": "note"}),
        ("memory_recall", {"query": "note"}),
        ("open_nodes", {"names": ["Notebook"]}),
        ("search_semantic", {"query": "notebook"}),
        ("read_graph", {}),
        ("get_entity_graph", {"entity_name": "Notebook"}),
    ],
)
def test_an_answer_is_cut_to_the_tokens_asked_for(
    server: Conversation, tool: str, arguments: dict[str, Any]
) -> None:
    notes = [f"Note {number}: " + "something was written down here " * 5 for number in range(30)]
    server.call("create_entities", entities=[{"name": "Notebook", "observations": notes}])
    whole = server.call(tool, **arguments)
    cut = server.call(tool, **arguments, max_tokens=200)
    assert "truncated" not in whole or not whole["truncated"]
    assert cut["truncated"] is True
    assert len(str(cut)) < 1000 < len(str(whole))


def test_every_tool_that_returns_memories_can_be_cut() -> None:
    returning = {
        "recall_memories", "memory_recall", "search_semantic", "search_nodes", "open_nodes", "read_graph",
        "get_entity_graph", "memory_history", "search_reflections",
    }  # fmt: skip
    sized = {
        tool.name
        for tool_set in tool_sets(ALL_SETS)
        for tool in tool_set.tools
        if "max_tokens" in tool.input_schema["properties"]
    }
    assert sized == returning


def test_a_misspelt_field_is_answered_with_the_names_there_are() -> None:
    from pydantic import TypeAdapter

    from mcp_memory.errors import Invalid
    from mcp_memory.server.mcp.graph_inputs import CreateEntities
    from mcp_memory.server.mcp.schema import input_schema

    adapter: TypeAdapter[Any] = TypeAdapter(CreateEntities)
    with pytest.raises(Invalid, match=r"entities\[0\].nmae is not known here; allowed: name, entityType"):
        ArgumentReader(adapter, input_schema(adapter)).read({"entities": [{"name": "A", "nmae": "B"}]})
