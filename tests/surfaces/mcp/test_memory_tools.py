"""The memory tools do what their specification tests, over a real connection."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from mcp_memory.embedding import Embedder
from tests.surfaces.speaking import Conversation, Json, Refused, conversation

MEMORY_TOOLS = {
    "store_memory", "recall_memories", "create_entities", "create_relations", "delete_memories",
    "delete_entities", "delete_relations", "get_entity_graph", "consolidate_memories", "get_memory_stats",
}  # fmt: skip
UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
HOOKS = (
    "React hooks let components use state",
    "The React hooks let components use state",
    "React hooks let components use state.",
    "React hooks let the components use state",
    "React hooks let components use state!",
)
"""The same in slight variations."""

WORDINGS = (
    "React hooks simplify state management",
    "React hooks make state management simpler",
    "React hooks simplify managing state",
    "React hooks help simplify state management",
    "Using React hooks simplifies state management",
)
"""One thought in several wordings, which storing keeps side by side."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, minilm: Embedder) -> Iterator[Conversation]:
    """`minilm` is asked for only because it says why, where the model cannot be had."""
    folder = tmp_path_factory.mktemp("memory")
    with conversation(folder, "--tools", "graph,memory,agent", details=True) as opened:
        yield opened


@pytest.fixture
def memory(server: Conversation) -> Conversation:
    """The same server for all, emptied for each."""
    names = [entity["name"] for entity in server.call("read_graph", limit=1000)["entities"]]
    if names:
        server.call("delete_entities", entity_names=names, cascade_memories=True)
    server.call("delete_memories", before_date="2100-01-01")
    assert server.call("get_memory_stats")["total_memories"] == 0
    return server


def store(memory: Conversation, content: str, **more: Any) -> str:
    id: str = memory.call("store_memory", content=content, **more)["id"]
    return id


def recalled(memory: Conversation, query: str, **more: Any) -> list[str]:
    return [found["content"] for found in memory.call("recall_memories", query=query, **more)["memories"]]


def graph_of(memory: Conversation, name: str, **more: Any) -> Json:
    return memory.call("get_entity_graph", entity_name=name, **more)


def names_around(memory: Conversation, name: str, **more: Any) -> set[str]:
    return {node["name"] for node in graph_of(memory, name, **more)["nodes"]}


def observe(memory: Conversation, **observations: str) -> None:
    """Keep texts that say the same side by side, each with an entity, which storing would make one."""
    memory.call(
        "create_entities",
        entities=[{"name": name, "observations": [text]} for name, text in observations.items()],
    )


def test_the_set_alone_has_all_of_its_tools(tmp_path: Path) -> None:
    with conversation(tmp_path, "--tools", "memory", EMBEDDING_PROVIDER="none") as alone:
        assert alone.tools.keys() >= MEMORY_TOOLS
        for tool in alone.tools.values():
            assert tool.title
            assert len(tool.description or "") > 40
            assert tool.annotations is not None
            assert tool.annotations.open_world_hint is False
            assert tool.output_schema is not None


# What the specification of the memory tools tests, in its order and under its names.


@pytest.mark.seed("004 §10.1")
def test_store_basic_memory(memory: Conversation) -> None:
    stored = memory.call("store_memory", content="User prefers TypeScript", memory_type="preference")
    assert UUID7.fullmatch(stored["id"])
    assert (stored["outcome"], stored["confidence"]) == ("created", 1.0)
    assert stored["memory_type"] == "preference"
    [found] = memory.call("recall_memories", query="JavaScript, but with types", search_mode="hybrid")[
        "memories"
    ]
    assert found["id"] == stored["id"], "no word is the same: it was found by its embedding"


@pytest.mark.seed("004 §10.1")
def test_store_memory_with_entity_association(memory: Conversation) -> None:
    stored = memory.call(
        "store_memory", content="Alice manages the frontend team", entity_names=["Alice", "Frontend Team"]
    )
    assert stored["entity_names"] == ["Alice", "Frontend Team"]
    for name in ("Alice", "Frontend Team"):
        [node] = graph_of(memory, name)["nodes"]
        assert node["entity_type"] == "unknown"
        assert [about["id"] for about in node["memories"]] == [stored["id"]]


