"""The sketch over many vectors: built beside the search, never in its way."""

import multiprocessing
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import apsw
import apsw.sqlite_extra
import numpy as np
import numpy.typing as npt
import pytest

from mcp_memory.storage import vector_codes
from mcp_memory.storage.database import Allowed
from mcp_memory.storage.sqlite import compaction, sketches
from mcp_memory.storage.sqlite.database import SqliteDatabase
from tests.storage.test_sqlite_vectors import (
    DIMENSIONS,
    EVERYTHING,
    MODEL,
    VECTORS,
    Vectors,
    nearest,
    prepare,
    remember,
    seqs_of,
    unit_vectors,
)

COUNT = 21_000
FLOOR = 0.94
"""Recall@10 with codes of 32 bits and bytes; with the 384 of a real model it is 0.99."""

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
    """Enough vectors for a sketch, which nobody has made yet."""
    path = tmp_path_factory.mktemp("vectors") / "memory.db"
    with closing(SqliteDatabase(path, "NORMAL")) as database:
        prepare(database)
        remember(database, MANY, type_of=lambda seq: "rare" if seq % 1000 == 0 else f"kind {seq % 3}")
    return path


@pytest.fixture(scope="module")
def sketched_file(full_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = Path(shutil.copy(full_file, tmp_path_factory.mktemp("sketched") / "memory.db"))
    with closing(SqliteDatabase(path, "NORMAL")) as database:
        maintain(database)
    return path


@pytest.fixture
def full(full_file: Path, tmp_path: Path) -> Iterator[SqliteDatabase]:
    with closing(SqliteDatabase(Path(shutil.copy(full_file, tmp_path / "memory.db")), "NORMAL")) as database:
        yield database


@pytest.fixture
def sketched(sketched_file: Path, tmp_path: Path) -> Iterator[SqliteDatabase]:
    path = Path(shutil.copy(sketched_file, tmp_path / "memory.db"))
    with closing(SqliteDatabase(path, "NORMAL")) as database:
        yield database


def maintain(database: SqliteDatabase) -> list[str]:
    return list(VECTORS.maintain(database, MODEL, DIMENSIONS))


def entry_count(database: SqliteDatabase) -> int:
    with database.read() as connection:
        [row] = connection.run("SELECT COALESCE(sum(entry_count), 0) AS n FROM vector_sketch")
        [segments] = connection.run("SELECT COALESCE(sum(length(ids)), 0) / 8 AS n FROM vector_segment")
    assert row == segments
    return int(row["n"])


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


def test_few_vectors_get_no_sketch(tmp_path: Path) -> None:
    with closing(SqliteDatabase(tmp_path / "memory.db", "NORMAL")) as database:
        prepare(database)
        remember(database, MANY[: sketches.SKETCH_FROM - 1])
        assert maintain(database) == []
        assert entry_count(database) == 0


def test_many_vectors_get_a_sketch_that_finds_the_nearest(sketched: SqliteDatabase) -> None:
    assert entry_count(sketched) == COUNT
    assert recall(sketched) >= FLOOR


def test_a_filter_that_leaves_a_part_acts_before_the_limit(sketched: SqliteDatabase) -> None:
    mask = (np.arange(COUNT) + 1) % 3 == 0
    mask &= (np.arange(COUNT) + 1) % 1000 != 0
    assert recall(sketched, Allowed("o.type = :type", {"type": "kind 0"}), mask) >= FLOOR


def test_a_filter_that_leaves_a_few_finds_exactly_those(sketched: SqliteDatabase) -> None:
    rare = Allowed("o.type = :type", {"type": "rare"})
    mask = (np.arange(COUNT) + 1) % 1000 == 0
    for query in clustered(5, seed=8):
        # By similarity: byte codes may swap neighbours that are all but equally near.
        expected = [MANY[seq - 1] @ query for seq in exact(query, 10, mask)]
        assert [cosine for _, cosine in nearest(sketched, query, 10, rare)] == pytest.approx(
            expected, abs=5e-3
        )


def test_a_filter_that_leaves_nothing_finds_nothing(sketched: SqliteDatabase) -> None:
    assert nearest(sketched, MANY[0], 10, Allowed("o.type = :type", {"type": "none"})) == []


def test_a_space_does_not_find_what_lies_in_another(sketched: SqliteDatabase) -> None:
    remember(sketched, MANY[:50], first=COUNT + 1, space_id=2)
    assert seqs_of(nearest(sketched, MANY[7], 1, space_id=2)) == [COUNT + 8]
    assert seqs_of(nearest(sketched, MANY[7], 1)) == [8]


def test_a_vector_is_found_before_the_sketch_holds_it(sketched: SqliteDatabase) -> None:
    [new] = unit_vectors(1, seed=3)
    remember(sketched, new[np.newaxis], first=COUNT + 1)
    assert seqs_of(nearest(sketched, new, 1)) == [COUNT + 1]


def test_a_changed_vector_is_found_where_it_is_now(sketched: SqliteDatabase) -> None:
    [new] = unit_vectors(1, seed=3)
    remember(sketched, new[np.newaxis], first=5)
    assert seqs_of(nearest(sketched, new, 1)) == [5]
    assert 5 not in seqs_of(nearest(sketched, MANY[4], 3))


def test_a_removed_vector_is_not_found_though_the_sketch_holds_it(sketched: SqliteDatabase) -> None:
    with sketched.write() as connection:
        VECTORS.remove(connection, MODEL, "memory", [5])
    assert 5 not in seqs_of(nearest(sketched, MANY[4], 10))


def test_a_sketch_grows_by_batches_that_are_worth_it(sketched: SqliteDatabase) -> None:
    remember(sketched, clustered(sketches.LEAST_BATCH - 1, seed=4), first=COUNT + 1)
    assert maintain(sketched) == []
    remember(sketched, clustered(1, seed=6), first=COUNT + sketches.LEAST_BATCH)
    assert len(maintain(sketched)) == 1
    assert entry_count(sketched) == COUNT + sketches.LEAST_BATCH


def test_a_sketch_of_replaced_vectors_is_made_anew(sketched: SqliteDatabase) -> None:
    remember(sketched, MANY[:15_000])
    maintain(sketched)
    assert entry_count(sketched) == COUNT + 15_000
    maintain(sketched)
    assert entry_count(sketched) == COUNT
    assert recall(sketched) >= FLOOR


def test_an_interrupted_build_is_searched_around_and_resumed(full: SqliteDatabase) -> None:
    assert len(list(islice(VECTORS.maintain(full, MODEL, DIMENSIONS), 3))) == 3
    assert 0 < entry_count(full) < COUNT
    assert recall(full) >= FLOOR
    maintain(full)
    assert entry_count(full) == COUNT


def test_the_sketch_of_a_removed_model_is_dropped(sketched: SqliteDatabase) -> None:
    with sketched.write() as connection:
        connection.change("DELETE FROM vector")
    assert len(maintain(sketched)) == 1
    assert entry_count(sketched) == 0


def widen(database: SqliteDatabase) -> None:
    """Store vectors as earlier releases did: four bytes a dimension."""
    with database.write() as connection:
        connection.change_many(
            "UPDATE vector SET embedding = :embedding WHERE seq = :seq",
            [{"seq": n + 1, "embedding": vector.tobytes()} for n, vector in enumerate(MANY)],
        )
        connection.change("DELETE FROM setting")
        connection.change("DELETE FROM vector_sketch")
        connection.change("DELETE FROM vector_segment")


def widths(database: SqliteDatabase) -> set[int]:
    with database.read() as connection:
        return {row["n"] for row in connection.run("SELECT DISTINCT length(embedding) AS n FROM vector")}


def test_vectors_of_an_earlier_release_are_found_compacted_and_resumed(full: SqliteDatabase) -> None:
    widen(full)
    assert recall(full) >= 0.999
    assert len(list(islice(VECTORS.maintain(full, MODEL, DIMENSIONS), 3))) == 3
    assert widths(full) == {4 * DIMENSIONS, DIMENSIONS}
    assert recall(full) >= FLOOR
    maintain(full)
    assert widths(full) == {DIMENSIONS}
    assert entry_count(full) == COUNT
    assert recall(full) >= FLOOR


def test_compacted_vectors_are_not_looked_for_again(full: SqliteDatabase) -> None:
    maintain(full)
    assert list(compaction.compact(full, VECTORS, MODEL, DIMENSIONS)) == []


def test_the_index_of_an_earlier_release_is_dropped(full: SqliteDatabase) -> None:
    with full.write() as connection:
        try:
            apsw.sqlite_extra.load(connection.raw, "vec1")
        except (apsw.sqlite_extra.NotAvailable, apsw.Error, AttributeError):
            pytest.skip("this apsw has no vec1")
        connection.change("CREATE VIRTUAL TABLE vector_index_7 USING vec1(vector, space_id)")
    maintain(full)
    with full.read() as connection:
        assert connection.run("SELECT name FROM sqlite_schema WHERE name LIKE 'vector_index%'") == []


def maintain_and_say(path: Path, started: Any) -> None:
    with closing(SqliteDatabase(path, "NORMAL")) as database:
        for _ in VECTORS.maintain(database, MODEL, DIMENSIONS):
            started.release()


def test_a_killed_build_leaves_a_file_that_is_searched_and_finished(
    full: SqliteDatabase, tmp_path: Path
) -> None:
    started = processes.Semaphore(0)
    builder = processes.Process(target=maintain_and_say, args=(tmp_path / "memory.db", started))
    builder.start()
    for _ in range(3):
        assert started.acquire(timeout=60)
    assert builder.pid is not None
    os.kill(builder.pid, signal.SIGKILL)
    builder.join()
    assert recall(full) >= FLOOR
    maintain(full)
    assert entry_count(full) == COUNT
    assert recall(full) >= FLOOR


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
    maintain(full)
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    maintain(full)
    for first in firsts:
        vectors = unit_vectors(400, seed=first)
        assert all(seqs_of(nearest(full, vectors[n], 1)) == [first + n] for n in range(0, 400, 40))
        assert first + 1 not in seqs_of(nearest(full, vectors[1], 5))
    with full.read() as connection:
        assert connection.run("SELECT count(*) AS n FROM vector")[0]["n"] == COUNT + 4 * (400 - 20)
        assert connection.run("PRAGMA integrity_check") == [{"integrity_check": "ok"}]


@pytest.mark.parametrize("dimensions", [384, 64, 24, 100])
def test_bits_are_counted_in_every_width(dimensions: int) -> None:
    random = np.random.default_rng(1)
    vectors = random.standard_normal((500, dimensions)).astype(np.float32)
    query = random.standard_normal(dimensions).astype(np.float32)
    stored = [vector_codes.encode(vector.tobytes()) for vector in vectors]
    codes = vector_codes.signs(stored, dimensions)
    rounded = np.stack([np.frombuffer(code, np.int8) for code in stored])
    expected = ((rounded > 0) != (query > 0)).sum(axis=1)
    assert vector_codes.distances([codes], query.tobytes()).tolist() == expected.tolist()


@pytest.mark.parametrize("count", [1, 10, 499, 500, 600])
def test_the_smallest_distances_are_chosen_and_the_first_among_equals(count: int) -> None:
    distances = np.random.default_rng(2).integers(0, 40, 500).astype(np.uint16)
    chosen = vector_codes.smallest(distances, count).tolist()
    assert chosen == sorted(np.argsort(distances, kind="stable")[:count].tolist())
