"""Storing, finding and changing memories from the command line."""

from __future__ import annotations

import pytest

from tests.surfaces.cli.shell import Shell


def test_remember_prints_the_id_and_recall_finds_it(shell: Shell) -> None:
    id = shell.said("remember", "User prefers TypeScript", "--type", "preference")
    [found] = shell.json("recall", "typescript")["memories"]
    assert found["id"] == id
    assert (found["type"], found["confidence"], found["importance"]) == ("preference", 1.0, 0.5)


def test_remember_keeps_everything_it_is_given(shell: Shell) -> None:
    kept = shell.json(
        "remember", "Deploys happen on Fridays", "--type", "procedure", "--tag", "ops", "--tag", "release",
        "--about", "Acme", "--about", "Alice", "--confidence", "0.9", "--importance", "0.2",
        "--source", "meeting", "--context", "retro", "--channel", "c1", "--metadata", '{"room": 4}',
    )  # fmt: skip
    expected = {
        "content": "Deploys happen on Fridays", "type": "procedure", "tags": ["ops", "release"],
        "confidence": 0.9, "importance": 0.2, "source": "meeting", "context": "retro", "channel": "c1",
        "metadata": {"room": 4}, "entities": ["Acme", "Alice"], "pinned": False, "version": 1,
    }  # fmt: skip
    assert kept["outcome"] == "created"
    assert expected.items() <= kept["memory"].items()


def test_remember_takes_the_text_from_standard_input(shell: Shell) -> None:
    id = shell.said("remember", "-", input="From a pipe,\nin two lines\n")
    [shown] = shell.json("memories", "show", id)
    assert shown["content"] == "From a pipe,\nin two lines"


def test_what_is_known_is_not_stored_twice(shell: Shell) -> None:
    first = shell.said("remember", "User prefers dark mode", "--tag", "a")
    again = shell.run("remember", "User prefers dark mode", "--tag", "b")
    assert again.stdout.strip() == first
    assert "remembered already" in again.stderr
    listed = shell.json("memories", "list")
    assert (listed["total"], listed["memories"][0]["tags"]) == (1, ["a", "b"])


def test_the_same_in_other_words_is_merged_and_something_close_is_told(shell_with_model: Shell) -> None:
    shell = shell_with_model
    first = shell.said("remember", "User prefers dark mode")
    merged = shell.run("remember", "The user likes dark mode")
    assert merged.stdout.strip() == first
    assert "says the same" in merged.stderr
    release = shell.said("remember", "The release is on March 14th")
    other = shell.run("remember", "The release is on March 15th")
    assert other.stdout.strip() != release
    assert f"Close to {release}" in other.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["remember", "  "], "empty"),
        (["remember", "x" * 50_001], "50,000 are allowed"),
        (["remember", "x", "--confidence", "1.5"], "--confidence"),
        (["remember", "x", "--metadata", "[1]"], "not a JSON object"),
        (["remember", "x", "--metadata", "{"], "not JSON"),
        (["recall", " "], "query is empty"),
        (["recall", "x", "--limit", "0"], "--limit"),
        (["recall", "x", "--limit", "101"], "--limit"),
        (["recall", "x", "--mode", "psychic"], "--mode"),
        (["recall", "x", "--about", "Nobody"], "Nobody"),
        (["memories", "list", "--after", "soon"], "not a time"),
        (["memories", "list", "--about", "Nobody"], "Nobody"),
        (["memories", "show", "nothing"], "no memory has the id nothing"),
        (["memories", "edit", "nothing", "--content", "x"], "no memory has the id nothing"),
        (["memories", "pin", "nothing"], "no memory has the id nothing"),
        (["link", "nothing", "other"], "no memory has the id nothing"),
    ],
)
def test_a_mistake_is_told_and_changes_nothing(shell: Shell, arguments: list[str], complaint: str) -> None:
    assert complaint in shell.complaint(*arguments)
    assert shell.json("memories", "list")["total"] == 0


@pytest.fixture
def stocked(shell: Shell) -> Shell:
    for text, *options in (
        ("Chose React for the frontend", "--type", "decision", "--tag", "web", "--about", "Site"),
        (
            "Chose Postgres for the backend",
            "--type",
            "decision",
            "--tag",
            "web",
            "--tag",
            "data",
            "--importance",
            "0.8",
        ),
        ("Backend tests fail on Mondays", "--type", "pattern", "--confidence", "0.3", "--source", "ci"),
        ("The backend is called Juno", "--type", "fact", "--channel", "standup"),
    ):
        shell.said("remember", text, *options)
    return shell


