"""Backups are consistent, verified, rotated and restorable, on either database."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from mcp_memory.engine import Engine, backups
from mcp_memory.engine.backups import backups_in, opened_backup
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.schedule import is_due
from mcp_memory.errors import Invalid, Unavailable
from mcp_memory.model import Filter
from mcp_memory.storage import Store
from mcp_memory.storage.sqlite import SqliteDatabase
from mcp_memory.tuning import BackupPlan
from tests.fakes import Clock


@pytest.fixture
def plan(tmp_path: Path) -> BackupPlan:
    return BackupPlan(folder=tmp_path / "backups")


def contents(engine: Engine, file: Path) -> list[str]:
    store = Store(SqliteDatabase(file)).open()
    try:
        restored = Engine(replace(engine._context, store=store))
        return [memory.content for memory in restored.memories.find(Filter(), order="oldest").memories]
    finally:
        store.close()


def test_a_backup_holds_everything_and_is_a_database_of_its_own(
    engine: Engine, plan: BackupPlan, tmp_path: Path
) -> None:
    engine.memories.remember(NewMemory(content="before"))
    made = engine.backups.make(plan)
    engine.memories.remember(NewMemory(content="after"))
    assert contents(engine, opened_backup(made.path, tmp_path)) == ["before"]
    assert made.path.stat().st_mode & 0o077 == 0


def test_old_backups_go_and_the_newest_stays(engine: Engine, plan: BackupPlan, clock: Clock) -> None:
    engine.memories.remember(NewMemory(content="x"))
    few = replace(plan, keep=3)
    for _ in range(5):
        clock.advance(days=1)
        engine.backups.make(few)
    kept = backups_in(plan.folder)
    assert [backup.made_at for backup in kept] == [clock.now - timedelta(days=n) for n in range(3)]
    clock.advance(days=1)
    engine.backups.make(replace(plan, limit=1))
    assert [backup.made_at for backup in backups_in(plan.folder)] == [clock.now]


def test_one_is_made_a_day_and_none_of_nothing(engine: Engine, plan: BackupPlan, clock: Clock) -> None:
    assert engine.backups.make_if_due(plan) is None
    engine.memories.remember(NewMemory(content="x"))
    assert engine.backups.make_if_due(plan) is not None
    assert engine.backups.make_if_due(plan) is None
    clock.advance(days=1)
    assert engine.backups.make_if_due(plan) is not None
    assert engine.backups.make_if_due(replace(plan, every=timedelta(0))) is None


def test_a_clock_that_was_wrong_does_not_stop_the_schedule(clock: Clock) -> None:
    three_years_ahead = clock.now + timedelta(days=1095)
    assert is_due(three_years_ahead, clock.now, timedelta(days=1))


def test_an_encrypted_backup_needs_its_passphrase(engine: Engine, plan: BackupPlan, tmp_path: Path) -> None:
    engine.memories.remember(NewMemory(content="nobody else's business"))
    made = engine.backups.make(replace(plan, passphrase="correct horse"))
    assert b"nobody" not in made.path.read_bytes()
    assert contents(engine, opened_backup(made.path, tmp_path, "correct horse")) == ["nobody else's business"]
    for wrong in ("", "incorrect"):
        with pytest.raises(Invalid, match="passphrase"):
            opened_backup(made.path, tmp_path, wrong)
    assert not list(tmp_path.glob(".*restoring"))


def test_a_damaged_backup_is_refused(engine: Engine, plan: BackupPlan, tmp_path: Path) -> None:
    engine.memories.remember(NewMemory(content="x" * 5_000))
    made = engine.backups.make(plan)
    data = bytearray(made.path.read_bytes())
    data[4096 * 2 : 4096 * 12] = b"\x07" * 4096 * 10
    made.path.write_bytes(data)
    with pytest.raises(Unavailable, match="not sound"):
        opened_backup(made.path, tmp_path)


def test_a_backup_that_cannot_be_written_leaves_nothing(engine: Engine, tmp_path: Path) -> None:
    engine.memories.remember(NewMemory(content="x"))
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="cannot be made"):
        engine.backups.make(BackupPlan(folder=tmp_path / "file" / "backups"))


def test_strange_files_among_the_backups_stop_nothing(
    engine: Engine, plan: BackupPlan, clock: Clock, tmp_path: Path
) -> None:
    engine.memories.remember(NewMemory(content="kept"))
    plan.folder.mkdir()
    (plan.folder / "memory-99999999T999999Z.db").touch()
    (plan.folder / ".memory-99999999T999999Z.db.unfinished").touch()
    (plan.folder / "memory-20240101T000000Z.db").mkdir()
    (plan.folder / "memory-20230101T000000Z.db").symlink_to(tmp_path / "nowhere")
    somebodys = tmp_path / "precious"
    somebodys.write_text("precious")
    (plan.folder / "memory-20220101T000000Z.db").symlink_to(somebodys)
    for _ in range(3):
        clock.advance(days=1)
        engine.backups.make(replace(plan, keep=1))
    assert [one.made_at for one in backups_in(plan.folder)] == [clock.now]
    assert somebodys.read_text() == "precious"


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + bytes(5_000)])
def test_what_is_no_backup_is_refused_and_leaves_nothing(tmp_path: Path, content: bytes) -> None:
    file, folder = tmp_path / "given.db", tmp_path / "there"
    folder.mkdir()
    file.write_bytes(content)
    with pytest.raises(Unavailable, match=rf"the backup {file} is not sound"):
        opened_backup(file, folder)
    assert list(folder.iterdir()) == []


def test_a_backup_with_triggers_is_refused(engine: Engine, plan: BackupPlan, tmp_path: Path) -> None:
    engine.memories.remember(NewMemory(content="kept"))
    made = engine.backups.make(plan)
    spoiled = apsw.Connection(str(made.path))
    spoiled.execute("CREATE TRIGGER t AFTER INSERT ON memory BEGIN DELETE FROM memory; END")
    spoiled.close()
    with pytest.raises(Unavailable, match="has triggers, so it was not made by mcp-memory: 't'"):
        opened_backup(made.path, tmp_path)
    assert not list(tmp_path.glob(".*"))


def test_an_encrypted_backup_appears_whole_or_not_at_all(
    engine: Engine, plan: BackupPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.memories.remember(NewMemory(content="secret"))

    def full_disk(source: Path, target: Path, passphrase: str) -> None:
        target.write_bytes(b"age-encryption.org/v1 half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backups, "encrypt_file", full_disk)
    with pytest.raises(Unavailable, match="No space left"):
        engine.backups.make(replace(plan, passphrase="a long passphrase"))
    assert list(plan.folder.iterdir()) == []
