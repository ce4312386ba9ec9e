"""The memory file: its bytes, what survives in it, and who may share it."""

import json
from pathlib import Path

import pytest

from tests.surfaces.mcp.anthropic.servers import (
    Graph,
    Starter,
    create_at_once,
    entity,
    eventually,
    graph,
    relation,
)

ALICE = entity("Alice", "person", "likes tea")
BOB = entity("Bob", "person")
ZOE = entity("Zoë", "person", 'says "日本語"\n and \\')
ALICE_LINE = '{"type":"entity","name":"Alice","entityType":"person","observations":["likes tea"]}'
BOB_LINE = '{"type":"entity","name":"Bob","entityType":"person","observations":[]}'
ZOE_LINE = (
    '{"type":"entity","name":"Zoë","entityType":"person","observations":["says \\"日本語\\"\\n and \\\\"]}'
)
KNOWS_LINE = '{"type":"relation","from":"Alice","to":"Bob","relationType":"knows"}'


def write(starter: Starter, *lines: str) -> None:
    starter.memory_file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def says(memory: Graph, lines: list[str]) -> bool:
    """Whether the file comes to say that; ours writes it a moment after its answer."""
    return eventually(lambda: memory.memory_file.exists() and memory.memory_text().splitlines() == lines)


def files(folder: Path) -> set[str]:
    """What lies beside the memory, but for our database and the logs of this test."""
    return {path.name for path in folder.iterdir() if not path.name.startswith(("stderr.", "memory.db"))}


def test_the_file_holds_entities_then_relations_as_compact_json(starter: Starter) -> None:
    with starter.start() as memory:
        memory.create(ALICE, BOB)
        memory.relate(relation("Alice", "Bob"))
        memory.create(ZOE)
        assert says(memory, [ALICE_LINE, BOB_LINE, ZOE_LINE, KNOWS_LINE])


@pytest.mark.since_2("leaves the last line open")
def test_the_file_ends_with_a_newline(starter: Starter) -> None:
    with starter.start() as memory:
        memory.create(ALICE)
        assert memory.has_written(ALICE_LINE + "\n")


def test_reading_does_not_make_a_file(starter: Starter) -> None:
    with starter.start() as memory:
        assert memory.read() == graph([])
        memory.call("search_nodes", query="")
        assert not memory.memory_file.exists()


def test_nothing_is_left_beside_the_file(starter: Starter) -> None:
    with starter.start() as memory:
        memory.create(ALICE)
        memory.observe("Alice", "sings")
    assert files(starter.folder) == {"memory.jsonl"}


def test_the_file_is_read_at_the_start(starter: Starter) -> None:
    write(starter, ALICE_LINE, BOB_LINE, KNOWS_LINE)
    with starter.start() as memory:
        assert memory.read() == graph([ALICE, BOB], [relation("Alice", "Bob")])


def test_relations_may_come_before_their_entities(starter: Starter) -> None:
    write(starter, KNOWS_LINE, BOB_LINE, "", "   ", ALICE_LINE)
    with starter.start() as memory:
        assert memory.read() == graph([BOB, ALICE], [relation("Alice", "Bob")])


def test_unknown_fields_of_a_line_are_dropped(starter: Starter) -> None:
    write(starter, json.dumps({"type": "entity"} | ALICE | {"createdAt": "2025-01-01"}))
    with starter.start() as memory:
        assert memory.read() == graph([ALICE])
        memory.create(BOB)
        assert says(memory, [ALICE_LINE, BOB_LINE])


def test_a_file_without_a_last_newline_is_read_whole(starter: Starter) -> None:
    starter.memory_file.write_text(ALICE_LINE + "\n" + BOB_LINE)
    with starter.start() as memory:
        assert memory.read() == graph([ALICE, BOB])


@pytest.mark.since_2("fails every call")
def test_lines_that_cannot_be_read_are_kept_at_the_end(starter: Starter) -> None:
    unreadable = [
        "{not json",
        "42",
        '{"type":"entity","name":"No type"}',
        '{"type":"relation","from":"Alice"}',
        '{"type":"note", "text":"spaces stay"}',
    ]
    write(starter, *unreadable[:3], ALICE_LINE, *unreadable[3:])
    with starter.start() as memory:
        assert memory.read() == graph([ALICE])
        memory.create(BOB)
        assert says(memory, [ALICE_LINE, BOB_LINE, *unreadable])
    with starter.start() as memory:
        memory.call("delete_entities", entityNames=["Bob"])
        assert says(memory, [ALICE_LINE, *unreadable])


def test_a_relation_whose_ends_are_missing_is_not_lost(starter: Starter) -> None:
    dangling = '{"type":"relation","from":"Alice","to":"Ghost","relationType":"haunted by"}'
    write(starter, ALICE_LINE, dangling)
    with starter.start() as memory:
        memory.create(BOB)
        assert says(memory, [ALICE_LINE, BOB_LINE, dangling])


def test_memory_survives_a_restart(starter: Starter) -> None:
    with starter.start() as memory:
        memory.create(ALICE, BOB)
        memory.relate(relation("Alice", "Bob"))
    with starter.start() as memory:
        assert memory.read() == graph([ALICE, BOB], [relation("Alice", "Bob")])
        memory.observe("Alice", "sings")
    with starter.start() as memory:
        assert memory.read()["entities"][0] == entity("Alice", "person", "likes tea", "sings")


def test_what_was_deleted_stays_deleted_after_a_restart(starter: Starter) -> None:
    with starter.start() as memory:
        memory.create(ALICE, BOB)
        memory.call("delete_entities", entityNames=["Alice"])
    with starter.start() as memory:
        assert memory.read() == graph([BOB])


def test_a_change_to_the_file_is_seen_by_the_running_server(starter: Starter) -> None:
    with starter.start() as memory:
        memory.create(ALICE)
        assert says(memory, [ALICE_LINE])
        write(starter, BOB_LINE)
        assert memory.read() == graph([BOB])
        memory.create(ZOE)
        assert says(memory, [BOB_LINE, ZOE_LINE])


@pytest.mark.since_2("takes it for a folder of that name")
def test_a_leading_tilde_is_the_home_folder(starter: Starter) -> None:
    home = starter.folder / "home"
    home.mkdir()
    with starter.start(HOME=str(home), USERPROFILE=str(home), MEMORY_FILE_PATH="~/notes.jsonl") as memory:
        memory.create(ALICE)
    assert (home / "notes.jsonl").read_text() == ALICE_LINE + "\n"


def test_a_folder_in_place_of_the_file_is_a_failed_call(starter: Starter) -> None:
    starter.memory_file.mkdir()
    with starter.start() as memory:
        answer = memory.call("read_graph")
        assert answer.failed
        assert answer.structured is None
        starter.memory_file.rmdir()
        assert memory.read() == graph([])


@pytest.mark.since_2("loses one of them")
def test_two_servers_on_one_file_keep_both_writes(starter: Starter) -> None:
    with starter.start() as one, starter.start() as other:
        wishes = [
            (memory, f"{who} {n}") for n in range(10) for who, memory in (("one", one), ("other", other))
        ]
        create_at_once(wishes)
        assert {known["name"] for known in one.read()["entities"]} == {name for _, name in wishes}
        assert one.read() == other.read()


def test_a_server_sees_what_another_wrote(starter: Starter) -> None:
    with starter.start() as one, starter.start() as other:
        one.create(ALICE)
        assert other.read() == graph([ALICE])
        other.call("delete_entities", entityNames=["Alice"])
        assert one.read() == graph([])
