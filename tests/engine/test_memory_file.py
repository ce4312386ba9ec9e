"""A memory file that is shared with Anthropic's server: who changes what, nothing is lost."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mcp_memory.embedding import NoModel
from mcp_memory.engine import Context, Engine
from mcp_memory.engine.anthropic_compat import AnthropicCompat
from mcp_memory.engine.memory_file import MemoryFile
from mcp_memory.engine.write_behind import WriteBehind
from mcp_memory.errors import NotFound, Unavailable
from mcp_memory.events import ArchiveImported
from mcp_memory.inputs import NewEntity
from mcp_memory.model import Caller
from mcp_memory.storage import Store
from mcp_memory.text.graph_lines import EntityLine, GraphLines, RelationLine, parse, render
from tests.fakes import Clock, ids

ALICE = EntityLine("Alice", "person", ("likes tea",))
BOB = EntityLine("Bob", "person", ("codes",))
CAROL = EntityLine("Carol", "person")
KNOWS = RelationLine("Alice", "Bob", "knows")

Start = Callable[[], Engine]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.jsonl"


@pytest.fixture
def start(store: Store, clock: Clock, path: Path) -> Start:
    """A server that starts: it remembers nothing of the file but what the store does."""
    new_id = ids()

    def make() -> Engine:
        return Engine(
            Context(
                store=store,
                embedder=NoModel("tests of files need none"),
                clock=clock,
                new_id=new_id,
                caller=Caller(client="test"),
                memory_file=MemoryFile(path, clock, patience=0.2),
            )
        )

    return make


@pytest.fixture
def memory(start: Start) -> AnthropicCompat:
    return start().anthropic_compat


def write(path: Path, *lines: EntityLine | RelationLine) -> None:
    entities = tuple(line for line in lines if isinstance(line, EntityLine))
    relations = tuple(line for line in lines if isinstance(line, RelationLine))
    path.write_text(render(GraphLines(entities, relations)), "utf-8")


def written(path: Path) -> GraphLines:
    return parse(path.read_text("utf-8"))


def test_the_first_meeting_unites_file_and_store(start: Start, path: Path) -> None:
    start().graph.create_entities([NewEntity(name="Carol", type="person", observations=("sings",))])
    write(path, ALICE, EntityLine("Carol", "person", ("dances",)))
    memory = start().anthropic_compat
    assert memory.read().entities == (EntityLine("Carol", "person", ("sings", "dances")), ALICE)
    memory.create_entities([BOB])
    assert written(path).entities == (EntityLine("Carol", "person", ("sings", "dances")), ALICE, BOB)


def test_an_entity_of_another_type_is_the_same_entity(start: Start, path: Path) -> None:
    start().graph.create_entities([NewEntity(name="Alice", type="Human")])
    write(path, ALICE)
    assert start().anthropic_compat.read().entities == (EntityLine("Alice", "Human", ("likes tea",)),)


def test_a_placeholder_takes_the_type_of_the_file(start: Start, path: Path) -> None:
    start().graph.create_entities([NewEntity(name="Alice", type="unknown")])
    write(path, ALICE)
    assert start().anthropic_compat.read().entities == (ALICE,)


def test_one_name_with_two_types_in_the_file_stays_two(memory: AnthropicCompat, path: Path) -> None:
    robot = EntityLine("Alice", "robot", ("beeps",))
    write(path, ALICE, robot)
    assert memory.read().entities == (ALICE, robot)


@pytest.mark.parametrize("restarted", [False, True])
def test_what_others_do_to_the_file_is_done_to_the_store(start: Start, path: Path, restarted: bool) -> None:
    memory = start().anthropic_compat
    memory.create_entities([ALICE, BOB, CAROL])
    memory.create_relations([KNOWS, RelationLine("Bob", "Carol", "knows")])
    write(
        path,
        EntityLine("Alice", "robot", ("beeps",)),
        CAROL,
        EntityLine("Dan", "person"),
        RelationLine("Dan", "Alice", "built"),
    )
    memory = start().anthropic_compat if restarted else memory
    expected = written(path)
    assert memory.read() == expected
    memory.create_entities([])
    assert written(path) == expected


def test_changes_of_both_sides_are_kept(start: Start, path: Path) -> None:
    memory = start().anthropic_compat
    memory.create_entities([ALICE, BOB])
    start().graph.add_observations("Alice", ["plays chess"])
    write(path, EntityLine("Alice", "person", ("likes tea", "sings")), CAROL)
    memory.add_observations([("Carol", ["dances"])])
    assert written(path).entities == (
        EntityLine("Alice", "person", ("likes tea", "plays chess", "sings")),
        EntityLine("Carol", "person", ("dances",)),
    )


def test_a_file_that_vanished_is_written_again(memory: AnthropicCompat, path: Path) -> None:
    memory.create_entities([ALICE])
    path.unlink()
    assert memory.read().entities == (ALICE,)
    memory.create_entities([BOB])
    assert written(path).entities == (ALICE, BOB)


def test_a_file_that_was_emptied_empties_the_store_until_that_is_undone(
    memory: AnthropicCompat, path: Path, store: Store, clock: Clock
) -> None:
    memory.create_entities([ALICE])
    path.write_text("")
    assert memory.read() == GraphLines()
    with store.write(Caller(), clock(), "undo") as tx:
        tx.undo.revert(tx.journal.latest(1)[0].act)
        tx.journal.record(ArchiveImported())
    assert memory.read() == GraphLines((ALICE,))


def test_a_file_that_cannot_be_written_leaves_everything_as_it_was(
    store: Store, clock: Clock, tmp_path: Path
) -> None:
    # The name of the file and of its lock fit, that of the draft does not.
    name = "m" * 245
    file = MemoryFile(tmp_path / name, clock)
    context = Context(store=store, embedder=NoModel(""), clock=clock, new_id=ids(), memory_file=file)
    memory = Engine(context).anthropic_compat
    with pytest.raises(Unavailable, match="cannot write the memory file"):
        memory.create_entities([ALICE])
    assert memory.read() == GraphLines()
    assert [left for left in os.listdir(tmp_path) if left.startswith(name)] == []


def test_a_refused_call_does_not_touch_the_file(memory: AnthropicCompat, path: Path) -> None:
    memory.create_entities([ALICE])
    before = path.stat()
    with pytest.raises(NotFound, match="Entity with name Zed not found"):
        memory.add_observations([("Zed", ["x"])])
    assert path.stat() == before
    assert os.listdir(path.parent).count("memory.jsonl") == 1


def test_bytes_that_are_no_text_survive(memory: AnthropicCompat, path: Path) -> None:
    path.write_bytes(b"\xff\xfe not text\n" + render(GraphLines((ALICE,))).encode())
    memory.create_entities([BOB])
    assert path.read_bytes() == render(GraphLines((ALICE, BOB))).encode() + b"\xff\xfe not text\n"


def test_a_waiting_relation_becomes_real_when_its_end_appears(start: Start, path: Path) -> None:
    haunts = RelationLine("Ghost", "Alice", "haunts")
    write(path, ALICE, haunts)
    memory = start().anthropic_compat
    assert memory.read().relations == (haunts,)
    assert memory.open(["Alice"]).relations == (haunts,)
    assert memory.open(["Bob"]).relations == ()
    memory.create_entities([EntityLine("Ghost", "spirit")])
    assert memory.read().relations == (haunts,)
    assert start().graph.open_nodes(["Ghost"]).relations[0].type == "haunts"
    assert written(path).relations == (haunts,)


def test_a_waiting_relation_can_be_deleted(memory: AnthropicCompat, path: Path) -> None:
    haunts, scares = RelationLine("Ghost", "Alice", "haunts"), RelationLine("Ogre", "Alice", "scares")
    write(path, ALICE, haunts, scares)
    assert memory.delete_relations([haunts]).all_found
    assert memory.read().relations == (scares,)
    assert memory.delete_entities(["Ogre"]).missing == ("Ogre",)
    assert memory.read().relations == ()
    assert written(path) == GraphLines((ALICE,))


def test_a_link_to_the_file_stays_a_link(memory: AnthropicCompat, path: Path, tmp_path: Path) -> None:
    real = tmp_path / "elsewhere.jsonl"
    real.touch(mode=0o640)
    path.symlink_to(real)
    memory.create_entities([ALICE])
    assert path.is_symlink()
    assert written(real) == GraphLines((ALICE,))
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_new_file_is_the_owners_alone(memory: AnthropicCompat, path: Path) -> None:
    memory.create_entities([ALICE])
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_folder_that_is_missing_is_made(store: Store, clock: Clock, tmp_path: Path) -> None:
    file = MemoryFile(tmp_path / "new" / "memory.jsonl", clock)
    context = Context(store=store, embedder=NoModel(""), clock=clock, new_id=ids(), memory_file=file)
    Engine(context).anthropic_compat.create_entities([ALICE])
    assert written(file.path) == GraphLines((ALICE,))


def lock_of(path: Path, pid: int) -> Path:
    lock = path.with_name(path.name + ".lock")
    lock.write_text(json.dumps({"pid": pid, "hostname": os.uname().nodename, "token": "theirs"}))
    return lock


def test_a_lock_that_is_held_is_respected(memory: AnthropicCompat, path: Path) -> None:
    lock = lock_of(path, os.getpid())
    with pytest.raises(Unavailable, match="waiting for the memory file lock"):
        memory.create_entities([ALICE])
    assert lock.exists()
    lock.unlink()
    memory.create_entities([ALICE])
    assert not lock.exists()


def test_a_lock_whose_holder_died_is_broken(memory: AnthropicCompat, path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    lock_of(path, dead.pid)
    memory.create_entities([ALICE])
    assert written(path) == GraphLines((ALICE,))


def test_a_lock_that_is_too_old_is_broken(memory: AnthropicCompat, path: Path, clock: Clock) -> None:
    lock = lock_of(path, os.getpid())
    made = clock.now.timestamp()
    os.utime(lock, (made, made))
    clock.advance(seconds=31)
    memory.create_entities([ALICE])
    assert written(path) == GraphLines((ALICE,))


def test_threads_take_turns(start: Start, path: Path) -> None:
    engine = start()
    names = [f"entity {number}" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: engine.anthropic_compat.create_entities([EntityLine(name, "t")]), names))
    assert sorted(line.name for line in written(path).entities) == sorted(names)


def test_what_came_through_the_file_is_in_the_journal(
    start: Start, path: Path, store: Store, clock: Clock
) -> None:
    write(path, ALICE)
    start().anthropic_compat.read()
    with store.read("default", clock()) as tx:
        events = [(event.name, event.client) for event in tx.journal.latest(10)]
    assert ("entity_created", "test") in events


@pytest.fixture
def later() -> Iterator[WriteBehind]:
    """Writes when it is closed, and not before."""
    made = WriteBehind(delay=3600)
    yield made
    made.close()


@pytest.fixture
def behind(store: Store, clock: Clock, path: Path) -> Callable[[WriteBehind], AnthropicCompat]:
    """A server that starts and writes the file after its answers."""
    new_id = ids()

    def make(later: WriteBehind) -> AnthropicCompat:
        file = MemoryFile(path, clock, patience=0.2)
        context = Context(
            store=store,
            embedder=NoModel(""),
            clock=clock,
            new_id=new_id,
            memory_file=file,
            write_behind=later,
        )
        return AnthropicCompat(context)

    return make


Behind = Callable[[WriteBehind], AnthropicCompat]


def test_a_change_is_answered_before_the_file_is_written(
    behind: Behind, later: WriteBehind, path: Path
) -> None:
    memory = behind(later)
    memory.create_entities([ALICE, BOB])
    memory.create_relations([KNOWS])
    assert not path.exists()
    assert memory.read() == GraphLines((ALICE, BOB), (KNOWS,))
    later.close()
    assert written(path) == GraphLines((ALICE, BOB), (KNOWS,))


def test_what_a_killed_server_did_not_write_is_written_by_the_next(
    behind: Behind, later: WriteBehind, path: Path
) -> None:
    behind(later).create_entities([ALICE, BOB])
    behind(later).delete_entities(["Alice"])
    next_start = WriteBehind(delay=3600)
    behind(next_start).resume()
    next_start.close()
    assert written(path) == GraphLines((BOB,))


def test_a_server_with_nothing_to_write_leaves_the_file_alone(
    behind: Behind, later: WriteBehind, path: Path
) -> None:
    behind(later).create_entities([ALICE])
    later.close()
    before = path.stat()
    next_start = WriteBehind(delay=3600)
    behind(next_start).resume()
    next_start.close()
    assert path.stat() == before


def test_what_others_write_before_us_is_kept_and_ours_too(
    behind: Behind, later: WriteBehind, path: Path
) -> None:
    memory = behind(later)
    memory.create_entities([ALICE])
    write(path, BOB)
    later.close()
    assert written(path).entities == (ALICE, BOB)
    assert memory.read().entities == (ALICE, BOB)


def test_what_others_delete_before_we_write_stays_deleted(behind: Behind, path: Path) -> None:
    first = WriteBehind(delay=3600)
    behind(first).create_entities([ALICE, BOB])
    first.close()
    second = WriteBehind(delay=3600)
    memory = behind(second)
    memory.create_entities([CAROL])
    write(path, BOB)
    second.close()
    assert written(path).entities == (BOB, CAROL)


def test_a_waiting_relation_that_was_deleted_stays_so_after_a_kill(
    behind: Behind, later: WriteBehind, path: Path
) -> None:
    haunts = RelationLine("Ghost", "Alice", "haunts")
    write(path, ALICE, haunts)
    assert behind(later).delete_relations([haunts]).all_found
    next_start = WriteBehind(delay=3600)
    memory = behind(next_start)
    assert memory.read().relations == ()
    next_start.close()
    assert written(path) == GraphLines((ALICE,))


def test_many_changes_are_written_in_the_order_of_the_last(
    behind: Behind, later: WriteBehind, path: Path
) -> None:
    memory = behind(later)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: memory.create_entities([EntityLine(f"e{n}", "t")]), range(40)))
    memory.delete_entities(["e7"])
    later.close()
    assert written(path) == memory.read()
    assert len(written(path).entities) == 39


def test_a_file_that_is_read_only_is_refused_before_the_change(
    behind: Behind, later: WriteBehind, path: Path
) -> None:
    path.mkdir()
    with pytest.raises(Unavailable, match="cannot"):
        behind(later).create_entities([ALICE])
    path.rmdir()
    assert behind(later).read() == GraphLines()


def test_a_text_that_many_entities_share_is_taken_in_once_and_linked_to_each(
    memory: AnthropicCompat, path: Path
) -> None:
    lines = tuple(EntityLine(f"Service {number}", "service", ("runs on port 80",)) for number in range(30))
    twins = (
        EntityLine("Mercury", "planet", ("is hot", "is hot")),
        EntityLine("Mercury", "metal", ("is hot",)),
    )
    path.write_text(render(GraphLines((*lines, *twins), ())))
    assert memory.read().entities == (*lines, *twins)
    more = EntityLine("Service 3", "service", ("runs on port 80", "is new"))
    path.write_text(render(GraphLines((*lines[:3], more, *lines[4:], *twins), ())))
    assert memory.read().entities == (*lines[:3], more, *lines[4:], *twins)
