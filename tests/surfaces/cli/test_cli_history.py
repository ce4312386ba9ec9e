"""Forgetting, restoring, undoing, deleting and purging from the command line."""

from __future__ import annotations

import pytest

from tests.surfaces.cli.shell import Shell


@pytest.fixture
def id(shell: Shell) -> str:
    return shell.said("remember", "User prefers dark mode", "--type", "preference", "--about", "Alice")


def found(shell: Shell, query: str = "dark mode") -> list[str]:
    return [one["id"] for one in shell.json("recall", query)["memories"]]


def test_forget_hides_and_restore_brings_back(shell: Shell, id: str) -> None:
    assert "Forgotten: “User prefers dark mode”" in shell.said("forget", id, "--reason", "wrong")
    assert found(shell) == []
    [hidden] = shell.json("memories", "list", "--forgotten")["memories"]
    assert (hidden["id"], hidden["forgotten_reason"]) == (id, "wrong")
    assert "Restored" in shell.said("restore", id)
    assert found(shell) == [id]


def test_forgetting_what_is_not_there_is_told(shell: Shell, id: str) -> None:
    result = shell.run("forget", id, "nothing", exit_code=1)
    assert found(shell) == []
    assert "no memory has the id nothing" in result.stderr


def test_history_of_a_memory_has_its_versions_and_events(shell: Shell, id: str) -> None:
    shell.said("memories", "edit", id, "--content", "User prefers light mode")
    shell.said("forget", id)
    past = shell.json("history", id)
    assert [(one["number"], one["content"]) for one in past["versions"]] == [(1, "User prefers dark mode")]
    assert [one["event"] for one in past["events"]] == [
        "memory_created", "memory_updated", "memory_forgotten", "memory_deleted",
    ]  # fmt: skip
    assert {one["client"] for one in past["events"]} == {"mcp-memory"}
    shown = shell.said("history", id)
    for told in ("(forgotten)", "User prefers light mode", "User prefers dark mode", "updated"):
        assert told in shown


def test_history_of_a_deleted_memory_is_still_told(shell: Shell, id: str) -> None:
    shell.said("delete", id, "--yes")
    past = shell.json("history", id)
    assert (past["memory"], past["events"][-1]["event"]) == (None, "memory_deleted")
    assert "was deleted" in shell.said("history", id)
    assert "no memory has the id nothing" in shell.complaint("history", "nothing")


def test_history_lists_changes_newest_first_in_pages(shell: Shell, id: str) -> None:
    shell.said("memories", "pin", id)
    [newest] = shell.json("history", "--limit", "1")
    [older] = shell.json("history", "--limit", "1", "--before", str(newest["cursor"]))
    assert (newest["summary"], older["summary"]) == (
        "changed 1 memory: pinned",
        "created 1 entity, remembered 1 memory",
    )
    assert f"--before {newest['cursor']}" in shell.run("history", "--limit", "1").stderr


def test_an_earlier_version_can_be_restored(shell: Shell, id: str) -> None:
    shell.said("memories", "edit", id, "--content", "User prefers light mode")
    assert shell.json("restore", id, "--version", "1")["content"] == "User prefers dark mode"
    assert "has no version 9" in shell.complaint("restore", id, "--version", "9")


def test_undo_takes_back_the_last_change_and_itself(shell: Shell, id: str) -> None:
    shell.said("delete", id, "--yes")
    undone = shell.json("undo")
    assert (found(shell), undone["restored"]) == ([id], [id])
    shell.said("undo", undone["by_act"])
    assert found(shell) == []


def test_undo_of_a_change_that_history_shows(shell: Shell, id: str) -> None:
    shell.said("memories", "pin", id)
    shell.said("remember", "something else")
    change = next(one for one in shell.json("history") if one["summary"] == "changed 1 memory: pinned")
    assert "Undone" in shell.said("undo", change["act"])
    assert shell.json("memories", "list", "--pinned")["total"] == 0


def test_undo_with_nothing_to_undo_says_so(shell: Shell) -> None:
    assert "no change left" in shell.complaint("undo")
    assert "no change" in shell.complaint("undo", "nothing")


def test_delete_asks_first_and_heeds_the_answer(shell: Shell, id: str) -> None:
    assert "Delete 1 memory?" in shell.complaint("delete", id, input="n\n")
    assert "Aborted" in shell.complaint("delete", id)
    assert found(shell) == [id]
    assert "Deleted 1 memory." in shell.said("delete", id, input="y\n")
    assert found(shell) == []


def test_delete_by_conditions_takes_only_what_meets_all(shell: Shell, id: str) -> None:
    weak = shell.said("remember", "Perhaps it rains", "--confidence", "0.2")
    other = shell.said("remember", "Perhaps the user is tired", "--type", "fact", "--confidence", "0.2")
    preview = shell.json("delete", "--below-confidence", "0.5", "--dry-run")
    assert (set(preview["deleted"]), preview["change"]) == ({weak, other}, None)
    assert shell.json("memories", "list")["total"] == 3
    done = shell.json("delete", "--below-confidence", "0.5", "--type", "fact", "--yes")
    assert (done["deleted"], done["dry_run"]) == ([other], False)
    kept = {one["id"] for one in shell.json("memories", "list")["memories"]}
    assert kept == {id, weak}
    shell.said("undo", done["change"])
    assert shell.json("memories", "list")["total"] == 3


def test_delete_before_a_day(shell: Shell, id: str) -> None:
    assert shell.json("delete", "--before", "2000-01-01", "--yes")["deleted"] == []
    assert shell.json("delete", "--before", "2100-01-01", "--yes")["deleted"] == [id]


def test_delete_without_a_condition_is_refused(shell: Shell, id: str) -> None:
    assert "Say which memories" in shell.complaint("delete", "--yes")
    assert found(shell) == [id]


def test_delete_tells_which_ids_no_memory_has(shell: Shell, id: str) -> None:
    assert "no memory has the id nothing" in shell.complaint("delete", id, "nothing", "--yes")
    assert found(shell) == []


def test_restore_brings_back_what_was_deleted(shell: Shell, id: str) -> None:
    shell.said("delete", id, "--yes")
    shell.said("restore", id)
    assert found(shell) == [id]
    assert "no memory has the id nothing" in shell.complaint("restore", "nothing")


def test_purge_removes_for_good_after_asking(shell: Shell, id: str) -> None:
    assert shell.json("purge", id, "--dry-run")["memory_ids"] == [id]
    assert "for good?" in shell.complaint("purge", id, input="n\n")
    assert found(shell) == [id]
    assert "Removed 1 memory for good" in shell.said("purge", id, input="y\n")
    for command in (["restore", id], ["memories", "show", id]):
        shell.complaint(*command)
    assert "dark mode" not in shell.said("history")


def test_purge_of_an_entity_takes_what_is_known_of_it(shell: Shell, id: str) -> None:
    assert "the entity 'Alice' and 1 memory" in shell.said("purge", "Alice", "--yes")
    assert found(shell) == []
    assert shell.json("entities", "list")["total"] == 0
    shell.complaint("purge", "Alice", "--yes")
