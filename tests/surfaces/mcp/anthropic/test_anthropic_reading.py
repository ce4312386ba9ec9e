"""What the three reading tools find, and in which order."""

import json

import pytest

from tests.surfaces.mcp.anthropic.servers import Graph, Json, entity, graph, relation

ALICE = entity("Alice", "person", "works at Acme Corp", "likes tea")
BOB = entity("Bob", "person", "likes programming")
ACME = entity("Acme Corp", "organization", "makes anvils", "Motto: ÄPFEL und 100% _sure_")
KNOWS = relation("Alice", "Bob")
WORKS = relation("Alice", "Acme Corp", "works_at")
EVERYTHING = graph([ALICE, BOB, ACME], [KNOWS, WORKS])
NOTHING = graph([])


@pytest.fixture
def known(memory: Graph) -> Graph:
    memory.create(ALICE, BOB, ACME)
    memory.relate(KNOWS, WORKS)
    return memory


def search(known: Graph, query: str) -> Json | None:
    return known.call("search_nodes", query=query).structured


def opened(known: Graph, *names: str) -> Json | None:
    return known.call("open_nodes", names=list(names)).structured


def test_an_empty_memory_is_an_empty_graph(memory: Graph) -> None:
    answer = memory.call("read_graph")
    assert answer.structured == NOTHING
    assert answer.text == json.dumps(NOTHING, indent=2)


def test_reading_gives_everything_in_the_order_it_came(known: Graph) -> None:
    answer = known.call("read_graph")
    assert answer.structured == EVERYTHING
    assert answer.text == json.dumps(EVERYTHING, indent=2, ensure_ascii=False)


def test_new_observations_do_not_move_an_entity(known: Graph) -> None:
    known.observe("Alice", "plays chess")
    assert [found["name"] for found in known.read()["entities"]] == ["Alice", "Bob", "Acme Corp"]


def test_a_match_brings_the_relations_of_either_end(known: Graph) -> None:
    answer = known.call("search_nodes", query="bob")
    assert answer.structured == graph([BOB], [KNOWS])
    assert answer.text == json.dumps(graph([BOB], [KNOWS]), indent=2)


@pytest.mark.parametrize("query", ["ORGANIZATION", "ANVIL", "corp", "äpfel", "Motto: ÄPFEL"])
def test_search_looks_at_types_and_observations_whatever_the_case(known: Graph, query: str) -> None:
    found = search(known, query)
    assert found is not None
    assert ACME in found["entities"]
    assert WORKS in found["relations"]


def test_the_query_is_one_substring(known: Graph) -> None:
    assert search(known, "person") == graph([ALICE, BOB], [KNOWS, WORKS])
    assert search(known, "Alice tea") == NOTHING


def test_the_empty_query_finds_everything(known: Graph) -> None:
    assert search(known, "") == EVERYTHING


@pytest.mark.parametrize("query", ["100%", "_sure_"])
def test_wildcards_are_plain_characters(known: Graph, query: str) -> None:
    assert search(known, query) == graph([ACME], [WORKS])
    assert search(known, "Al_ce") == NOTHING


@pytest.mark.parametrize("query", ['"', "'; --", "(", "tea OR", "*", "nothing of the kind"])
def test_what_matches_nothing_finds_nothing(known: Graph, query: str) -> None:
    assert search(known, query) == NOTHING


def test_a_query_of_2048_characters_is_taken(known: Graph) -> None:
    assert search(known, "a" * 2048) == NOTHING


def test_opening_brings_every_relation_that_touches_an_entity(known: Graph) -> None:
    answer = known.call("open_nodes", names=["Bob"])
    assert answer.structured == graph([BOB], [KNOWS])
    assert answer.text == json.dumps(graph([BOB], [KNOWS]), indent=2)
    assert opened(known, "Alice") == graph([ALICE], [KNOWS, WORKS])


def test_opened_entities_come_in_storage_order_and_once(known: Graph) -> None:
    assert opened(known, "Acme Corp", "Alice", "Alice") == graph([ALICE, ACME], [KNOWS, WORKS])


def test_names_are_opened_to_the_letter_and_unknown_ones_ignored(known: Graph) -> None:
    assert opened(known, "alice", "Acme Corp", "Zed") == graph([ACME], [WORKS])


def test_opening_no_names_finds_nothing(known: Graph) -> None:
    assert opened(known) == NOTHING


def test_a_self_relation_is_listed_once(known: Graph) -> None:
    known.relate(relation("Bob", "Bob", "admires"))
    assert opened(known, "Bob") == graph([BOB], [KNOWS, relation("Bob", "Bob", "admires")])