@pytest.mark.seed("004 §10.1")
def test_exact_duplicate_detection(memory: Conversation) -> None:
    first = memory.call("store_memory", content="User prefers dark mode")
    second = memory.call("store_memory", content="User prefers dark mode")
    assert (second["id"], second["outcome"]) == (first["id"], "equal")
    assert memory.call("get_memory_stats")["total_memories"] == 1


@pytest.mark.seed("004 §10.1")
def test_near_duplicate_detection(memory: Conversation) -> None:
    first = memory.call(
        "store_memory",
        content="User prefers dark mode",
        tags=["ui"],
        confidence=0.6,
        metadata={"a": 1, "b": 1},
    )
    second = memory.call(
        "store_memory",
        content="The user likes dark mode",
        tags=["theme"],
        confidence=0.7,
        metadata={"b": 2},
    )
    assert (second["id"], second["outcome"]) == (first["id"], "merged")
    assert second["content"] == "User prefers dark mode\nThe user likes dark mode"
    assert second["tags"] == ["ui", "theme"]
    assert second["confidence"] == pytest.approx(0.8), "the higher one, and a tenth for being said again"
    assert second["metadata"] == {"a": 1, "b": 2}
    assert memory.call("get_memory_stats")["total_memories"] == 1
    said = [
        version["content"] for version in memory.call("memory_history", memory_id=first["id"])["versions"]
    ]
    assert "The user likes dark mode" in said


@pytest.mark.seed("004 §10.1")
def test_update_memory(memory: Conversation) -> None:
    id = store(memory, "The office is in Berlin", tags=["office"])
    updated = memory.call("update_memory", memory_id=id, content="The workshop is in Lisbon")
    assert (updated["memory"]["content"], updated["version"]) == ("The workshop is in Lisbon", 2)
    assert updated["memory"]["tags"] == ["office"]
    [version] = memory.call("memory_history", memory_id=id)["versions"]
    assert (version["version"], version["content"]) == (1, "The office is in Berlin")
    assert recalled(memory, "the capital of Germany", search_mode="semantic") == []
    assert recalled(memory, "a city in Portugal", min_confidence=0)[0] == "The workshop is in Lisbon"


@pytest.mark.seed("004 §10.1")
def test_delete_memory_cascades(memory: Conversation) -> None:
    id = store(memory, "Alice manages the frontend team", entity_names=["Alice", "Frontend Team"])
    deleted = memory.call("delete_memories", memory_ids=[id])
    assert (deleted["deleted_count"], deleted["deleted_ids"]) == (1, [id])
    assert recalled(memory, "frontend team") == []
    for name in ("Alice", "Frontend Team"):
        [node] = graph_of(memory, name)["nodes"]
        assert node["memory_count"] == 0


@pytest.mark.seed("004 §10.2")
def test_keyword_search(memory: Conversation) -> None:
    store(memory, "Machine learning models need clean data")
    store(memory, "Web development moves fast")
    found = recalled(memory, "machine learning", search_mode="keyword")
    assert found == ["Machine learning models need clean data"]


@pytest.mark.seed("004 §10.2")
def test_semantic_search(memory: Conversation) -> None:
    store(memory, "canine behavior training tips")
    store(memory, "quarterly revenue of the company")
    found = recalled(memory, "how to train dogs", search_mode="semantic")
    assert found == ["canine behavior training tips"]


@pytest.mark.seed("004 §10.2")
def test_hybrid_search_combines_results(memory: Conversation) -> None:
    for content in (
        "canine behavior training tips", "dogs", "The invoice number is 4711", "Alice plays the violin",
        "Bread needs flour and water", "The meeting moved to Tuesday", "Paris is the capital of France",
        "Use rebase before pushing", "The heating is broken", "Rust has no garbage collector",
    ):  # fmt: skip
        store(memory, content)
    found = memory.call("recall_memories", query="how to teach dogs", search_mode="hybrid", explain=True)
    best = {one["content"]: one["explanation"] for one in found["memories"][:2]}
    assert best.keys() == {"canine behavior training tips", "dogs"}
    assert best["dogs"]["keyword"] is not None
    assert best["canine behavior training tips"]["keyword"] is None, "found by its meaning alone"
    assert found["search_mode"] == "hybrid"


