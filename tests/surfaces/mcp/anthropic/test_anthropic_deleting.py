"""What deleting takes away and what it says about it."""

import pytest

from tests.surfaces.mcp.anthropic.servers import Answer, Graph, entity, graph, relation

ALICE = entity("Alice", "person", "works at Acme Corp", "likes tea")
BOB = entity("Bob", "person", "likes programming")
ACME = entity("Acme Corp", "organization", "makes anvils")
KNOWS = relation("Alice", "Bob")
WORKS = relation("Alice", "Acme Corp", "works_at")


@pytest.fixture
def known(memory: Graph) -> Graph:
    memory.create(ALICE, BOB, ACME)
    memory.relate(KNOWS, WORKS)
    return memory


def says(answer: Answer, message: str) -> bool:
    assert answer.text == message
    return answer.structured == {"success": True, "message": message} and not answer.failed


def test_an_entity_takes_its_relations_along(known: Graph) -> None:
    assert says(known.call("delete_entities", entityNames=["Alice"]), "Entities deleted successfully")
    assert known.read() == graph([BOB, ACME])


def test_relations_go_whichever_end_is_deleted(known: Graph) -> None:
    known.call("delete_entities", entityNames=["Bob"])
    assert known.read() == graph([ALICE, ACME], [WORKS])


def test_a_deleted_entity_can_be_created_again_without_its_past(known: Graph) -> None:
    known.call("delete_entities", entityNames=["Alice"])
    fresh = entity("Alice", "robot", "beeps")
    assert known.create(fresh).structured == {"entities": [fresh]}
    assert known.read() == graph([BOB, ACME, fresh])


@pytest.mark.since_2("reports success whatever it found")
@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["Bob", "Zed", "Yan"], "Deleted 1 of 3 entities. Not found: Zed, Yan"),
        (["Nobody"], "Deleted 0 of 1 entities. Not found: Nobody"),
    ],
)
def test_entities_that_were_not_there_are_named(known: Graph, names: list[str], message: str) -> None:
    assert says(known.call("delete_entities", entityNames=names), message)


def test_deleting_nothing_succeeds(known: Graph) -> None:
    assert says(known.call("delete_entities", entityNames=[]), "Entities deleted successfully")
    assert says(known.call("delete_observations", deletions=[]), "Observations deleted successfully")
    assert says(known.call("delete_relations", relations=[]), "Relations deleted successfully")
    assert known.read() == graph([ALICE, BOB, ACME], [KNOWS, WORKS])


def test_an_unknown_name_changes_nothing(known: Graph) -> None:
    known.call("delete_entities", entityNames=["Nobody"])
    assert known.read() == graph([ALICE, BOB, ACME], [KNOWS, WORKS])


def test_an_observation_is_taken_off_its_entity_alone(known: Graph) -> None:
    deletions = [{"entityName": "Alice", "observations": ["likes tea"]}]
    assert says(known.call("delete_observations", deletions=deletions), "Observations deleted successfully")
    assert known.read() == graph([entity("Alice", "person", "works at Acme Corp"), BOB, ACME], [KNOWS, WORKS])


def test_all_equal_observations_go_at_once(memory: Graph) -> None:
    memory.create(entity("Echo", "nymph", "echo", "other", "echo"))
    memory.call("delete_observations", deletions=[{"entityName": "Echo", "observations": ["echo"]}])
    assert memory.read() == graph([entity("Echo", "nymph", "other")])


@pytest.mark.since_2("reports success whatever it found")
@pytest.mark.parametrize(
    ("deletions", "message"),
    [
        (
            [{"entityName": "Alice", "observations": ["likes tea", "never said"]}],
            "Deleted 1 of 2 observations.",
        ),
        (
            [
                {"entityName": "Bob", "observations": ["likes programming"]},
                {"entityName": "Zed", "observations": ["a", "b"]},
            ],
            "Deleted 1 of 3 observations. Entities not found: Zed",
        ),
        (
            [{"entityName": "Zed", "observations": ["a"]}, {"entityName": "Yan", "observations": ["a"]}],
            "Deleted 0 of 2 observations. Entities not found: Zed, Yan",
        ),
    ],
)
def test_observations_that_were_not_there_are_counted(
    known: Graph, deletions: list[dict[str, object]], message: str
) -> None:
    assert says(known.call("delete_observations", deletions=deletions), message)


def test_a_relation_is_deleted_by_both_ends_and_type(known: Graph) -> None:
    assert says(known.call("delete_relations", relations=[KNOWS]), "Relations deleted successfully")
    assert known.read() == graph([ALICE, BOB, ACME], [WORKS])


def test_a_relation_of_another_type_stays(known: Graph) -> None:
    known.call("delete_relations", relations=[relation("Alice", "Bob", "manages")])
    assert known.read()["relations"] == [KNOWS, WORKS]


def test_a_deleted_relation_can_be_created_again_and_goes_to_the_end(known: Graph) -> None:
    known.call("delete_relations", relations=[KNOWS])
    assert known.relate(KNOWS).structured == {"relations": [KNOWS]}
    assert known.read()["relations"] == [WORKS, KNOWS]


@pytest.mark.since_2("reports success whatever it found")
@pytest.mark.parametrize(
    ("relations", "message"),
    [
        ([KNOWS, relation("Alice", "Bob", "likes")], "Deleted 1 of 2 relations. The rest matched nothing."),
        ([relation("Zed", "Yan")], "Deleted 0 of 1 relations. The rest matched nothing."),
    ],
)
def test_relations_that_were_not_there_are_counted(
    known: Graph, relations: list[dict[str, str]], message: str
) -> None:
    assert says(known.call("delete_relations", relations=relations), message)
