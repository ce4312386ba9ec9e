"""Forgetting, restoring, undoing, deleting and purging from the command line."""

from __future__ import annotations

import pytest

from tests.surfaces.cli.running import Program


@pytest.fixture
def id(program: Program) -> str:
    return program.said("remember", "User prefers dark mode", "--type", "preference", "--about", "Alice")


def found(program: Program, query: str = "dark mode") -> list[str]:
    return [one["id"] for one in program.json("recall", query)["memories"]]


def test_forget_hides_and_restore_brings_back(program: Program, id: str) -> None:
    assert "Forgotten: “User prefers dark mode”" in program.said("forget", id, "--reason", "wrong")
    assert found(program) == []
    [hidden] = program.json("memories", "list", "--forgotten")["memories"]
    assert (hidden["id"], hidden["forgotten_reason"]) == (id, "wrong")
    assert "Restored" in program.said("restore", id)
    assert found(program) == [id]


def test_forgetting_what_is_not_there_is_told(program: Program, id: str) -> None:
    result = program.run("forget", id, "nothing")
    assert (result.exit_code, found(program)) == (1, [])
    assert "no memory has the id nothing" in result.stderr


def test_history_of_a_memory_has_its_versions_and_events(program: Program, id: str) -> None:
    program.said("memories", "edit", id, "--content", "User prefers light mode")
    program.said("forget", id)
    past = program.json("history", id)
    assert [(one["number"], one["content"]) for one in past["versions"]] == [(1, "User prefers dark mode")]
    assert [one["event"] for one in past["events"]] == [
        "memory_created", "memory_updated", "memory_forgotten", "memory_deleted",
    ]  # fmt: skip
    assert {one["client"] for one in past["events"]} == {"mcp-memory"}
    shown = program.said("history", id)
    for told in ("(forgotten)", "User prefers light mode", "User prefers dark mode", "updated"):
        assert told in shown


def test_history_of_a_deleted_memory_is_still_told(program: Program, id: str) -> None:
    program.said("delete", id, "--yes")
    past = program.json("history", id)
    assert (past["memory"], past["events"][-1]["event"]) == (None, "memory_deleted")
    assert "gone" in program.said("history", id)
    assert "no memory has the id nothing" in program.refusal("history", "nothing")


def test_history_lists_changes_newest_first_in_pages(program: Program, id: str) -> None:
    program.said("memories", "pin", id)
    [newest] = program.json("history", "--limit", "1")
    [older] = program.json("history", "--limit", "1", "--before", str(newest["cursor"]))
    assert (newest["summary"], older["summary"]) == (
        "changed 1 memory",
        "created 1 entity, remembered 1 memory",
    )
    assert f"--before {newest['cursor']}" in program.run("history", "--limit", "1").stderr


def test_an_earlier_version_can_be_restored(program: Program, id: str) -> None:
    program.said("memories", "edit", id, "--content", "User prefers light mode")
    assert program.json("restore", id, "--version", "1")["content"] == "User prefers dark mode"
    assert "has no version 9" in program.refusal("restore", id, "--version", "9")


def test_undo_takes_back_the_last_change_and_itself(program: Program, id: str) -> None:
    program.said("delete", id, "--yes")
    undone = program.json("undo")
    assert (found(program), undone["restored"]) == ([id], [id])
    program.said("undo", undone["by_act"])
    assert found(program) == []


def test_undo_of_a_change_that_history_shows(program: Program, id: str) -> None:
    program.said("memories", "pin", id)
    program.said("remember", "something else")
    change = next(one for one in program.json("history") if one["summary"] == "changed 1 memory")
    assert "Undone" in program.said("undo", change["act"])
    assert program.json("memories", "list", "--pinned")["total"] == 0


def test_undo_with_nothing_to_undo_says_so(program: Program) -> None:
    assert "no change left" in program.refusal("undo")
    assert "no change" in program.refusal("undo", "nothing")


def test_delete_asks_first_and_heeds_the_answer(program: Program, id: str) -> None:
    assert "Delete 1 memory?" in program.refusal("delete", id, answer="n\n")
    assert "Aborted" in program.refusal("delete", id)
    assert found(program) == [id]
    assert "Deleted 1 memory." in program.said("delete", id, answer="y\n")
    assert found(program) == []


def test_delete_by_conditions_takes_only_what_meets_all(program: Program, id: str) -> None:
    weak = program.said("remember", "Perhaps it rains", "--confidence", "0.2")
    other = program.said("remember", "Perhaps the user is tired", "--type", "fact", "--confidence", "0.2")
    preview = program.json("delete", "--below-confidence", "0.5", "--dry-run")
    assert (set(preview["deleted"]), preview["change"]) == ({weak, other}, None)
    assert program.json("memories", "list")["total"] == 3
    done = program.json("delete", "--below-confidence", "0.5", "--type", "fact", "--yes")
    assert (done["deleted"], done["dry_run"]) == ([other], False)
    kept = {one["id"] for one in program.json("memories", "list")["memories"]}
    assert kept == {id, weak}
    program.said("undo", done["change"])
    assert program.json("memories", "list")["total"] == 3


def test_delete_before_a_day(program: Program, id: str) -> None:
    assert program.json("delete", "--before", "2000-01-01", "--yes")["deleted"] == []
    assert program.json("delete", "--before", "2100-01-01", "--yes")["deleted"] == [id]


def test_delete_without_a_condition_is_refused(program: Program, id: str) -> None:
    assert "Say which memories" in program.refusal("delete", "--yes")
    assert found(program) == [id]


def test_delete_tells_which_ids_no_memory_has(program: Program, id: str) -> None:
    assert "no memory has the id nothing" in program.refusal("delete", id, "nothing", "--yes")
    assert found(program) == []


def test_restore_brings_back_what_was_deleted(program: Program, id: str) -> None:
    program.said("delete", id, "--yes")
    program.said("restore", id)
    assert found(program) == [id]
    assert "no memory has the id nothing" in program.refusal("restore", "nothing")


def test_purge_removes_for_good_after_asking(program: Program, id: str) -> None:
    assert program.json("purge", id, "--dry-run")["memory_ids"] == [id]
    assert "for good?" in program.refusal("purge", id, answer="n\n")
    assert found(program) == [id]
    assert "Removed 1 memory for good" in program.said("purge", id, answer="y\n")
    for command in (["restore", id], ["memories", "show", id]):
        program.refusal(*command)
    assert "dark mode" not in program.said("history")


def test_purge_of_an_entity_takes_what_is_known_of_it(program: Program, id: str) -> None:
    assert "the entity 'Alice' and 1 memory" in program.said("purge", "Alice", "--yes")
    assert found(program) == []
    assert program.json("entities", "list")["total"] == 0
    program.refusal("purge", "Alice", "--yes")