@pytest.mark.seed("004 §10.2")
def test_filter_by_memory_type(memory: Conversation) -> None:
    for type in ("observation", "decision", "pattern"):
        store(memory, f"The {type} about the database", memory_type=type)
    assert recalled(memory, "database", memory_types=["decision"]) == ["The decision about the database"]
    assert len(recalled(memory, "database", memory_types=["decision", "pattern"])) == 2


@pytest.mark.seed("004 §10.2")
def test_filter_by_tags(memory: Conversation) -> None:
    store(memory, "Strict mode is on", tags=["typescript", "frontend", "config"])
    store(memory, "Strict types are off", tags=["typescript"])
    store(memory, "Strict styles are used", tags=["frontend"])
    assert recalled(memory, "strict", tags=["typescript", "frontend"]) == ["Strict mode is on"]


@pytest.mark.seed("004 §10.2")
def test_filter_by_confidence(memory: Conversation) -> None:
    for confidence in (0.3, 0.5, 0.9):
        store(memory, f"The build takes {confidence * 100:.0f} minutes", confidence=confidence)
    assert len(recalled(memory, "build minutes", min_confidence=0.2)) == 3
    store(memory, "The build fails for 40 minutes", confidence=0.4)
    assert recalled(memory, "fails", search_mode="keyword", min_confidence=0.5) == []


def test_weak_memories_are_left_out_unless_asked_for(memory: Conversation) -> None:
    store(memory, "It may rain on Sunday", confidence=0.05)
    assert recalled(memory, "rain") == []
    assert recalled(memory, "rain", min_confidence=0) == ["It may rain on Sunday"]


@pytest.mark.seed("004 §10.2")
def test_pagination(memory: Conversation) -> None:
    for number in range(50):
        store(memory, f"Ticket {number} was closed")
    every = recalled(memory, "ticket closed", limit=50)
    assert len(set(every)) == 50
    page = memory.call("recall_memories", query="ticket closed", limit=10, offset=20)
    assert len(page["memories"]) == 10
    assert page["total_found"] == 50


@pytest.mark.seed("004 §10.4")
def test_create_entity(memory: Conversation) -> None:
    alice = {"name": "Alice", "entity_type": "person", "description": "Software engineer"}
    [made] = memory.call("create_entities", entities=[alice])["entities"]
    assert alice.items() <= made.items()
    found = memory.call("search_semantic", query="somebody who writes programs")["results"]
    assert [one["name"] for one in found] == ["Alice"]


@pytest.mark.seed("004 §10.4")
def test_create_relation(memory: Conversation) -> None:
    people = [{"name": name, "entity_type": "person"} for name in ("Alice", "Bob")]
    memory.call("create_entities", entities=people)
    wanted = {"source": "Alice", "target": "Bob", "relation_type": "collaborates_with", "strength": 0.8}
    [made] = memory.call("create_relations", relations=[wanted])["relations"]
    assert wanted.items() <= made.items()
    assert made["confidence"] == 1.0
    [edge] = graph_of(memory, "Alice")["edges"]
    assert wanted.items() <= edge.items()


@pytest.mark.seed("004 §10.4")
def test_duplicate_relation_prevention(memory: Conversation) -> None:
    wanted = {"source": "Alice", "target": "Bob", "relation_type": "manages", "strength": 0.4}
    memory.call("create_relations", relations=[wanted])
    memory.call("create_relations", relations=[{**wanted, "strength": 0.9}])
    [edge] = graph_of(memory, "Alice")["edges"]
    assert edge["strength"] == 0.9


@pytest.fixture
def chain(memory: Conversation) -> Conversation:
    """A→B, A→C, B→D."""
    memory.call(
        "create_relations",
        relations=[
            {"source": source, "target": target, "relation_type": "uses", "strength": strength}
            for source, target, strength in (("A", "B", 0.9), ("A", "C", 0.2), ("B", "D", 0.9))
        ],
    )
    return memory


@pytest.mark.seed("004 §10.4")
def test_get_entity_graph_depth_1(chain: Conversation) -> None:
    assert names_around(chain, "A", depth=1) == names_around(chain, "A") == {"A", "B", "C"}


