"""One fact, many vocabularies: what one tool set writes, all others find, and what one forgets is gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.speaking import Conversation, conversation

SETS = ("graph", "memory", "agent", "anthropic")
SEEDED = {
    "graph": {
        "create_entities", "create_relations", "add_observations", "delete_entities", "delete_observations",
        "delete_relations", "search_nodes", "open_nodes", "read_graph", "search_semantic", "migrate",
        "analyze_entity_split", "propose_entity_split", "execute_entity_split", "find_split_candidates",
        "find_duplicate_observations", "consolidation_report", "end_relation", "add_reflection",
        "search_reflections",
    },
    "memory": {
        "store_memory", "recall_memories", "create_entities", "create_relations", "delete_memories",
        "delete_entities", "delete_relations", "get_entity_graph", "consolidate_memories",
        "get_memory_stats",
    },
    "agent": {"memory_save", "memory_recall", "memory_delete"},
    "anthropic": {
        "create_entities", "create_relations", "add_observations", "delete_entities", "delete_observations",
        "delete_relations", "read_graph", "search_nodes", "open_nodes",
    },
}  # fmt: skip
"""What each set promises when it is alone."""

FACT = "keeps a ledger of every quokka"


@dataclass
class Assistants:
    """One client per tool set, each with a server process of its own, all on the same database."""

    by_set: dict[str, Conversation]

    def call(self, tool_set: str, tool: str, **arguments: Any) -> dict[str, Any]:
        assistant = self.by_set[tool_set]
        call = assistant.call_drop_in if tool_set == "anthropic" else assistant.call
        return call(tool, **arguments)

    def write(self, tool_set: str, fact: str = FACT) -> None:
        """Keep a fact about Acme in the set's own way; agents do not speak of entities."""
        self.by_writing[tool_set](fact)

    def found(self, tool_set: str, fact: str = FACT) -> bool:
        return self.by_reading[tool_set](fact)

    @property
    def by_writing(self) -> dict[str, Callable[[str], object]]:
        acme = {"name": "Acme", "entityType": "company"}
        return {
            "graph": lambda fact: self.call(
                "graph", "create_entities", entities=[{**acme, "observations": [fact]}]
            ),
            "memory": lambda fact: self.call(
                "memory", "store_memory", content=fact, entity_names=["Acme"], memory_type="fact"
            ),
            "agent": lambda fact: self.call("agent", "memory_save", content=fact),
            "anthropic": lambda fact: self.call(
                "anthropic", "create_entities", entities=[{**acme, "observations": [fact]}]
            ),
        }

    @property
    def by_reading(self) -> dict[str, Callable[[str], bool]]:
        return {
            "graph": lambda fact: self._in_graph("graph", fact),
            "memory": lambda fact: self._among(self.call("memory", "recall_memories", query=fact), fact),
            "agent": lambda fact: self._among(self.call("agent", "memory_recall", query=fact), fact),
            "anthropic": lambda fact: self._in_graph("anthropic", fact),
        }

    def recalled_id(self, fact: str = FACT) -> str:
        [id] = [
            found["id"]
            for found in self.call("memory", "recall_memories", query=fact)["memories"]
            if found["content"] == fact
        ]
        return str(id)

    def _in_graph(self, tool_set: str, fact: str) -> bool:
        found = self.call(tool_set, "search_nodes", query=fact)["entities"]
        return any(fact in entity["observations"] for entity in found)

    @staticmethod
    def _among(answer: dict[str, Any], fact: str) -> bool:
        return any(found["content"] == fact for found in answer["memories"])


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assistants]:
    folder = tmp_path_factory.mktemp("one-store")

    def opened(tool_set: str) -> Any:
        return conversation(folder, "--tools", tool_set, details=True, EMBEDDING_PROVIDER="none")

    with ExitStack() as stack:
        yield Assistants({tool_set: stack.enter_context(opened(tool_set)) for tool_set in SETS})


@pytest.fixture
def assistants(servers: Assistants) -> Assistants:
    """The same servers for all, emptied for each."""
    names = [entity["name"] for entity in servers.call("graph", "read_graph", limit=1000)["entities"]]
    if names:
        servers.call("graph", "delete_entities", entityNames=names)
    servers.call("memory", "delete_memories", before_date="2100-01-01")
    return servers


