"""Entities, relations and observations that are written."""

import json

import pytest

from tests.surfaces.mcp.anthropic.servers import Graph, create_at_once, entity, graph, relation

ALICE = entity("Alice", "person", "works at Acme Corp", "likes tea")
BOB = entity("Bob", "person", "likes programming")
ACME = entity("Acme Corp", "organization", "makes anvils")


def pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def test_created_entities_come_back_as_a_bare_array_and_as_structure(memory: Graph) -> None:
    answer = memory.create(ALICE, BOB)
    assert answer.text == pretty([ALICE, BOB])
    assert answer.structured == {"entities": [ALICE, BOB]}
    assert not answer.failed
    assert memory.read() == graph([ALICE, BOB])


def test_an_empty_batch_is_fine(memory: Graph) -> None:
    assert memory.create().text == "[]"
    assert memory.create().structured == {"entities": []}
    assert memory.relate().structured == {"relations": []}
    assert memory.call("add_observations", observations=[]).structured == {"results": []}


def test_an_entity_may_have_an_empty_name_type_and_observation(memory: Graph) -> None:
    nobody = entity("", "", "")
    assert memory.create(nobody).structured == {"entities": [nobody]}
    assert memory.read() == graph([nobody])


def test_names_and_observations_are_kept_to_the_letter(memory: Graph) -> None:
    odd = entity("  Zoë\t", " Größe ", " leading", "line\nbreak", 'quote " and \\', "日本語 🎈")
    memory.create(odd)
    assert memory.read() == graph([odd])
    assert memory.call("open_nodes", names=["  Zoë\t"]).structured == graph([odd])
    assert memory.call("open_nodes", names=["Zoë"]).structured == graph([])


def test_text_is_not_escaped_beyond_what_json_needs(memory: Graph) -> None:
    zoe = entity("Zoë", "person", "speaks 日本語")
    assert memory.create(zoe).text == pretty([zoe])


def test_names_that_differ_in_case_are_different(memory: Graph) -> None:
    memory.create(entity("alice"), entity("Alice"))
    assert memory.read() == graph([entity("alice"), entity("Alice")])


def test_repeated_observations_of_a_new_entity_are_kept(memory: Graph) -> None:
    echo = entity("Echo", "nymph", "echo", "echo")
    assert memory.create(echo).structured == {"entities": [echo]}
    assert memory.read() == graph([echo])


def test_two_entities_may_share_an_observation(memory: Graph) -> None:
    memory.create(entity("A", "t", "likes tea"), entity("B", "t", "likes tea"))
    memory.call("delete_observations", deletions=[{"entityName": "A", "observations": ["likes tea"]}])
    assert memory.read() == graph([entity("A", "t"), entity("B", "t", "likes tea")])


def test_unknown_arguments_are_dropped(memory: Graph) -> None:
    answer = memory.call("create_entities", entities=[ALICE | {"mood": "good"}], urgent=True)
    assert answer.structured == {"entities": [ALICE]}


@pytest.mark.since_2("skips in silence")
def test_an_entity_that_exists_is_skipped_whole_and_named(memory: Graph) -> None:
    memory.create(ALICE)
    answer = memory.create(entity("Alice", "robot", "allergic to penicillin"), BOB)
    assert answer.structured == {"entities": [BOB], "skipped": ["Alice"]}
    assert answer.texts == [
        pretty([BOB]),
        "Skipped 1 entity that already exists: Alice. "
        "Its observations were not added; use add_observations for existing entities.",
    ]
    assert memory.read() == graph([ALICE, BOB])


@pytest.mark.since_2("skips in silence")
def test_several_skipped_entities_are_named_in_the_plural(memory: Graph) -> None:
    memory.create(ALICE, BOB)
    answer = memory.create(ALICE, BOB)
    assert answer.structured == {"entities": [], "skipped": ["Alice", "Bob"]}
    assert answer.texts == [
        "[]",
        "Skipped 2 entities that already exist: Alice, Bob. "
        "Their observations were not added; use add_observations for existing entities.",
    ]


@pytest.mark.since_2("keeps both")
def test_the_first_of_two_equal_names_in_one_batch_wins(memory: Graph) -> None:
    answer = memory.create(ALICE, entity("Alice", "robot", "beeps"))
    assert answer.structured == {"entities": [ALICE], "skipped": ["Alice"]}
    assert memory.read() == graph([ALICE])


def test_created_relations_come_back_as_a_bare_array_and_as_structure(memory: Graph) -> None:
    memory.create(ALICE, BOB, ACME)
    knows, works = relation("Alice", "Bob"), relation("Alice", "Acme Corp", "works_at")
    answer = memory.relate(knows, works)
    assert answer.text == pretty([knows, works])
    assert answer.structured == {"relations": [knows, works]}
    assert memory.read() == graph([ALICE, BOB, ACME], [knows, works])


def test_a_relation_that_exists_is_left_out_of_the_answer(memory: Graph) -> None:
    memory.create(ALICE, BOB)
    memory.relate(relation("Alice", "Bob"))
    assert memory.relate(relation("Alice", "Bob")).structured == {"relations": []}
    assert memory.read()["relations"] == [relation("Alice", "Bob")]