def test_get_entity_graph_depth_2(chain: Conversation) -> None:
    graph = graph_of(chain, "A", depth=2)
    assert {node["name"]: node["depth"] for node in graph["nodes"]} == {"A": 0, "B": 1, "C": 1, "D": 2}
    assert {(edge["source"], edge["target"]) for edge in graph["edges"]} == {
        ("A", "B"), ("A", "C"), ("B", "D"),
    }  # fmt: skip
    assert names_around(chain, "D", depth=1) == {"D", "B"}, "relations are followed both ways"


@pytest.mark.seed("004 §7.2.8")
def test_get_entity_graph_follows_only_strong_relations(chain: Conversation) -> None:
    assert names_around(chain, "A", depth=2, min_strength=0.5) == {"A", "B", "D"}


def test_get_entity_graph_with_and_without_memories(chain: Conversation) -> None:
    store(chain, "B is slow on Mondays", entity_names=["B"])
    with_memories = {node["name"]: node for node in graph_of(chain, "A")["nodes"]}
    assert [found["content"] for found in with_memories["B"]["memories"]] == ["B is slow on Mondays"]
    without = graph_of(chain, "A", include_memories=False)
    assert all("memories" not in node for node in without["nodes"])


@pytest.mark.seed("004 §10.4")
def test_entity_deletion_cascade(chain: Conversation) -> None:
    store(chain, "B is slow on Mondays", entity_names=["B"])
    deleted = chain.call("delete_entities", entity_names=["B"])
    assert deleted["deleted"] == ["B"]
    assert names_around(chain, "A") == {"A", "C"}
    assert recalled(chain, "slow on Mondays") == ["B is slow on Mondays"]
    with pytest.raises(Refused, match="B"):
        graph_of(chain, "B")


@pytest.mark.seed("004 §7.2.6")
def test_entity_deletion_takes_memories_along_when_asked(chain: Conversation) -> None:
    store(chain, "B is slow on Mondays", entity_names=["B"])
    chain.call("delete_entities", entity_names=["B"], cascade_memories=True)
    assert recalled(chain, "slow on Mondays") == []


@pytest.mark.seed("004 §10.4")
def test_auto_create_entities_from_store_memory(memory: Conversation) -> None:
    store(memory, "NewPerson arrived today", entity_names=["NewPerson"])
    [node] = graph_of(memory, "NewPerson")["nodes"]
    assert node["entity_type"] == "unknown"
    memory.call("create_entities", entities=[{"name": "NewPerson", "entity_type": "person"}])
    [node] = graph_of(memory, "NewPerson")["nodes"]
    assert (node["entity_type"], node["memory_count"]) == ("person", 1)


@pytest.mark.seed("004 §7.2.7")
def test_delete_relations(chain: Conversation) -> None:
    gone = {"source": "A", "target": "B", "relation_type": "uses"}
    chain.call("delete_relations", relations=[gone])
    assert names_around(chain, "A", depth=2) == {"A", "C"}


@pytest.mark.seed("004 §10.5")
def test_cluster_detection(memory: Conversation) -> None:
    for content in (*WORDINGS, "Vue has a composition API"):
        store(memory, content)
    report = memory.call("consolidate_memories", similarity_threshold=0.85, full=True)
    assert (report["clusters_found"], report["memories_merged"], report["memories_deleted"]) == (1, 5, 4)
    [cluster] = report["clusters"]
    assert {cluster["primary"]["content"], *(one["content"] for one in cluster["absorbed"])} == {*WORDINGS}
    assert memory.call("get_memory_stats")["total_memories"] == 2


def test_cluster_detection_in_what_was_observed(memory: Conversation) -> None:
    observe(memory, **{f"Page {number}": text for number, text in enumerate(HOOKS)})
    report = memory.call("consolidate_memories", similarity_threshold=0.85, full=True)
    assert (report["clusters_found"], report["memories_merged"], report["memories_deleted"]) == (1, 5, 4)
    assert memory.call("get_memory_stats")["total_memories"] == 1


def test_consolidation_keeps_different_facts_apart_and_says_why(memory: Conversation) -> None:
    store(memory, "The release is on March 14th")
    store(memory, "The release is on March 15th")
    report = memory.call("consolidate_memories", full=True)
    assert (report["clusters_found"], report["kept_apart_count"]) == (0, 1)
    [pair] = report["kept_apart"]
    assert "date" in pair["reason"]
    assert memory.call("get_memory_stats")["total_memories"] == 2


