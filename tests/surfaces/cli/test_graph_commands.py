"""Commands on entities, observations, relations and the graph."""

from __future__ import annotations

import pytest

from tests.surfaces.cli.shell import Shell


@pytest.fixture
def graph(shell: Shell) -> Shell:
    """Ana works at Acme."""
    shell.run("entities", "create", "Ana", "--type", "person", "-o", "likes tea", "-o", "has cats")
    shell.run("entities", "create", "Acme", "--type", "company", "--status", "paused")
    shell.run("relations", "create", "Ana", "works_at", "Acme")
    return shell


def test_an_entity_is_created_and_shown(graph: Shell) -> None:
    shown = graph.run("entities", "show", "Ana").stdout
    assert shown.startswith("Ana (person)\n  • likes tea\n  • has cats\n")
    assert "works_at" in shown
    told = graph.json("entities", "show", "Ana")
    assert [one["content"] for one in told["entities"][0]["observations"]] == ["likes tea", "has cats"]
    assert told["relations"][0]["to"] == "Acme"


def test_an_entity_that_is_not_there_is_named_after_those_that_are(graph: Shell) -> None:
    result = graph.run("entities", "show", "Ana", "Nobody", exit_code=1)
    assert "likes tea" in result.stdout
    assert "'Nobody'" in result.stderr


def test_entities_are_listed_by_type_and_status_and_in_parts(graph: Shell) -> None:
    assert [one["name"] for one in graph.json("entities", "list")["entities"]] == ["Ana", "Acme"]
    assert [one["name"] for one in graph.json("entities", "list", "--type", "person")["entities"]] == ["Ana"]
    assert [one["name"] for one in graph.json("entities", "list", "--status", "paused")["entities"]] == [
        "Acme"
    ]
    part = graph.run("entities", "list", "--limit", "1")
    assert "1 of 2; continue with --offset 1" in part.stderr
    assert [one["name"] for one in graph.json("entities", "list", "--offset", "1")["entities"]] == ["Acme"]


def test_deleting_says_what_was_deleted_and_what_was_not_there(graph: Shell) -> None:
    result = graph.run("entities", "delete", "Ana", "Nobody", exit_code=1)
    assert result.stdout == "Deleted 1 entity.\n"
    assert "'Nobody'" in result.stderr
    assert graph.json("relations", "list")["total"] == 0


def test_observations_are_added_superseded_and_deleted(graph: Shell) -> None:
    graph.run("observations", "add", "Ana", "likes coffee", "--supersedes", "likes tea", "--kind", "taste")
    told = graph.json("observations", "delete", "Ana", "has cats", "never said")
    assert [(one["content"], one["kind"]) for one in told["observations"]] == [("likes coffee", "taste")]
    everything = graph.json("entities", "show", "Ana", "--all")
    assert "likes tea" in [one["content"] for one in everything["entities"][0]["observations"]]


def test_a_limit_is_told_in_a_sentence(graph: Shell) -> None:
    message = graph.refused("observations", "add", "Ana", "x" * 2001, exit_code=2)
    assert "2,001 characters, 2,000 are allowed" in message


def test_a_relation_ends_by_number_or_by_its_words(graph: Shell) -> None:
    [relation] = graph.json("relations", "list")["relations"]
    assert graph.json("relations", "end", str(relation["number"]))["ended_at"]
    assert graph.json("relations", "list")["total"] == 0
    assert graph.json("relations", "list", "--ended")["total"] == 1
    graph.run("relations", "create", "Ana", "works_at", "Acme")
    assert graph.json("relations", "end", "Ana", "works_at", "Acme")["already"] is False
    assert graph.json("relations", "list", "--ended", "--entity", "Ana")["total"] == 2


def test_what_names_no_relation_is_refused(graph: Shell) -> None:
    assert "FROM TYPE TO" in graph.refused("relations", "end", "Ana", "works_at", exit_code=2)
    assert "not found" in graph.refused("relations", "end", "Ana", "hates", "Acme", exit_code=1)
    assert "not found" in graph.refused("relations", "delete", "Ana", "hates", "Acme", exit_code=1)


def test_a_relation_needs_its_ends_unless_they_may_be_made(graph: Shell) -> None:
    assert "--make-ends" in graph.refused("relations", "create", "Ana", "knows", "Bo", exit_code=1)
    graph.run("relations", "create", "Ana", "knows", "Bo", "--make-ends")
    assert graph.json("relations", "create", "Ana", "knows", "Bo")["existed"] is True


def test_a_relation_is_deleted(graph: Shell) -> None:
    assert graph.run("relations", "delete", "Ana", "works_at", "Acme").stdout == "Deleted 1 relation.\n"
    assert graph.json("relations", "list", "--ended")["total"] == 0


def test_without_a_model_search_goes_by_words_and_says_so(graph: Shell) -> None:
    result = graph.run("search", "who has a cat")
    assert result.stdout.startswith("Ana (person)")
    assert "EMBEDDING_PROVIDER is none" in result.stderr
    assert graph.json("search", "cats")["mode"].startswith("keyword only")


def test_with_a_model_search_goes_by_meaning(graph: Shell) -> None:
    found = graph.json("search", "which company", "--limit", "1", environment={"EMBEDDING_PROVIDER": "local"})
    if found["mode"].startswith("keyword"):
        pytest.skip(found["mode"])
    assert [one["name"] for one in found["results"]] == ["Acme"]


def test_a_piece_of_text_is_found_as_it_is(graph: Shell) -> None:
    assert [one["name"] for one in graph.json("search", "ikes t", "--words")["entities"]] == ["Ana"]
    assert graph.json("search", "%", "--words")["entities"] == []


def test_a_result_can_be_explained(graph: Shell) -> None:
    [first] = graph.json("search", "cats", "--explain")["results"]
    assert first["explanation"]["place_by_words"] == 1
    assert "  = place_by_meaning -, place_by_words 1" in graph.run("search", "cats", "--explain").stdout
    assert "explanation" not in graph.json("search", "cats")["results"][0]


def test_nothing_found_is_said(graph: Shell) -> None:
    assert "Nothing found." in graph.run("search", "zebra").stderr


def test_the_graph_is_read_in_pages(graph: Shell) -> None:
    first = graph.json("graph", "--limit", "1")
    assert ([one["name"] for one in first["entities"]], first["total"]) == (["Ana"], 2)
    second = graph.json("graph", "--after", str(first["next"]))
    assert ([one["name"] for one in second["entities"]], second["next"]) == (["Acme"], None)
    assert f"--after {first['next']}" in graph.run("graph", "--limit", "1").stderr
