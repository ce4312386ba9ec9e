"""Consolidating, pruning, counting and looking around from the command line."""

from __future__ import annotations

import pytest

from tests.surfaces.cli.running import Program


@pytest.fixture
def similar(program_with_model: Program) -> Program:
    """Memories that say the same, stored while there was no model to notice it."""
    without_model = Program(program_with_model.folder)
    without_model.said("remember", "User prefers dark mode", "--tag", "a", "--about", "Alice")
    without_model.said("remember", "The user likes dark mode", "--tag", "b", "--about", "Bob")
    without_model.said("remember", "The office is in Berlin")
    return program_with_model


def test_consolidate_previews_without_changing_anything(similar: Program) -> None:
    report = similar.json("consolidate", "--dry-run")
    assert (report["clusters_found"], report["memories_merged"], report["memories_deleted"]) == (1, 2, 1)
    assert (report["change"], report["dry_run"]) == (None, True)
    assert similar.json("memories", "list")["total"] == 3
    assert "Would merge 2 memories into 1" in similar.said("consolidate", "--dry-run")


def test_consolidate_merges_and_can_be_undone(similar: Program) -> None:
    done = similar.json("consolidate")
    [cluster] = done["clusters"]
    [merged] = [one for one in similar.json("memories", "list")["memories"] if one["tags"]]
    assert merged["id"] == cluster["primary"]["id"]
    assert (set(merged["tags"]), set(merged["entities"])) == ({"a", "b"}, {"Alice", "Bob"})
    similar.said("undo", done["change"])
    assert similar.json("memories", "list")["total"] == 3


def test_consolidate_looks_again_at_everything_only_when_asked(similar: Program) -> None:
    similar.said("consolidate")
    assert similar.json("consolidate")["compared"] == 1, "what has just been merged is new"
    assert similar.json("consolidate")["compared"] == 0
    assert similar.json("consolidate", "--full")["compared"] == 2


def test_consolidate_without_a_model_says_what_is_missing(program: Program) -> None:
    assert "cannot be compared by meaning" in program.refusal("consolidate")
    assert "--threshold" in program.refusal("consolidate", "--threshold", "2")


def test_prune_previews_then_takes_what_has_faded_and_can_be_undone(program: Program) -> None:
    faded = program.said("remember", "Perhaps it rains", "--confidence", "0.01")
    program.said("remember", "The office is in Berlin")
    preview = program.json("prune", "--dry-run")
    assert [one["id"] for one in preview["pruned"]] == [faded]
    assert program.json("memories", "list")["total"] == 2
    assert "Pruned 1 memory." in program.said("prune")
    assert program.json("memories", "list")["total"] == 1
    program.said("undo")
    assert program.json("memories", "list")["total"] == 2


def test_prune_spares_what_is_pinned(program: Program) -> None:
    id = program.said("remember", "Perhaps it rains", "--confidence", "0.01")
    program.said("memories", "pin", id)
    assert program.json("prune")["pruned"] == []


def test_stats_count_what_there_is(program: Program) -> None:
    program.said("remember", "one", "--type", "fact", "--tag", "a", "--about", "Alice")
    program.said("remember", "two", "--type", "fact", "--confidence", "0.2")
    program.said("relations", "create", "Alice", "knows", "Bob", "--make-ends")
    stats = program.json("stats", "--tags", "--growth", "day", "--confidence")
    expected = {
        "total_memories": 2, "total_entities": 2, "total_relations": 1, "memories_by_type": {"fact": 2},
        "low_confidence_count": 1, "tags": [{"tag": "a", "memories": 1}], "forgotten_memories": 0,
    }  # fmt: skip
    assert expected.items() <= stats.items()
    assert stats["average_confidence"] == pytest.approx(0.6, abs=0.01)
    assert stats["growth"][-1]["added"] == 2
    assert sum(part["memories"] for part in stats["confidence"]) == 2
    assert "memories\t2" in program.said("stats")


def test_stats_of_an_empty_space(program: Program) -> None:
    stats = program.json("stats")
    assert (stats["total_memories"], stats["oldest_memory"]) == (0, None)
    program.said("stats", "--tags", "--growth", "month", "--confidence")


def test_entity_graph_goes_as_far_as_asked(program: Program) -> None:
    for source, target in (("A", "B"), ("A", "C"), ("B", "D")):
        program.said("relations", "create", source, "uses", target, "--make-ends", "--strength", "0.6")
    program.said("remember", "B is slow", "--about", "B")

    def names(*options: str) -> set[str]:
        return {node["name"] for node in program.json("entity-graph", "A", *options)["nodes"]}

    assert names() == {"A", "B", "C"}
    assert names("--depth", "2") == {"A", "B", "C", "D"}
    assert names("--min-strength", "0.7") == {"A"}
    shown = program.said("entity-graph", "A")
    assert "• B is slow" in shown
    assert "B is slow" not in program.said("entity-graph", "A", "--no-memories")
    assert "Nobody" in program.refusal("entity-graph", "Nobody")