@pytest.mark.seed("004 §7.2.9")
def test_dry_run(memory: Conversation) -> None:
    observe(memory, **{f"Page {number}": text for number, text in enumerate(HOOKS)})
    report = memory.call("consolidate_memories", similarity_threshold=0.85, dry_run=True, full=True)
    assert (report["clusters_found"], report["memories_deleted"], report["dry_run"]) == (1, 4, True)
    assert "change_id" not in report
    assert memory.call("get_memory_stats")["total_memories"] == 5


@pytest.mark.seed("004 §10.5")
def test_version_trail(memory: Conversation) -> None:
    observe(memory, X=HOOKS[0], Y=HOOKS[1])
    report = memory.call("consolidate_memories", full=True)
    [cluster] = report["clusters"]
    [absorbed] = cluster["absorbed"]
    history = memory.call("memory_history", memory_id=cluster["primary"]["id"])["versions"]
    assert (absorbed["content"], "absorbed") in {(one["content"], one["reason"]) for one in history}


@pytest.mark.seed("004 §10.5")
def test_entity_reassignment(memory: Conversation) -> None:
    observe(memory, X=HOOKS[0], Y=HOOKS[1])
    memory.call("consolidate_memories", full=True)
    [merged] = memory.call("recall_memories", query="React hooks")["memories"]
    assert set(merged["entity_names"]) == {"X", "Y"}


def test_a_consolidation_can_be_undone(memory: Conversation) -> None:
    observe(memory, X=HOOKS[0], Y=HOOKS[1])
    report = memory.call("consolidate_memories", full=True)
    undone = memory.call("undo_change", change_id=report["change_id"])
    assert undone["restored_ids"] == [report["clusters"][0]["absorbed"][0]["id"]]
    assert memory.call("get_memory_stats")["total_memories"] == 2


# Every parameter, and the shape of every answer.


@pytest.mark.seed("004 §7.2.1")
def test_store_memory_keeps_every_parameter(memory: Conversation) -> None:
    given = {
        "content": "Deploys happen on Fridays", "memory_type": "procedure", "tags": ["ops", "release"],
        "confidence": 0.9, "source": "meeting", "context": "retrospective", "metadata": {"room": [4, None]},
        "entity_names": ["Acme"],
    }  # fmt: skip
    stored = memory.call("store_memory", **given)
    assert given.items() <= stored.items()
    [found] = memory.call("recall_memories", query="Deploys happen on Fridays")["memories"]
    assert given.items() <= found.items()
    assert found["access_count"] == 0, "as it was before it was found"
    assert datetime.fromisoformat(found["created_at"]).tzinfo is not None


@pytest.mark.parametrize("type", ["learning", "error", "identity", "goal", "todo", "a type of my own"])
def test_any_type_is_kept(memory: Conversation, type: str) -> None:
    stored = memory.call("store_memory", content="Something worth knowing", memory_type=type)
    assert stored["memory_type"] == type
    assert stored["pinned"] == (type == "identity")


def test_lists_and_objects_written_as_text_are_understood(memory: Conversation) -> None:
    stored = memory.call("store_memory", content="one", tags='["a", "b"]', metadata='{"x": 1}')
    assert (stored["tags"], stored["metadata"]) == (["a", "b"], {"x": 1})


def test_what_is_close_but_differs_is_kept_beside_and_reported(memory: Conversation) -> None:
    first = store(memory, "Ben is allergic to peanuts")
    second = memory.call("store_memory", content="Ben is not allergic to peanuts")
    assert second["outcome"] == "created"
    [similar] = second["similar"]
    assert (similar["id"], similar["similarity"] > 0.9) == (first, True)
    assert "not" in similar["reason"]
    assert memory.call("get_memory_stats")["total_memories"] == 2


