"""Anthropic's memory file, read, written and compared."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.text.graph_lines import EntityLine, GraphLines, RelationLine, difference, parse, render

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
entities = st.builds(EntityLine, texts, texts, st.lists(texts, max_size=3).map(tuple))
relations = st.builds(RelationLine, texts, texts, texts)
graphs = st.builds(
    GraphLines, st.lists(entities, max_size=4).map(tuple), st.lists(relations, max_size=4).map(tuple)
)

ALICE = EntityLine("Alice", "person", ("likes tea",))
BOB = EntityLine("Bob", "person")
KNOWS = RelationLine("Alice", "Bob", "knows")


@given(graphs)
def test_what_is_written_is_read_again(graph: GraphLines) -> None:
    assert parse(render(graph)) == graph


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "null",
        '"entity"',
        '{"type":"entity"}',
        '{"type":"entity","name":1,"entityType":"t","observations":[]}',
        '{"type":"entity","name":"n","entityType":"t","observations":"o"}',
        '{"type":"entity","name":"n","entityType":"t","observations":[null]}',
        '{"type":"relation","from":"a","to":"b"}',
        '{"type":"thing"}',
        '{"name":"no type"}',
        '{"type":"entity","name":"n","entityType":"t","observations":[],"x":NaN}',
        '{"type":"entity","name":"\\ud800","entityType":"t","observations":[]}',
        '{"type":"entity","name":"\\u0000","entityType":"t","observations":[]}',
        "\udcff broken bytes",
    ],
)
def test_a_line_that_says_nothing_we_know_is_kept_as_it_is(line: str) -> None:
    assert parse(f"{line}\n\n  \n") == GraphLines(unreadable=(line,))
    assert render(parse(line)) == f"{line}\n"


def test_relations_without_both_ends_dangle() -> None:
    lost = RelationLine("Alice", "Ghost", "fears")
    assert GraphLines((ALICE, BOB), (KNOWS, lost)).dangling == (lost,)


def test_nothing_differs_between_equals() -> None:
    graph = GraphLines((ALICE, BOB), (KNOWS,))
    found = difference(graph, graph)
    assert not any(
        [found.added, found.removed, found.retyped, found.unobserved, found.related, found.unrelated]
    )


def test_new_and_lost_things_are_told_apart() -> None:
    found = difference(GraphLines((ALICE,), (KNOWS,)), GraphLines((BOB,)))
    assert (found.added, found.removed, found.related, found.unrelated) == ((BOB,), (ALICE,), (), (KNOWS,))


def test_observations_are_compared_one_by_one() -> None:
    before = GraphLines((EntityLine("E", "t", ("a", "b", "b")),))
    after = GraphLines((EntityLine("E", "t", ("b", "c")),))
    found = difference(before, after)
    assert found.added == (EntityLine("E", "t", ("c",)),)
    assert found.unobserved == (EntityLine("E", "t", ("a", "b")),)
    assert found.removed == ()


def test_another_type_is_a_change_and_not_another_entity() -> None:
    found = difference(GraphLines((ALICE,)), GraphLines((EntityLine("Alice", "robot", ("beeps",)),)))
    assert found.retyped == ((ALICE, "robot"),)
    assert found.added == (EntityLine("Alice", "robot", ("beeps",)),)
    assert found.unobserved == (EntityLine("Alice", "robot", ("likes tea",)),)
    assert found.removed == ()


def test_one_entity_on_two_lines_is_one() -> None:
    twice = GraphLines((EntityLine("E", "t", ("a",)), EntityLine("E", "t", ("b",))))
    assert difference(GraphLines(), twice).added == (EntityLine("E", "t", ("a", "b")),)


@given(graphs)
def test_a_rendered_graph_is_one_json_value_a_line(graph: GraphLines) -> None:
    assert [json.loads(line)["type"] for line in render(graph).split("\n") if line] == (
        ["entity"] * len(graph.entities) + ["relation"] * len(graph.relations)
    )
