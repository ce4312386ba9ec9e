"""Full disks, deleted files and leaping clocks: nothing acknowledged is lost, nothing untrue is said."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from mcp_memory.engine import Engine
from mcp_memory.engine.access import Answered, Claim
from mcp_memory.engine.history import UNSCRUBBED
from mcp_memory.errors import MemoryServerError, Unavailable
from mcp_memory.inputs import NewEntity, NewMemory
from mcp_memory.model import Filter
from mcp_memory.storage.sqlite import substrings
from mcp_memory.storage.sqlite.database import SqliteDatabase
from tests.fakes import Clock
from tests.surfaces.rest.conftest import engine_on


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def here(path: Path) -> Iterator[Engine]:
    engine = engine_on(path)
    yield engine
    engine.close()


def contents(engine: Engine) -> set[str]:
    found: set[str] = set()
    while page := engine.memories.find(Filter(), limit=100, offset=len(found)).memories:
        found |= {memory.content for memory in page}
    return found


class FullDisk(apsw.VFS):
    """A file system on which the database itself cannot grow or be written while `full` is set."""

    def __init__(self) -> None:
        self.full = False
        super().__init__("full-disk", "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return FullFile(self, name, flags)


class FullFile(apsw.VFSFile):
    def __init__(self, disk: FullDisk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._disk = disk
        self._is_database = bool(flags[0] & apsw.SQLITE_OPEN_MAIN_DB)
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        if self._disk.full and self._is_database:
            raise apsw.FullError("the disk is full")
        super().xWrite(data, offset)


def test_a_checkpoint_that_fails_does_not_fail_the_commit(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk()
    connect = apsw.Connection
    monkeypatch.setattr(
        "mcp_memory.storage.sqlite.database.apsw.Connection",
        lambda name, **options: connect(name, vfs="full-disk", **options),
    )
    monkeypatch.setattr("mcp_memory.storage.sqlite.checkpoints.CHECKPOINT_PAGES", 1)
    engine = engine_on(path)
    engine.memories.remember(NewMemory(content="before"))
    disk.full = True
    kept, refused = {"before"}, set()
    for number in range(20):
        text = f"while full {number}"
        try:
            engine.memories.remember(NewMemory(content=text))
            kept.add(text)
        except MemoryServerError:
            refused.add(text)
    disk.full = False
    assert contents(engine) == kept
    assert not refused, "a commit is safe in the log whatever becomes of the checkpoint"
    engine.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of file sizes")
def test_on_a_full_disk_a_write_is_kept_or_refused_and_what_was_acknowledged_stays(path: Path) -> None:
    texts = "".join(f"text {number} {'x' * 4000}\n" for number in range(2_000))
    writer = subprocess.run(
        [sys.executable, "-m", "tests.faults.limited_writer", f"sqlite:///{path}", "4000000"],
        input=texts,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    lines = writer.stdout.splitlines()
    kept = {line.removeprefix("kept ") for line in lines if line.startswith("kept ")}
    assert len(lines) - len(kept) >= 20, writer.stderr
    assert "Traceback" not in writer.stderr
    with engine_on(path) as engine:  # as if there were room again
        assert contents(engine) == kept
        assert [one.detail for one in engine._context.store.database.examine() if not one.is_well] == []
        engine.memories.remember(NewMemory(content="there is room again"))


@pytest.mark.parametrize("suffixes", [("-wal",), ("-wal", "-shm"), ("-shm",)])
def test_a_deleted_log_is_noticed_before_the_next_write(
    path: Path, here: Engine, suffixes: tuple[str, ...]
) -> None:
    acknowledged = set()
    for number in range(5):
        here.memories.remember(NewMemory(content=f"memory {number}"))
        acknowledged.add(f"memory {number}")
    for suffix in suffixes:
        path.with_name(path.name + suffix).unlink()
    with pytest.raises(Unavailable, match="was deleted or replaced"):
        here.memories.remember(NewMemory(content="too late"))
    # As after a kill: another process opens what is on the disk.
    after = engine_on(path)
    assert contents(after) == acknowledged
    after.close()


def test_a_replaced_log_is_noticed_too(path: Path, here: Engine) -> None:
    here.memories.remember(NewMemory(content="x"))
    log = path.with_name(path.name + "-wal")
    log.unlink()
    log.write_bytes(b"")
    with pytest.raises(Unavailable, match="was deleted or replaced"):
        here.memories.remember(NewMemory(content="too late"))


def test_a_clock_years_ahead_for_a_moment_makes_nothing_expire(engine: Engine, clock: Clock) -> None:
    kept = engine.memories.remember(NewMemory(content="stays")).memory
    gone = engine.memories.remember(NewMemory(content="deleted by mistake")).memory
    engine.memories.delete([gone.id])
    engine.maintenance.run_due()
    clock.advance(days=3 * 365)
    engine.maintenance.run_due()
    clock.advance(days=-3 * 365)
    assert engine.memories.get(kept.id, record=False).archived_at is None
    assert engine.history.restore(gone.id).content == "deleted by mistake"
    assert "prune" in engine.maintenance.due(), "a last run in the future counts as due"


def test_a_retry_after_a_leap_of_the_clock_is_not_carried_out_again(engine: Engine, clock: Clock) -> None:
    engine.scheduled_maintenance.run_due(lambda: True)
    claim = engine.access.claim("key", "request")
    assert isinstance(claim, Claim)
    engine.access.answer(claim, 201, {"id": "made"})
    clock.advance(days=3 * 365)
    for _ in range(10):  # a look a minute
        engine.scheduled_maintenance.run_due(lambda: True)
    clock.advance(days=-3 * 365)
    engine.scheduled_maintenance.run_due(lambda: True)
    again = engine.access.claim("key", "request")
    assert isinstance(again, Answered)
    assert again.body == {"id": "made"}
    for _ in range(100):
        clock.advance(minutes=20)
        engine.scheduled_maintenance.run_due(lambda: True)
    assert isinstance(engine.access.claim("key", "request"), Claim), "after its day it goes"


def test_what_is_new_after_a_leap_of_the_clock_is_compared(engine: Engine, clock: Clock) -> None:
    engine.memories.remember(NewMemory(content="the harbour opens at seven"))
    clock.advance(days=3 * 365)
    engine.maintenance.consolidate()
    clock.advance(days=-3 * 365, hours=1)
    engine.memories.remember(NewMemory(content="the bakery opens at six"))
    assert engine.maintenance.consolidate().compared == 2


def test_confidence_is_never_above_what_was_stored(engine: Engine, clock: Clock) -> None:
    clock.advance(days=400)
    engine.memories.remember(NewMemory(content="from the future"))
    clock.advance(days=-400)
    assert engine.analytics.stats().average_confidence <= 1.0


def test_old_versions_go_with_the_journal_and_the_newest_stay(engine: Engine, clock: Clock) -> None:
    memory = engine.memories.remember(NewMemory(content="version 0")).memory
    for number in range(1, 40):
        engine.memories.update(memory.id, {"content": f"version {number}"})
    clock.advance(days=400)
    engine.history.age_journal()
    left = [version.content for version in engine.history.versions(memory.id)]
    assert left[-1] == "version 38"
    assert len(left) == 20


def test_a_purged_text_is_in_no_file(path: Path, here: Engine) -> None:
    word = "xylophonist"
    for number in range(50):
        here.memories.remember(NewMemory(content=f"other {number}"))
    memory = here.memories.remember(NewMemory(content=f"the {word} lives here", tags=(word,))).memory
    here.memories.update(memory.id, {"content": f"the {word} moved"})
    claim = here.access.claim("key", "request")
    assert isinstance(claim, Claim)
    here.access.answer(claim, 201, {"id": memory.id, "content": f"the {word} moved"})
    here.history.purge(memory.id)
    for file in path.parent.glob("memory.db*"):
        assert word.encode() not in file.read_bytes(), file.name


def test_a_purge_takes_the_trigrams_of_removed_rows_along(
    path: Path, here: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(substrings, "INDEX_FROM", 1)
    monkeypatch.setattr(substrings, "BATCH", 1)
    for name, text in (("Ann", "feeds the quokka"), ("Bob", "plays the zither"), ("Cid", "bakes bread")):
        here.graph.create_entities([NewEntity(name=name, type="person", observations=(text,))])
    here.scheduled_maintenance.tend_index(lambda: True)
    here.graph.delete_entities(["Bob"])
    [deleted] = here.history.recent(limit=1)
    here.history.purge("Ann")
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE temp.trigrams USING fts5vocab (main, memory_trigrams_1, instance)"
        )
        terms = {str(term) for (term,) in connection.execute("SELECT DISTINCT term FROM trigrams")}
    assert {"bak", "rea"} <= terms
    assert not terms & {"quo", "uok", "kka", "zit"}
    # What was only deleted can still be brought back, and is found then.
    here.history.undo(deleted.act)
    assert [node.entity.name for node in here.graph.search_nodes("zither", limit=5).graph.nodes] == ["Bob"]


def test_a_purge_while_another_one_removes_its_traces_leaves_its_mark(
    path: Path, here: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (here.memories.remember(NewMemory(content=f"secret {n}")).memory for n in "ab")
    scrub = SqliteDatabase.scrub

    def meanwhile(self: SqliteDatabase) -> bool:
        monkeypatch.setattr(SqliteDatabase, "scrub", lambda self: False)  # somebody reads on and on
        here.history.purge(second.id)
        monkeypatch.setattr(SqliteDatabase, "scrub", scrub)
        return scrub(self)

    monkeypatch.setattr(SqliteDatabase, "scrub", meanwhile)
    here.history.purge(first.id)
    assert is_marked(here)
    here.scheduled_maintenance.run_due(lambda: True)
    assert not is_marked(here)


def is_marked(engine: Engine) -> bool:
    with engine._context.reading() as tx:  # a setting that no surface shows
        return bool(tx.settings.get(UNSCRUBBED, False))


def test_a_text_purged_from_a_large_file_is_not_in_its_log(path: Path, here: Engine) -> None:
    # Rewriting more than a thousand pages makes a checkpoint due, which must not get in the way.
    word = "xylophonist"
    for number in range(30):
        texts = tuple(f"{number} {fact} {'of some length ' * 20}" for fact in range(100))
        here.graph.create_entities([NewEntity(name=f"E{number}", type="thing", observations=texts)])
    memory = here.memories.remember(NewMemory(content=f"the {word} lives here")).memory
    here.history.purge(memory.id)
    assert path.stat().st_size > 1000 * 4096
    for file in path.parent.glob("memory.db*"):
        assert word.encode() not in file.read_bytes(), file.name