@pytest.mark.parametrize("tool_set", SETS)
def test_each_set_alone_is_complete(servers: Assistants, tool_set: str) -> None:
    offered = servers.by_set[tool_set].tools.keys()
    assert offered >= SEEDED[tool_set]
    if tool_set == "anthropic":
        assert offered == SEEDED[tool_set]


def test_together_they_list_each_tool_once(tmp_path: Path) -> None:
    with conversation(tmp_path, "--tools", "all", EMBEDDING_PROVIDER="none") as every:
        listed = every.portal.call(every.client.list_tools).tools
    counts = Counter(tool.name for tool in listed)
    assert max(counts.values()) == 1
    assert counts.keys() >= SEEDED["graph"] | SEEDED["memory"] | SEEDED["agent"]


def test_a_tool_that_two_sets_share_is_the_same_in_both(servers: Assistants) -> None:
    graph, memory = servers.by_set["graph"].tools, servers.by_set["memory"].tools
    shared = graph.keys() & memory.keys()
    assert shared == {"create_entities", "create_relations", "delete_entities", "delete_relations"}
    for name in shared:
        # Their descriptions may differ: each speaks only of tools that are offered beside it.
        assert graph[name].output_schema == memory[name].output_schema
        assert graph[name].annotations == memory[name].annotations
        assert graph[name].input_schema["properties"].keys() == memory[name].input_schema["properties"].keys()


@pytest.mark.parametrize("writer", ["graph", "memory", "anthropic"])
@pytest.mark.parametrize("reader", SETS)
def test_what_one_set_writes_all_find(assistants: Assistants, writer: str, reader: str) -> None:
    assert not assistants.found(reader)
    assistants.write(writer)
    assert assistants.found(reader)


@pytest.mark.parametrize("reader", ["memory", "agent"])
def test_what_an_agent_saves_is_recalled(assistants: Assistants, reader: str) -> None:
    assistants.write("agent")
    assert assistants.found(reader)


def test_what_an_agent_saves_is_found_in_the_graph_though_no_entity_holds_it(assistants: Assistants) -> None:
    assistants.write("agent")
    found = assistants.call("graph", "search_semantic", query="Who has a ledger of quokkas?")
    assert found["results"] == []
    assert [memory["content"] for memory in found["memories"]] == [FACT]
    assistants.call("agent", "memory_delete", memory_id=found["memories"][0]["id"])
    assert "memories" not in assistants.call("graph", "search_semantic", query="ledger of quokkas")


@pytest.mark.parametrize("reader", ["graph", "anthropic"])
def test_what_an_agent_saves_and_an_entity_observes_is_one_fact(assistants: Assistants, reader: str) -> None:
    assistants.write("agent")
    assistants.write(reader)
    assert assistants.found(reader)
    assert assistants.call("memory", "get_memory_stats")["total_memories"] == 1
    [found] = assistants.call("memory", "recall_memories", query=FACT)["memories"]
    assert found["entity_names"] == ["Acme"]


def test_one_fact_written_through_every_set_is_stored_once(assistants: Assistants) -> None:
    for tool_set in SETS:
        assistants.write(tool_set)
    stats = assistants.call("memory", "get_memory_stats")
    assert (stats["total_memories"], stats["total_entities"]) == (1, 1)
    [entity] = assistants.call("anthropic", "open_nodes", names=["Acme"])["entities"]
    assert entity == {"name": "Acme", "entityType": "company", "observations": [FACT]}


@pytest.mark.parametrize("writer", ["graph", "anthropic"])
@pytest.mark.parametrize("how", ["memory_delete", "delete_memories", "delete_observations", "of anthropic"])
def test_what_is_taken_away_through_one_set_is_gone_from_all(
    assistants: Assistants, writer: str, how: str
) -> None:
    assistants.write(writer)
    id = assistants.recalled_id()
    if how == "memory_delete":
        assert assistants.call("agent", "memory_delete", memory_id=id)["forgotten"] is True
    elif how == "delete_memories":
        assert assistants.call("memory", "delete_memories", memory_ids=[id])["deleted_count"] == 1
    elif how == "delete_observations":
        assistants.call("graph", "delete_observations", name="Acme", observations=[FACT])
    else:
        deletions = [{"entityName": "Acme", "observations": [FACT]}]
        assistants.call("anthropic", "delete_observations", deletions=deletions)
    assert not any(assistants.found(reader) for reader in SETS)