@pytest.mark.parametrize(
    ("options", "contents"),
    [
        (["--type", "decision"], {"Chose Postgres for the backend"}),
        (["--type", "fact", "--type", "error"], {"The backend is called Juno"}),
        (["--tag", "web", "--tag", "data"], {"Chose Postgres for the backend"}),
        (["--source", "ci"], {"Backend tests fail on Mondays"}),
        (["--channel", "standup"], {"The backend is called Juno"}),
        (["--min-confidence", "0.5"], {"Chose Postgres for the backend", "The backend is called Juno"}),
        (["--after", "2100-01-01"], set()),
        (["--before", "2000-01-01T00:00:00"], set()),
        (["--limit", "1"], {"The backend is called Juno"}),
    ],
)  # fmt: skip
def test_filters_narrow_a_search(stocked: Shell, options: list[str], contents: set[str]) -> None:
    found = stocked.json("recall", "called backend", "--mode", "keyword", *options)["memories"]
    assert {one["content"] for one in found} == contents


def test_a_search_can_be_narrowed_to_an_entity_and_follow_the_graph(stocked: Shell) -> None:
    [about] = stocked.json("recall", "chose", "--about", "Site")["memories"]
    assert about["entities"] == ["Site"]
    stocked.said("relations", "create", "Juno", "serves", "Site", "--make-ends")
    [near] = stocked.json("recall", "Juno", "--mode", "graph")["memories"]
    assert near["content"] == "Chose React for the frontend"


def test_pages_of_a_search_follow_each_other(stocked: Shell) -> None:
    every = [one["id"] for one in stocked.json("recall", "backend")["memories"]]
    second = stocked.json("recall", "backend", "--limit", "1", "--offset", "1")
    assert [one["id"] for one in second["memories"]] == every[1:2]


def test_explain_says_where_a_result_came_from(stocked: Shell) -> None:
    [first, *_] = stocked.json("recall", "juno", "--explain")["memories"]
    assert first["explanation"]["keyword"] == 1.0
    assert "keyword 1" in stocked.said("recall", "juno", "--explain")


def test_a_search_without_a_model_says_so(shell: Shell) -> None:
    shell.said("remember", "User prefers dark mode")
    assert "keyword only" in shell.run("recall", "dark").stderr
    assert shell.run("recall", "dark", "--mode", "keyword").stderr == ""


def test_lists_have_orders_pages_and_filters(stocked: Shell) -> None:
    def contents(*options: str) -> list[str]:
        return [one["content"] for one in stocked.json("memories", "list", *options)["memories"]]

    assert contents("--order", "oldest", "--limit", "1") == ["Chose React for the frontend"]
    assert contents("--order", "importance", "--limit", "1") == ["Chose Postgres for the backend"]
    assert contents("--order", "weakest", "--limit", "1") == ["Backend tests fail on Mondays"]
    assert contents("--about", "Site") == ["Chose React for the frontend"]
    assert contents("--pinned") == []
    page = stocked.run("memories", "list", "--limit", "3")
    assert "3 of 4; continue with --offset 3" in page.stderr
    assert len(contents("--offset", "3")) == 1


def test_show_tells_all_there_is_to_know(stocked: Shell) -> None:
    [newest, older] = [one["id"] for one in stocked.json("memories", "list", "--limit", "2")["memories"]]
    stocked.said("link", newest, older, "--type", "caused_by", "--weight", "0.8")
    [shown] = stocked.json("memories", "show", newest)
    [link] = shown["associations"]
    assert (link["source_id"], link["target_id"]) == (newest, older)
    assert (link["type"], link["weight"]) == ("caused_by", 0.8)
    for told in ("The backend is called Juno", "standup", "caused_by →", older):
        assert told in stocked.said("memories", "show", newest)
    assert "← caused_by" in stocked.said("memories", "show", older)


def test_unlink_takes_associations_away_and_says_how_to_undo_it(stocked: Shell) -> None:
    [newest, older] = [one["id"] for one in stocked.json("memories", "list", "--limit", "2")["memories"]]
    for type in ("caused_by", "part_of"):
        stocked.said("link", newest, older, "--type", type)
    done = stocked.json("unlink", older, newest, "--type", "part_of")
    assert [one["type"] for one in done["associations"]] == ["part_of"]
    assert stocked.said("unlink", newest, older) == "Took away 1 association."
    assert "has no association" in stocked.refused("unlink", newest, older, exit_code=1)
    stocked.said("undo", done["change"])
    [shown] = stocked.json("memories", "show", newest)
    assert [one["type"] for one in shown["associations"]] == ["part_of"]