@pytest.mark.seed("004 §7.2.2")
def test_recall_memories_sorts_by_score_and_says_how_it_searched(memory: Conversation) -> None:
    for content in ("Postgres stores the orders", "Redis stores the sessions", "Alice likes tea"):
        store(memory, content)
    answer = memory.call("recall_memories", query="Where are orders stored?")
    scores = [found["score"] for found in answer["memories"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert answer["memories"][0]["content"] == "Postgres stores the orders"
    assert (answer["search_mode"], answer["total_found"]) == ("hybrid", len(scores))


def test_recall_memories_filters_by_entity_source_and_dates(memory: Conversation) -> None:
    store(memory, "The report is late", entity_names=["Acme"], source="mail")
    store(memory, "The report is done", entity_names=["Zeta"], source="chat")
    assert recalled(memory, "report", entity_name="Acme") == ["The report is late"]
    assert recalled(memory, "report", source="chat") == ["The report is done"]
    assert recalled(memory, "report", after_date="2100-01-01") == []
    assert len(recalled(memory, "report", after_date="2000-01-01", before_date="2100-01-01")) == 2


def test_recall_memories_through_the_graph(chain: Conversation) -> None:
    for name in ("B", "C", "D"):
        store(chain, f"{name} was painted on day {ord(name)}", entity_names=[name])
    near = recalled(chain, "A", search_mode="graph", entity_name="A")
    assert near == ["B was painted on day 66", "C was painted on day 67"], "the stronger relation first"
    far = recalled(chain, "A", search_mode="graph", entity_name="A", hops=2)
    assert set(far) == {*near, "D was painted on day 68"}


def test_filters_act_before_the_limit(memory: Conversation) -> None:
    for number in range(30):
        store(memory, f"Note {number} about the garden")
    store(memory, "A decision about the garden of the neighbours", memory_type="decision")
    found = recalled(memory, "note about the garden", memory_types=["decision"], limit=1)
    assert found == ["A decision about the garden of the neighbours"]


@pytest.mark.seed("004 §7.2.5")
def test_delete_memories_by_conditions(memory: Conversation) -> None:
    weak = store(memory, "It may rain on Sunday", confidence=0.2)
    error = store(memory, "The deploy failed", memory_type="error")
    kept = store(memory, "The office is in Berlin")
    assert memory.call("delete_memories", before_date="2000-01-01")["deleted_count"] == 0
    preview = memory.call("delete_memories", min_confidence_below=0.5, dry_run=True)
    assert (preview["deleted_ids"], preview["dry_run"]) == ([weak], True)
    assert memory.call("delete_memories", min_confidence_below=0.5)["deleted_ids"] == [weak]
    assert memory.call("delete_memories", memory_types=["error"])["deleted_ids"] == [error]
    assert memory.call("delete_memories", before_date="2100-01-01")["deleted_ids"] == [kept]


def test_delete_memories_must_meet_all_conditions_and_can_be_undone(memory: Conversation) -> None:
    weak = store(memory, "It may rain on Sunday", confidence=0.2)
    store(memory, "It may snow", confidence=0.2, memory_type="fact")
    gone = memory.call("delete_memories", min_confidence_below=0.5, memory_types=["observation"])
    assert gone["deleted_ids"] == [weak]
    assert memory.call("undo_change")["restored_ids"] == [weak]
    assert memory.call("get_memory_stats")["total_memories"] == 2


@pytest.mark.seed("004 §7.2.10")
def test_get_memory_stats(memory: Conversation) -> None:
    empty = memory.call("get_memory_stats")
    assert (empty["oldest_memory"], empty["newest_memory"], empty["memories_by_type"]) == (None, None, {})
    store(memory, "one", memory_type="fact", entity_names=["A"])
    store(memory, "two", memory_type="decision", confidence=0.2)
    memory.call("create_relations", relations=[{"source": "A", "target": "B", "relation_type": "uses"}])
    stats = memory.call("get_memory_stats")
    assert stats.keys() == {
        "total_memories", "total_entities", "total_relations", "memories_by_type", "average_confidence",
        "oldest_memory", "newest_memory", "low_confidence_count",
    }  # fmt: skip
    assert (stats["total_memories"], stats["total_entities"], stats["total_relations"]) == (2, 2, 1)
    assert stats["memories_by_type"] == {"fact": 1, "decision": 1}
    assert stats["average_confidence"] == pytest.approx(0.6, abs=0.01)
    assert stats["low_confidence_count"] == 1
    assert datetime.fromisoformat(stats["oldest_memory"]) < datetime.fromisoformat(stats["newest_memory"])


@pytest.mark.seed("004 §2.5")
def test_history_is_listed_and_versions_restored(memory: Conversation) -> None:
    id = store(memory, "The office is in Berlin")
    memory.call("update_memory", memory_id=id, content="The office is in Lisbon", expected_version=1)
    with pytest.raises(Refused, match="version 2"):
        memory.call("update_memory", memory_id=id, content="The office is in Rome", expected_version=1)
    restored = memory.call("restore_memory", memory_id=id, version=1)
    assert restored["memory"]["content"] == "The office is in Berlin"
    changes = memory.call("list_changes", limit=3)
    assert len(changes["changes"]) == 3
    older = memory.call("list_changes", limit=1, cursor=changes["next_cursor"])["changes"]
    assert older[0]["change_id"] not in {one["change_id"] for one in changes["changes"]}


# Bad input: a clear word, or no harm; and nothing has changed.


@pytest.mark.parametrize(
    ("tool", "arguments", "complaint"),
    [
        ("store_memory", {}, "content is missing"),
        ("store_memory", {"content": ""}, "content is empty"),
        ("store_memory", {"content": " \n\t"}, "content is empty"),
        ("store_memory", {"content": "é" * 25_001}, "50,002 bytes, 50,000 are allowed"),
        ("store_memory", {"content": "a\0b"}, "NUL"),
        ("store_memory", {"content": "x", "tags": ["a\0"]}, "NUL"),
        ("store_memory", {"content": "x", "metadata": {"a": "\0"}}, "NUL"),
        ("store_memory", {"content": "x", "confidence": 1.01}, "confidence must be between 0 and 1"),
        ("store_memory", {"content": "x", "confidence": -0.1}, "confidence must be between 0 and 1"),
        ("store_memory", {"content": "x", "confidence": "sure"}, "confidence"),
        ("store_memory", {"content": "x", "memory_type": "t" * 201}, "200 are allowed"),
        ("store_memory", {"content": "x", "tags": "a"}, "tags"),
        ("store_memory", {"content": "x", "tags": ["t"] * 101}, "100 are allowed"),
        ("store_memory", {"content": "x", "metadata": [1]}, "metadata"),
        ("store_memory", {"content": "x", "entity_names": ["n" * 501]}, "500 are allowed"),
        ("store_memory", {"content": "x", "entity_names": [str(n) for n in range(1001)]}, "1000 are allowed"),
        ("store_memory", {"content": "x", "colour": "red"}, "colour is not known here"),
        ("store_memory", {"content": ["x"]}, "content"),
        ("update_memory", {"memory_id": "nothing", "content": "x"}, "no memory has the id nothing"),
        ("create_relations", {"relations": [{"source": "A", "target": "B"}]}, "type"),
        ("create_relations", {"relations": [
            {"source": "A", "target": "B", "relation_type": "uses", "strength": 2}
        ]}, "strength"),
        ("create_entities", {"entities": [{"name": "A", "entity_type": "x"}, {"name": ""}]}, "name is empty"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_and_nothing_is_stored(
    memory: Conversation, tool: str, arguments: Json, complaint: str
) -> None:
    with pytest.raises(Refused, match=re.escape(complaint)):
        memory.call(tool, **arguments)
    stats = memory.call("get_memory_stats")
    assert (stats["total_memories"], stats["total_entities"], stats["total_relations"]) == (0, 0, 0)


@pytest.mark.parametrize(
    ("tool", "arguments", "complaint"),
    [
        ("recall_memories", {"query": ""}, "query is empty"),
        ("recall_memories", {"query": "q" * 20_001}, "20,000 are allowed"),
        ("recall_memories", {"query": "a\0b"}, "NUL"),
        ("recall_memories", {"query": "x", "limit": 0}, "limit must be between 1 and 100"),
        ("recall_memories", {"query": "x", "limit": 101}, "limit must be between 1 and 100"),
        ("recall_memories", {"query": "x", "offset": -1}, "offset"),
        ("recall_memories", {"query": "x", "min_confidence": 1.5}, "min_confidence"),
        ("recall_memories", {"query": "x", "search_mode": "psychic"}, "search_mode"),
        ("recall_memories", {"query": "x", "hops": 6, "search_mode": "graph"}, "hops"),
        ("recall_memories", {"query": "x", "entity_name": "Nobody"}, "Nobody"),
        ("recall_memories", {"query": "x", "after_date": "soon"}, "after_date"),
        ("delete_memories", {}, "nothing says which memories to delete"),
        ("delete_memories", {"memory_ids": []}, "nothing says which memories to delete"),
        ("delete_memories", {"min_confidence_below": 1.5}, "between 0 and 1"),
        ("delete_memories", {"before_date": "soon"}, "before_date"),
        ("get_entity_graph", {"entity_name": "Nobody"}, "Nobody"),
        ("get_entity_graph", {"entity_name": "A", "depth": 6}, "depth"),
        ("get_entity_graph", {"entity_name": "A", "depth": -1}, "depth"),
        ("get_entity_graph", {"entity_name": "A", "min_strength": 2}, "min_strength"),
        ("consolidate_memories", {"similarity_threshold": 2}, "threshold"),
        ("consolidate_memories", {"similarity_threshold": -0.5}, "threshold"),
        ("get_memory_stats", {"verbose": True}, "verbose is not known here"),
        ("restore_memory", {"memory_id": "nothing"}, "no memory has the id nothing"),
        ("memory_history", {"memory_id": "nothing"}, "no memory has the id nothing"),
        ("undo_change", {"change_id": "nothing"}, "nothing"),
        ("list_changes", {"limit": 0}, "limit must be between 1 and 100"),
    ],
)
def test_bad_questions_are_refused_and_nothing_changes(
    memory: Conversation, tool: str, arguments: Json, complaint: str
) -> None:
    id = store(memory, "The office is in Berlin", entity_names=["A"])
    before = memory.call("list_changes", limit=1)
    with pytest.raises(Refused, match=re.escape(complaint)):
        memory.call(tool, **arguments)
    assert memory.call("list_changes", limit=1) == before
    assert memory.call("recall_memories", query="office")["memories"][0]["id"] == id


def test_unknown_ids_delete_nothing_and_are_reported(memory: Conversation) -> None:
    id = store(memory, "The office is in Berlin")
    answer = memory.call("delete_memories", memory_ids=["nothing", "' OR 1=1 --"])
    assert (answer["deleted_count"], answer["not_found"]) == (0, ["nothing", "' OR 1=1 --"])
    assert memory.call("recall_memories", query="office")["memories"][0]["id"] == id


@pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid", "graph"])
@pytest.mark.parametrize(
    "query",
    [
        "'; DROP TABLE memory; --", '"unbalanced', "a AND OR NOT b", "NEAR(a b, 3)", "content:secret*",
        "(((", "^ * : -", "%_%", "\\", "$1 :name ?", "office {0} %s", "🏢 office", "\u202eoffice",
    ],
)  # fmt: skip
def test_a_query_that_looks_like_syntax_is_only_words(memory: Conversation, query: str, mode: str) -> None:
    store(memory, "The office is in Berlin")
    answer = memory.call("recall_memories", query=query, search_mode=mode)
    assert len(answer["memories"]) <= 1
    assert memory.call("get_memory_stats")["total_memories"] == 1


@pytest.mark.parametrize(
    "content",
    [
        "'); DROP TABLE memory; --",
        "Ünïcödé 日本語 العربية 🏳️‍🌈",
        "{{7*7}} ${HOME} %s",
        "line\r\nbreak\ttab",
        "\ufeffmark",
    ],
)
def test_any_text_comes_back_as_it_went_in(memory: Conversation, content: str) -> None:
    stored = memory.call("store_memory", content=content, tags=["t'ag\"s"], metadata={"ключ": "'"})
    assert stored["content"] == content
    [found] = memory.call("recall_memories", query=content.strip() or "x", min_confidence=0)["memories"]
    assert (found["content"], found["tags"], found["metadata"]) == (content, ["t'ag\"s"], {"ключ": "'"})


def test_content_may_have_as_many_bytes_as_the_limit_says(memory: Conversation) -> None:
    content = "long " * 10_000
    assert len(content.encode()) == 50_000
    assert memory.call("store_memory", content=content)["content"] == content
