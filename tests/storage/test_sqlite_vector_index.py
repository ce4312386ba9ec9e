"""The approximate index over many vectors: built beside the search, never in its way."""

import multiprocessing
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mcp_memory.storage.database import Allowed
from mcp_memory.storage.sqlite import vector_index as sqlite_vector_index
from mcp_memory.storage.sqlite.database import SqliteDatabase
from tests.storage.test_sqlite_vectors import (
    DIMENSIONS,
    EVERYTHING,
    MODEL,
    VECTORS,
    Vectors,
    nearest,
    plain_database,
    prepare,
    remember,
    seqs_of,
    unit_vectors,
)

COUNT = sqlite_vector_index.INDEX_FROM + 1000
processes = multiprocessing.get_context("spawn")


def clustered(count: int, seed: int = 0) -> Vectors:
    """Vectors with neighbours, as texts have them."""
    centres = unit_vectors(200, seed=99)
    random = np.random.default_rng(seed)
    vectors: Vectors = centres[random.integers(0, 200, count)] + 0.1 * random.standard_normal(
        (count, DIMENSIONS), dtype=np.float32
    )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


MANY = clustered(COUNT)


@pytest.fixture(scope="module")
def full_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough vectors for an index, which nobody has built yet."""
    path = tmp_path_factory.mktemp("vectors") / "memory.db"
    with closing(SqliteDatabase(path, "NORMAL")) as database:
        prepare(database)
        remember(database, MANY, type_of=lambda seq: "rare" if seq % 1000 == 0 else f"kind {seq % 3}")
    return path


@pytest.fixture(scope="module")
def indexed_file(full_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = Path(shutil.copy(full_file, tmp_path_factory.mktemp("indexed") / "memory.db"))
    with closing(SqliteDatabase(path, "NORMAL")) as database:
        tend(database)
    return path


@pytest.fixture
def full(full_file: Path, tmp_path: Path) -> Iterator[SqliteDatabase]:
    with closing(SqliteDatabase(Path(shutil.copy(full_file, tmp_path / "memory.db")), "NORMAL")) as database:
        yield database


@pytest.fixture
def indexed(indexed_file: Path, tmp_path: Path) -> Iterator[SqliteDatabase]:
    with closing(
        SqliteDatabase(Path(shutil.copy(indexed_file, tmp_path / "memory.db")), "NORMAL")
    ) as database:
        yield database


def tend(database: SqliteDatabase) -> list[str]:
    return list(VECTORS.maintain(database, MODEL, DIMENSIONS))


def known(database: SqliteDatabase) -> list[dict[str, Any]]:
    with database.read() as connection:
        return connection.run("SELECT * FROM vector_index ORDER BY id")


def states(database: SqliteDatabase) -> list[str]:
    return [row["state"] for row in known(database)]


def index_tables(database: SqliteDatabase) -> list[str]:
    with database.read() as connection:
        rows = connection.run(
            "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE vector_index%'"
        )
    return sorted(row["name"] for row in rows)


def indexed_ids(database: SqliteDatabase) -> set[int]:
    [table] = index_tables(database)
    with database.read() as connection:
        return {row["id"] for row in connection.run(f"SELECT id FROM {table}_base")}


def exact(
    query: npt.NDArray[np.float32], limit: int, allowed: npt.NDArray[np.bool_] | None = None
) -> list[int]:
    cosines = MANY @ query
    if allowed is not None:
        cosines = np.where(allowed, cosines, -2)
    return [int(n) + 1 for n in np.argsort(-cosines)[:limit]]


def recall(
    database: SqliteDatabase, allowed: Allowed = EVERYTHING, mask: npt.NDArray[np.bool_] | None = None
) -> float:
    queries = clustered(20, seed=5)
    hits = [set(seqs_of(nearest(database, q, 10, allowed))) & set(exact(q, 10, mask)) for q in queries]
    return sum(map(len, hits)) / (10 * len(queries))


def test_few_vectors_get_no_index(tmp_path: Path) -> None:
    with closing(SqliteDatabase(tmp_path / "memory.db", "NORMAL")) as database:
        prepare(database)
        remember(database, MANY[:2000])
        assert tend(database) == []
        assert index_tables(database) == []


def test_many_vectors_get_an_index_that_finds_the_nearest(indexed: SqliteDatabase) -> None:
    assert states(indexed) == ["ready"]
    assert recall(indexed) >= 0.98


def test_a_filter_that_leaves_a_part_acts_before_the_limit(indexed: SqliteDatabase) -> None:
    mask = np.arange(1, COUNT + 1) % 3 == 1
    mask[999::1000] = False
    assert recall(indexed, Allowed("o.type = :type", {"type": "kind 1"}), mask) >= 0.98


def test_a_filter_that_leaves_a_few_finds_exactly_those(indexed: SqliteDatabase) -> None:
    rare = Allowed("o.type = :type", {"type": "rare"})
    mask = np.arange(1, COUNT + 1) % 1000 == 0
    assert recall(indexed, rare, mask) == 1.0
    assert len(nearest(indexed, MANY[0], 50, rare)) == COUNT // 1000


def test_a_small_space_in_a_big_file_is_searched_exactly(indexed: SqliteDatabase) -> None:
    vectors = clustered(300, seed=8)
    remember(indexed, vectors, first=COUNT + 1, space_id=2)
    tend(indexed)
    found = seqs_of(nearest(indexed, vectors[0], 10, space_id=2))
    assert found == [COUNT + 1 + int(n) for n in np.argsort(-(vectors @ vectors[0]))[:10]]


def test_a_big_space_does_not_find_what_lies_in_another(indexed: SqliteDatabase) -> None:
    remember(indexed, MANY[:600], first=COUNT + 1, space_id=2)
    tend(indexed)
    assert all(seq <= COUNT for query in MANY[:20] for seq in seqs_of(nearest(indexed, query, 10)))


def test_what_is_written_after_the_index_is_found_at_once(indexed: SqliteDatabase) -> None:
    [new] = unit_vectors(1, seed=3)
    remember(indexed, new[np.newaxis], first=COUNT + 1)
    assert seqs_of(nearest(indexed, new, 1)) == [COUNT + 1]


def test_a_changed_vector_is_found_where_it_is_now(indexed: SqliteDatabase) -> None:
    [new] = unit_vectors(1, seed=3)
    remember(indexed, new[np.newaxis], first=1)
    assert seqs_of(nearest(indexed, new, 1)) == [1]
    assert nearest(indexed, MANY[0], 1)[0][0] != 1


def test_a_removed_vector_leaves_the_index_too(indexed: SqliteDatabase) -> None:
    with indexed.read() as connection:
        [row] = connection.run("SELECT id FROM vector WHERE seq = 5")
    assert row["id"] in indexed_ids(indexed)
    with indexed.write() as connection:
        VECTORS.remove(connection, MODEL, "memory", [5])
    assert row["id"] not in indexed_ids(indexed)
    assert 5 not in seqs_of(nearest(indexed, MANY[4], 10))


def test_a_removal_that_is_rolled_back_leaves_the_vector_findable(indexed: SqliteDatabase) -> None:
    def fail_after_removal() -> None:
        with indexed.write() as connection:
            VECTORS.remove(connection, MODEL, "memory", [5])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_after_removal()
    assert seqs_of(nearest(indexed, MANY[4], 1)) == [5]


def test_the_index_takes_in_what_was_added_in_full_batches(indexed: SqliteDatabase) -> None:
    before = known(indexed)[0]["last_id"]
    remember(indexed, clustered(1200, seed=4), first=COUNT + 1)
    tend(indexed)
    after = known(indexed)[0]["last_id"]
    assert after - before >= 1000
    with indexed.read() as connection:
        ids = {
            row["id"] for row in connection.run("SELECT id FROM vector WHERE id <= :last", {"last": after})
        }
    assert indexed_ids(indexed) == ids


def test_tending_a_fitting_index_changes_nothing(indexed: SqliteDatabase) -> None:
    before = known(indexed)
    assert tend(indexed) == []
    assert known(indexed) == before


def test_twice_the_vectors_get_a_new_index_in_place_of_the_old(indexed: SqliteDatabase) -> None:
    [old] = known(indexed)
    remember(indexed, clustered(COUNT, seed=6), first=COUNT + 1)
    tend(indexed)
    [new] = known(indexed)
    assert new["id"] != old["id"]
    assert new["bucket_count"] > old["bucket_count"]
    assert index_tables(indexed) == [f"vector_index_{new['id']}"]


def test_an_interrupted_build_is_searched_around_and_gone_on_with(full: SqliteDatabase) -> None:
    steps = VECTORS.maintain(full, MODEL, DIMENSIONS)
    assert len(list(islice(steps, 10))) == 10
    [half] = known(full)
    assert half["state"] == "building"
    assert recall(full) == 1.0

    with full.write() as connection:
        VECTORS.remove(connection, MODEL, "memory", [1])
    first_step = next(VECTORS.maintain(full, MODEL, DIMENSIONS))
    assert known(full)[0]["id"] == half["id"]
    assert known(full)[0]["last_id"] > half["last_id"], first_step
    tend(full)
    assert states(full) == ["ready"]
    assert 1 not in seqs_of(nearest(full, MANY[0], 10))


def test_an_index_that_fails_its_check_is_thrown_away_and_not_tried_again(full: SqliteDatabase) -> None:
    steps = VECTORS.maintain(full, MODEL, DIMENSIONS)
    list(islice(steps, 10))
    with full.write() as connection:
        connection.change(f"DELETE FROM {index_tables(full)[0]}_idx WHERE bucket % 2 = 0")
    list(steps)
    assert states(full) == ["unfit"]
    assert index_tables(full) == []
    assert recall(full) == 1.0
    assert tend(full) == []


def test_a_lost_index_stops_neither_search_nor_write_and_is_built_again(
    indexed: SqliteDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    with indexed.write() as connection:
        connection.change(f"DROP TABLE {index_tables(indexed)[0]}")
    assert recall(indexed) == 1.0
    assert "cannot be read" in caplog.text
    [new] = unit_vectors(1, seed=3)
    remember(indexed, new[np.newaxis], first=1)
    assert "abandoned" in caplog.text
    tend(indexed)
    assert states(indexed) == ["ready"]
    assert seqs_of(nearest(indexed, new, 1)) == [1]


def test_a_lost_index_is_noticed_when_it_should_take_in_more(
    indexed: SqliteDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    with indexed.write() as connection:
        connection.change(f"DROP TABLE {index_tables(indexed)[0]}")
        connection.raw.execute(
            f"INSERT INTO vector SELECT id + {COUNT}, 2, 'entity', seq, 1, embedding FROM vector"
        )
    tend(indexed)
    assert "abandoned" in caplog.text
    assert states(indexed) == ["ready"]
    assert recall(indexed) >= 0.98


def test_the_index_of_a_model_that_is_gone_is_dropped(indexed: SqliteDatabase) -> None:
    with indexed.write() as connection:
        connection.change("DELETE FROM vector")
    tend(indexed)
    assert index_tables(indexed) == []
    assert known(indexed) == []


def test_a_writer_without_the_extension_and_a_searcher_with_it_agree(
    indexed: SqliteDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [new] = unit_vectors(1, seed=3)
    with closing(plain_database(tmp_path / "memory.db", monkeypatch)) as plain:
        remember(plain, new[np.newaxis], first=1)
        with plain.write() as connection:
            VECTORS.remove(connection, MODEL, "memory", [2])
        assert tend(plain) == []
        assert seqs_of(nearest(plain, new, 1)) == [1]
    assert seqs_of(nearest(indexed, new, 1)) == [1]
    assert not {1, 2} & set(seqs_of(nearest(indexed, MANY[0], 10) + nearest(indexed, MANY[1], 10)))


def tend_for_ever(path: Path, started: Any) -> None:
    with closing(SqliteDatabase(path, "NORMAL")) as database:
        for _ in VECTORS.maintain(database, MODEL, DIMENSIONS):
            started.release()


def test_a_killed_build_leaves_a_file_that_is_searched_and_finished(
    full: SqliteDatabase, tmp_path: Path
) -> None:
    started = processes.Semaphore(0)
    builder = processes.Process(target=tend_for_ever, args=(tmp_path / "memory.db", started))
    builder.start()
    for _ in range(5):
        assert started.acquire(timeout=60)
    assert builder.pid is not None
    os.kill(builder.pid, signal.SIGKILL)
    builder.join()
    assert states(full) in (["building"], ["ready"])
    assert recall(full) >= 0.98
    tend(full)
    assert states(full) == ["ready"]
    assert recall(full) >= 0.98


def write_and_search(path: Path, first: int, count: int, started: Any) -> None:
    """Write in small transactions and look for each just written; anything missed is an error."""
    vectors = unit_vectors(count, seed=first)
    with closing(SqliteDatabase(path, "NORMAL")) as database:
        for start in range(0, count, 20):
            remember(database, vectors[start : start + 20], first=first + start)
            started.release()
            assert seqs_of(nearest(database, vectors[start], 1)) == [first + start]
            with database.write() as connection:
                VECTORS.remove(connection, MODEL, "memory", [first + start + 1])


def test_four_writing_processes_and_a_builder_lose_nothing(full: SqliteDatabase, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    firsts = [COUNT + 1 + 10_000 * n for n in range(4)]
    started = processes.Semaphore(0)
    workers = [
        processes.Process(target=write_and_search, args=(path, first, 400, started)) for first in firsts
    ]
    for worker in workers:
        worker.start()
    assert started.acquire(timeout=60)
    tend(full)
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    tend(full)
    for first in firsts:
        vectors = unit_vectors(400, seed=first)
        assert all(seqs_of(nearest(full, vectors[n], 1)) == [first + n] for n in range(0, 400, 40))
        assert first + 1 not in seqs_of(nearest(full, vectors[1], 5))
    with full.read() as connection:
        assert connection.run("SELECT count(*) AS n FROM vector")[0]["n"] == COUNT + 4 * (400 - 20)
        assert connection.run("PRAGMA integrity_check") == [{"integrity_check": "ok"}]