@pytest.mark.parametrize("how", ["memory_delete", "delete_memories"])
def test_a_memory_taken_away_is_no_observation_any_more(assistants: Assistants, how: str) -> None:
    assistants.write("memory")
    id = assistants.recalled_id()
    if how == "memory_delete":
        assistants.call("agent", "memory_delete", memory_id=id)
    else:
        assistants.call("memory", "delete_memories", memory_ids=[id])
    assert not any(assistants.found(reader) for reader in SETS)
    [entity] = assistants.call("graph", "open_nodes", names=["Acme"])["entities"]
    assert entity["observations"] == []


@pytest.mark.parametrize("deleter", ["graph", "anthropic"])
def test_a_memory_stored_in_its_own_right_outlives_its_entity(assistants: Assistants, deleter: str) -> None:
    assistants.write("memory")
    assistants.call(deleter, "delete_entities", entityNames=["Acme"])
    assert {reader for reader in SETS if assistants.found(reader)} == {"memory", "agent"}


@pytest.mark.parametrize("deleter", ["graph", "memory", "anthropic"])
def test_an_entity_deleted_through_one_set_is_gone_from_all(assistants: Assistants, deleter: str) -> None:
    assistants.write("graph")
    names = "entity_names" if deleter == "memory" else "entityNames"
    assistants.call(deleter, "delete_entities", **{names: ["Acme"]})
    assert not any(assistants.found(reader) for reader in SETS)
    for reader in ("graph", "anthropic"):
        assert assistants.call(reader, "open_nodes", names=["Acme"])["entities"] == []


def test_what_is_restored_is_there_again_for_all(assistants: Assistants) -> None:
    assistants.write("graph")
    id = assistants.recalled_id()
    assistants.call("agent", "memory_delete", memory_id=id, reason="a mistake")
    assistants.call("memory", "restore_memory", memory_id=id)
    assert all(assistants.found(reader) for reader in SETS)


def test_what_is_undone_is_undone_for_all(assistants: Assistants) -> None:
    assistants.write("anthropic")
    gone = assistants.call("memory", "delete_memories", before_date="2100-01-01")
    assert not any(assistants.found(reader) for reader in SETS)
    assistants.call("memory", "undo_change", change_id=gone["change_id"])
    assert all(assistants.found(reader) for reader in SETS)


def test_what_is_corrected_through_one_set_is_corrected_for_all(assistants: Assistants) -> None:
    assistants.write("graph")
    corrected = "keeps a ledger of every wombat"
    assistants.call("memory", "update_memory", memory_id=assistants.recalled_id(), content=corrected)
    assert all(assistants.found(reader, corrected) for reader in SETS)
    assert not any(assistants.found(reader) for reader in ("graph", "anthropic"))


def test_a_relation_made_through_one_set_is_seen_by_all(assistants: Assistants) -> None:
    assistants.call(
        "memory",
        "create_relations",
        relations=[{"source": "Acme", "target": "Berlin", "relation_type": "located_in", "strength": 0.9}],
    )
    expected = {"from": "Acme", "to": "Berlin", "relationType": "located_in"}
    assert assistants.call("anthropic", "read_graph")["relations"] == [expected]
    [seen] = assistants.call("graph", "read_graph")["relations"]
    assert expected.items() <= seen.items()
    assistants.call("anthropic", "delete_relations", relations=[expected])
    assert assistants.call("memory", "get_entity_graph", entity_name="Acme")["edges"] == []


def test_an_observation_that_was_superseded_is_shown_as_such(assistants: Assistants) -> None:
    assistants.write("graph")
    id = assistants.recalled_id()
    new = "gave its ledger of quokkas away"
    assistants.call(
        "agent",
        "memory_save",
        content=new,
        associations=[{"target_id": id, "relation_type": "updates", "weight": 0.9}],
    )
    recalled = assistants.call("memory", "recall_memories", query="ledger quokka")["memories"]
    superseded = {found["content"]: found["superseded"] for found in recalled}
    assert superseded == {FACT: True, new: False}


def test_who_changed_what_is_known(assistants: Assistants) -> None:
    assistants.write("anthropic")
    assistants.write("agent")
    changes = assistants.call("memory", "list_changes", limit=5)["changes"]
    assert any(FACT in change["summary"] or "entity" in change["summary"] for change in changes)
    assert all(change["client"] for change in changes)