def test_show_shows_what_there_is_and_complains_of_what_is_not(stocked: Shell) -> None:
    [one] = stocked.json("memories", "list", "--limit", "1")["memories"]
    result = stocked.run("memories", "show", one["id"], "nothing", exit_code=1)
    assert one["content"] in result.stdout
    assert "no memory has the id nothing" in result.stderr


def test_edit_changes_what_is_given_and_leaves_the_rest(shell: Shell) -> None:
    id = shell.said("remember", "Server listens on port 8080", "--type", "fact", "--tag", "a")
    changed = shell.json("memories", "edit", id, "--content", "Server listens on port 9000")
    assert (changed["content"], changed["tags"], changed["version"]) == (
        "Server listens on port 9000", ["a"], 2,
    )  # fmt: skip
    assert shell.json("memories", "edit", id, "--no-tags")["tags"] == []
    assert shell.json("recall", "8080", "--mode", "keyword")["memories"] == []
    assert len(shell.json("recall", "9000", "--mode", "keyword")["memories"]) == 1


def test_edit_refuses_to_overwrite_what_changed_meanwhile(shell: Shell) -> None:
    id = shell.said("remember", "one")
    shell.said("memories", "edit", id, "--content", "two")
    assert "version 2, not 1" in shell.complaint(
        "memories", "edit", id, "--content", "three", "--expect-version", "1"
    )
    assert shell.json("memories", "show", id)[0]["content"] == "two"


def test_edit_without_a_change_or_an_editor_changes_nothing(shell: Shell) -> None:
    id = shell.said("remember", "one")
    assert "say what to change" in shell.complaint("memories", "edit", id)
    assert shell.json("memories", "show", id)[0]["version"] == 1


def test_pins_come_and_go(shell: Shell) -> None:
    id = shell.said("remember", "one")
    shell.said("memories", "pin", id)
    assert shell.json("memories", "list", "--pinned")["total"] == 1
    shell.said("memories", "unpin", id)
    assert shell.json("memories", "list", "--pinned")["total"] == 0


def test_an_update_supersedes_what_it_updates(shell: Shell) -> None:
    old, new = shell.said("remember", "Lives in Rome"), shell.said("remember", "Lives in Oslo")
    shell.said("link", new, old, "--type", "updates")
    assert shell.json("memories", "show", old)[0]["superseded_by"] == new


def test_memories_of_another_space_are_not_seen(shell: Shell) -> None:
    id = shell.said("--space", "work", "remember", "secret plan")
    assert shell.json("recall", "secret")["memories"] == []
    assert "no memory has the id" in shell.complaint("memories", "show", id)
    assert len(shell.json("--space", "work", "recall", "secret")["memories"]) == 1


def test_stored_text_cannot_steer_the_terminal(shell: Shell) -> None:
    id = shell.said("remember", "red \x1b[31malert\x07 one")
    for shown in (shell.said("memories", "list"), shell.said("memories", "show", id)):
        assert "\x1b" not in shown
        assert "\x07" not in shown
    assert shell.json("memories", "show", id)[0]["content"] == "red \x1b[31malert\x07 one"


def test_text_that_is_shown_cannot_turn_the_line_around(shell: Shell) -> None:
    id = shell.said("remember", "pay \u202e001\u202c or \u2067 1")
    for shown in (shell.said("memories", "list"), shell.said("memories", "show", id)):
        assert not set(shown) & set("\u202e\u202c\u2067")


def test_recall_fits_into_a_budget_and_shows_what_was_said_around(shell: Shell) -> None:
    for text in ("Where did you go last summer?", "We hiked across Iceland", "The lamp is broken " * 40):
        shell.said("remember", text)
    found = shell.json("recall", "hiking across Iceland", "--max-tokens", "40")["memories"]
    assert [one["content"] for one in found] == ["We hiked across Iceland"]
    assert "Where did you go last summer?" in found[0]["around"]
    assert "… Where did you go last summer?" in shell.said(
        "recall", "hiking across Iceland", "--max-tokens", "40"
    )
    assert "around" not in shell.json("recall", "hiking across Iceland")["memories"][0]


def test_lines_of_a_memory_stay_apart_in_piped_output(shell: Shell) -> None:
    shell.said("remember", "Nora lives in Lugo\nNora's home is Lugo")
    assert "Nora lives in Lugo / Nora's home is Lugo" in shell.said("recall", "Nora Lugo")
