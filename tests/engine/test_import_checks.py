"""An import is checked as a create is: one bad line, and nothing of the file is taken in."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_memory.engine import Engine, transfer
from mcp_memory.engine.archive_records import _FIELDS
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.errors import Forbidden, Invalid, MemoryServerError, Unavailable
from mcp_memory.inputs import NewEntity
from mcp_memory.model import Caller, Filter
from mcp_memory.storage.schema import TABLE
from mcp_memory.tuning import Tuning
from tests.fakes import Clock


def archive(engine: Engine) -> list[dict[str, Any]]:
    return [json.loads(line) for line in engine.transfer.export_full()]


def as_lines(records: list[Any]) -> list[bytes]:
    return [json.dumps(record).encode() for record in records]


@pytest.fixture
def records(engine: Engine) -> list[dict[str, Any]]:
    elsewhere = engine.acting_for(Caller("elsewhere", "mallory"))
    elsewhere.memories.remember(NewMemory(content="good"))
    memory = elsewhere.memories.remember(NewMemory(content="soon bad")).memory
    elsewhere.memories.update(memory.id, {"content": "bad"})
    elsewhere.graph.create_entities([NewEntity(name="Ana", type="person", observations=("likes tea",))])
    return archive(elsewhere)


BAD: list[tuple[str, str, Any]] = [
    ("memory", "tags", "abc"),
    ("memory", "created_at", 5),
    ("memory", "metadata", "x"),
    ("memory", "version", "x"),
    ("memory", "content", 7),
    ("memory", "content", ""),
    ("memory", "content", "a\0b"),
    ("memory", "content", "x" * 60_000),
    ("memory", "access_count", 2**40),
    ("memory", "confidence", 1.5),
    ("memory", "confidence", True),
    ("memory", "importance", "high"),
    ("memory", "origin", "elsewhere"),
    ("version", "number", 1.5),
    ("version", "created_at", "soon"),
    ("entity", "name", ["Ana"]),
    ("entity", "metadata", []),
    ("event", "name", "memory_created\ndata: forged"),
    ("event", "at", None),
    ("observation", "memory", None),
]


@pytest.mark.parametrize(("kind", "field", "value"), BAD)
def test_one_bad_line_and_nothing_is_taken_in(
    engine: Engine, records: list[dict[str, Any]], kind: str, field: str, value: Any
) -> None:
    line = next(number for number, record in enumerate(records) if record["record"] == kind)
    records[line][field] = value
    with pytest.raises(Invalid, match=f"line {line + 1}: ") as refused:
        engine.transfer.import_full(as_lines(records))
    assert "nothing was imported" in str(refused.value)
    assert engine.inventory.counts().memories == 0
    assert engine.inventory.counts().entities == 0


@pytest.mark.parametrize("text", [b"Infinity", b"-Infinity", b"NaN"])
def test_numbers_that_are_none_are_refused(
    engine: Engine, records: list[dict[str, Any]], text: bytes
) -> None:
    lines = [line.replace(b'"confidence": 1.0', b'"confidence": ' + text) for line in as_lines(records)]
    with pytest.raises(Invalid, match="is not a number"):
        engine.transfer.import_full(lines)


def test_every_bad_line_is_reported(engine: Engine, records: list[dict[str, Any]]) -> None:
    for record in records:
        if record["record"] == "memory":
            record["tags"] = "abc"
    with pytest.raises(Invalid, match=r"3 bad lines.*line 2: .*line 3: .*line 4: "):
        engine.transfer.import_full(as_lines(records))


def test_nobody_elses_name_is_taken_from_a_file(engine: Engine, records: list[dict[str, Any]]) -> None:
    for record in records:
        if record["record"] == "memory":
            record["provenance"] = {"client": "somebody", "via": "person"}
    importer = engine.acting_for(Caller("here", "ann"))
    importer.transfer.import_full(as_lines(records))
    [memory, *_] = importer.memories.find(Filter()).memories
    assert memory.provenance == {"client": "ann", "via": "import"}
    clients = {event.client for event in importer.history.events_after(0, 100)}
    assert clients == {"ann", "ann (import)"}


def test_imports_can_be_quarantined(engine: Engine, records: list[dict[str, Any]]) -> None:
    careful = Engine(replace(engine._context, tuning=Tuning(quarantine=frozenset({"import"}))))
    careful.transfer.import_full(as_lines(records))
    assert careful.memories.find(Filter()).memories == ()
    assert len(careful.memories.find(Filter(quarantined=None)).memories) == 3


def test_every_column_that_is_exported_is_checked() -> None:
    stamped = {"memory": {"provenance"}}
    for table in TABLE.values():
        if table.record in _FIELDS and table.name != "event":
            missing = set(table.portable) - set(_FIELDS[str(table.record)]) - stamped.get(table.name, set())
            assert not missing, table.name


def test_one_space_that_cannot_be_read_stops_no_other(
    engine: Engine, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for space in ("damaged", "sound"):
        engine.acting_for(Caller(space)).memories.remember(NewMemory(content="x"))
    with engine.acting_for(Caller("damaged"))._context.writing() as tx:
        tx.settings.put("upkeep", "not what it should be")
    clock.advance(days=2)
    runs = engine.scheduled_maintenance.run_due(lambda: True)
    by_space = {run.space: run.result for run in runs}
    assert by_space["damaged"].startswith("failed: ")
    assert not by_space["sound"].startswith("failed: ")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture
def changed() -> Callable[[list[dict[str, Any]], Any], list[bytes]]:
    def change(records: list[dict[str, Any]], data: Any) -> list[bytes]:
        altered = [dict(record) for record in records]
        record = altered[data.draw(st.integers(1, len(altered) - 1))]
        record[data.draw(st.sampled_from(sorted(record)))] = data.draw(JSON)
        return as_lines(altered)

    return change


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_whatever_a_file_says_what_is_there_stays_readable(
    engine: Engine,
    records: list[dict[str, Any]],
    changed: Callable[[list[dict[str, Any]], Any], list[bytes]],
    data: Any,
) -> None:
    with suppress(MemoryServerError):
        engine.transfer.import_full(changed(records, data))
    engine.memories.find(Filter(quarantined=None))
    engine.recall.recall("tea")
    list(engine.transfer.export_full())
    engine.scheduled_maintenance.run_due(lambda: True)


REMOTE = Caller(remote=True)


@pytest.mark.parametrize("name", ["exists.jsonl", "missing.jsonl"])
def test_a_remote_caller_names_no_files_of_the_server(engine: Engine, tmp_path: Path, name: str) -> None:
    (tmp_path / "exists.jsonl").write_text('{"type":"entity","name":"A","entityType":"b","observations":[]}')
    with pytest.raises(Forbidden, match="IMPORT_DIR") as refused:
        engine.acting_for(REMOTE).transfer.import_anthropic(tmp_path / name)
    assert str(tmp_path) not in str(refused.value)
    allowed = Engine(replace(engine._context, import_dir=tmp_path, caller=REMOTE))
    if name == "exists.jsonl":
        assert allowed.transfer.import_anthropic(tmp_path / name).entities_imported == 1
    with pytest.raises(Forbidden):
        allowed.transfer.import_anthropic(tmp_path / ".." / "elsewhere.jsonl")


def test_only_regular_files_are_read(engine: Engine, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(Invalid):
            engine.transfer.import_from(path)


def test_a_path_that_leads_nowhere_is_refused_with_a_reason(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "here").symlink_to(tmp_path / "there")
    (tmp_path / "there").symlink_to(tmp_path / "here")
    (tmp_path / "out").symlink_to("/etc/passwd")
    remote = Engine(replace(engine._context, import_dir=tmp_path, caller=REMOTE))
    for path in (tmp_path / "here", f"{tmp_path}/\0"):
        with pytest.raises(Invalid, match="not the path of a file"):
            remote.transfer.import_anthropic(path)
    with pytest.raises(Forbidden):
        remote.transfer.import_anthropic(tmp_path / "out")


def test_two_files_are_previewed_at_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "PREVIEW_PATIENCE", 0.01)
    begun, go_on = threading.Semaphore(0), threading.Event()

    def slow() -> Iterator[bytes]:
        begun.release()
        go_on.wait()
        yield b'{"type":"entity","name":"Ada","entityType":"person","observations":[]}'

    with ThreadPoolExecutor(2) as threads:
        both = [threads.submit(engine.transfer.preview, slow()) for _ in range(2)]
        try:
            for _ in both:
                begun.acquire()
            with pytest.raises(Unavailable, match="other files are being previewed"):
                engine.transfer.preview([b""])
        finally:
            go_on.set()
        assert [one.result().total["entity"] for one in both] == [1, 1]
    assert engine.transfer.preview([b""]).format == "anthropic"


def test_a_memory_that_supersedes_itself_is_not_taken_in(
    engine: Engine, records: list[dict[str, Any]]
) -> None:
    [memory] = [one for one in records if one.get("content") == "good" and one["record"] == "memory"]
    memory["superseded_by"] = memory["id"]
    with pytest.raises(Invalid, match="the memory supersedes itself"):
        engine.transfer.import_full(as_lines(records))
    assert engine.inventory.counts().memories == 0
