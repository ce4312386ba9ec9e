"""Consolidating, pruning, counting and looking around from the command line."""

from __future__ import annotations

import pytest

from tests.surfaces.cli.shell import Shell


@pytest.fixture
def similar(shell_with_model: Shell) -> Shell:
    """Memories that say the same, stored while there was no model to notice it."""
    without_model = Shell(shell_with_model.folder)
    without_model.said("remember", "User prefers dark mode", "--tag", "a", "--about", "Alice")
    without_model.said("remember", "The user likes dark mode", "--tag", "b", "--about", "Bob")
    without_model.said("remember", "The office is in Berlin")
    return shell_with_model


def test_consolidate_previews_without_changing_anything(similar: Shell) -> None:
    report = similar.json("consolidate", "--dry-run")
    assert (report["clusters_found"], report["memories_merged"], report["memories_deleted"]) == (1, 2, 1)
    assert (report["change"], report["dry_run"]) == (None, True)
    assert similar.json("memories", "list")["total"] == 3
    assert "Would merge 2 memories into 1" in similar.said("consolidate", "--dry-run")


def test_consolidate_merges_and_can_be_undone(similar: Shell) -> None:
    done = similar.json("consolidate")
    [cluster] = done["clusters"]
    [merged] = [one for one in similar.json("memories", "list")["memories"] if one["tags"]]
    assert merged["id"] == cluster["primary"]["id"]
    assert (set(merged["tags"]), set(merged["entities"])) == ({"a", "b"}, {"Alice", "Bob"})
    similar.said("undo", done["change"])
    assert similar.json("memories", "list")["total"] == 3


def test_consolidate_looks_again_at_everything_only_when_asked(similar: Shell) -> None:
    similar.said("consolidate")
    assert similar.json("consolidate")["compared"] == 1, "what has just been merged is new"
    assert similar.json("consolidate")["compared"] == 0
    assert similar.json("consolidate", "--full")["compared"] == 2


def test_consolidate_without_a_model_says_what_is_missing(shell: Shell) -> None:
    assert "cannot be compared by meaning" in shell.complaint("consolidate")
    assert "--threshold" in shell.complaint("consolidate", "--threshold", "2")


def test_prune_previews_then_takes_what_has_faded_and_can_be_undone(shell: Shell) -> None:
    faded = shell.said("remember", "Perhaps it rains", "--confidence", "0.01")
    shell.said("remember", "The office is in Berlin")
    preview = shell.json("prune", "--dry-run")
    assert [one["id"] for one in preview["pruned"]] == [faded]
    assert shell.json("memories", "list")["total"] == 2
    assert "Pruned 1 memory." in shell.said("prune")
    assert shell.json("memories", "list")["total"] == 1
    shell.said("undo")
    assert shell.json("memories", "list")["total"] == 2


def test_prune_spares_what_is_pinned(shell: Shell) -> None:
    id = shell.said("remember", "Perhaps it rains", "--confidence", "0.01")
    shell.said("memories", "pin", id)
    assert shell.json("prune")["pruned"] == []


def test_stats_count_what_there_is(shell: Shell) -> None:
    shell.said("remember", "one", "--type", "fact", "--tag", "a", "--about", "Alice")
    shell.said("remember", "two", "--type", "fact", "--confidence", "0.2")
    shell.said("relations", "create", "Alice", "knows", "Bob", "--make-ends")
    stats = shell.json("stats", "--tags", "--growth", "day", "--confidence")
    expected = {
        "total_memories": 2, "total_entities": 2, "total_relations": 1, "memories_by_type": {"fact": 2},
        "low_confidence_count": 1, "tags": [{"tag": "a", "memories": 1}], "forgotten_memories": 0,
    }  # fmt: skip
    assert expected.items() <= stats.items()
    assert stats["average_confidence"] == pytest.approx(0.6, abs=0.01)
    assert stats["growth"][-1]["added"] == 2
    assert sum(part["memories"] for part in stats["confidence"]) == 2
    assert "memories\t2" in shell.said("stats")


def test_stats_of_an_empty_space(shell: Shell) -> None:
    stats = shell.json("stats")
    assert (stats["total_memories"], stats["oldest_memory"]) == (0, None)
    shell.said("stats", "--tags", "--growth", "month", "--confidence")


def test_entity_graph_goes_as_far_as_asked(shell: Shell) -> None:
    for source, target in (("A", "B"), ("A", "C"), ("B", "D")):
        shell.said("relations", "create", source, "uses", target, "--make-ends", "--strength", "0.6")
    shell.said("remember", "B is slow", "--about", "B")

    def names(*options: str) -> set[str]:
        return {node["name"] for node in shell.json("entity-graph", "A", *options)["nodes"]}

    assert names() == {"A", "B", "C"}
    assert names("--depth", "2") == {"A", "B", "C", "D"}
    assert names("--min-strength", "0.7") == {"A"}
    shown = shell.said("entity-graph", "A")
    assert "• B is slow" in shown
    assert "B is slow" not in shell.said("entity-graph", "A", "--no-memories")
    assert "Nobody" in shell.complaint("entity-graph", "Nobody")