@pytest.mark.since_2("keeps both")
def test_a_relation_repeated_in_one_batch_is_kept_once(memory: Graph) -> None:
    memory.create(ALICE, BOB)
    answer = memory.relate(relation("Alice", "Bob"), relation("Alice", "Bob"))
    assert answer.structured == {"relations": [relation("Alice", "Bob")]}


def test_another_type_or_the_other_direction_is_another_relation(memory: Graph) -> None:
    memory.create(ALICE, BOB)
    three = [relation("Alice", "Bob"), relation("Alice", "Bob", "manages"), relation("Bob", "Alice")]
    memory.relate(*three)
    assert memory.read()["relations"] == three


def test_an_entity_may_be_related_to_itself(memory: Graph) -> None:
    memory.create(ALICE)
    assert memory.relate(relation("Alice", "Alice")).structured == {"relations": [relation("Alice", "Alice")]}


def test_no_relation_is_invented(memory: Graph) -> None:
    memory.create(ALICE, BOB)
    memory.relate(relation("Alice", "Bob", "contiene"))
    assert memory.read()["relations"] == [relation("Alice", "Bob", "contiene")]


@pytest.mark.since_2("relates what does not exist")
@pytest.mark.parametrize(
    ("bad", "missing"),
    [(relation("Zed", "Bob"), "Zed"), (relation("Alice", "Yan"), "Yan"), (relation("Zed", "Yan"), "Zed")],
)
def test_a_relation_to_nobody_fails_the_whole_batch(memory: Graph, bad: dict[str, str], missing: str) -> None:
    memory.create(ALICE, BOB)
    answer = memory.relate(relation("Alice", "Bob"), bad)
    assert answer.failed
    assert answer.text == f"Entity with name {missing} not found"
    assert answer.structured is None
    assert memory.read() == graph([ALICE, BOB])


def test_only_new_observations_are_added(memory: Graph) -> None:
    memory.create(ALICE, BOB)
    answer = memory.call(
        "add_observations",
        observations=[
            {"entityName": "Alice", "contents": ["likes tea", "plays chess"]},
            {"entityName": "Bob", "contents": ["likes programming"]},
        ],
    )
    results = [
        {"entityName": "Alice", "addedObservations": ["plays chess"]},
        {"entityName": "Bob", "addedObservations": []},
    ]
    assert answer.text == pretty(results)
    assert answer.structured == {"results": results}
    assert memory.read() == graph([entity("Alice", "person", *ALICE["observations"], "plays chess"), BOB])


def test_observations_that_differ_in_case_or_space_are_different(memory: Graph) -> None:
    memory.create(entity("Alice", "person", "likes tea"))
    near = ["Likes tea", "likes  tea", " likes tea"]
    assert memory.observe("Alice", *near).structured == {
        "results": [{"entityName": "Alice", "addedObservations": near}]
    }
    assert memory.read() == graph([entity("Alice", "person", "likes tea", *near)])


def test_a_string_twice_in_one_list_is_stored_twice(memory: Graph) -> None:
    memory.create(entity("Echo"))
    memory.observe("Echo", "hello", "hello")
    assert memory.read() == graph([entity("Echo", "person", "hello", "hello")])


def test_two_items_for_one_entity_are_taken_in_turn(memory: Graph) -> None:
    memory.create(entity("Alice"))
    twice = [{"entityName": "Alice", "contents": ["a", "b"]}, {"entityName": "Alice", "contents": ["b", "c"]}]
    assert memory.call("add_observations", observations=twice).structured == {
        "results": [
            {"entityName": "Alice", "addedObservations": ["a", "b"]},
            {"entityName": "Alice", "addedObservations": ["c"]},
        ]
    }
    assert memory.read() == graph([entity("Alice", "person", "a", "b", "c")])


def test_a_deleted_observation_can_be_added_again_and_goes_to_the_end(memory: Graph) -> None:
    memory.create(entity("Alice", "person", "a", "b"))
    memory.call("delete_observations", deletions=[{"entityName": "Alice", "observations": ["a"]}])
    memory.observe("Alice", "a")
    assert memory.read() == graph([entity("Alice", "person", "b", "a")])


def test_observing_nobody_fails_the_whole_batch(memory: Graph) -> None:
    memory.create(ALICE)
    answer = memory.call(
        "add_observations",
        observations=[
            {"entityName": "Alice", "contents": ["plays chess"]},
            {"entityName": "Zed", "contents": ["unknown"]},
        ],
    )
    assert answer.failed
    assert answer.text == "Entity with name Zed not found"
    assert answer.structured is None
    assert memory.read() == graph([ALICE])


@pytest.mark.since_2("loses some")
def test_twenty_calls_at_once_are_all_kept(memory: Graph) -> None:
    names = [f"entity-{number}" for number in range(20)]
    create_at_once([(memory, name) for name in names])
    assert sorted(known["name"] for known in memory.read()["entities"]) == sorted(names)
