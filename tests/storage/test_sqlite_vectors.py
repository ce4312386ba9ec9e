"""The vectors of a SQLite file, compared one by one."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from mcp_memory.model import EmbeddingModel, Owner
from mcp_memory.storage.database import Allowed
from mcp_memory.storage.queries import migrations
from mcp_memory.storage.sqlite import vector_cache
from mcp_memory.storage.sqlite import vectors as sqlite_vectors
from mcp_memory.storage.sqlite.database import SqliteDatabase

OWNERS = """
DROP TABLE memory;
CREATE TABLE memory (seq INTEGER PRIMARY KEY, type TEXT NOT NULL);
DROP TABLE entity;
CREATE TABLE entity (seq INTEGER PRIMARY KEY, type TEXT NOT NULL);
INSERT INTO embedding_model VALUES (1, 'one', 32, '', 'active', ''), (2, 'other', 32, '', 'building', '');
"""
MODEL = 1
DIMENSIONS = 32
EVERYTHING = Allowed("TRUE", {})
VECTORS = sqlite_vectors.SqliteVectors()

Vectors = npt.NDArray[np.float32]


def unit_vectors(count: int, seed: int = 0) -> Vectors:
    vectors: Vectors = np.random.default_rng(seed).standard_normal((count, DIMENSIONS), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    with closing(SqliteDatabase(tmp_path / "memory.db", "NORMAL")) as database:
        prepare(database)
        yield database


def prepare(database: SqliteDatabase) -> None:
    """The real tables of vectors, and owners that have no more than a vector's search looks at."""
    database.migrate(migrations("sqlite"))
    with database.write() as connection:
        connection.raw.execute(OWNERS)


def remember(
    database: SqliteDatabase,
    vectors: Vectors,
    *,
    first: int = 1,
    space_id: int = 1,
    model_id: int = MODEL,
    owner: Owner = "memory",
    type_of: Callable[[int], str] = lambda seq: "note",
) -> None:
    seqs = range(first, first + len(vectors))
    with database.write() as connection:
        connection.change_many(
            f"INSERT OR REPLACE INTO {owner} VALUES (:seq, :type)",
            [{"seq": n, "type": type_of(n)} for n in seqs],
        )
        rows = [(seq, space_id, vector.tobytes()) for seq, vector in zip(seqs, vectors, strict=True)]
        VECTORS.put(connection, model_id, owner, rows)


def nearest(
    database: SqliteDatabase,
    query: npt.NDArray[np.float32],
    limit: int = 5,
    allowed: Allowed = EVERYTHING,
    space_id: int = 1,
) -> list[tuple[int, float]]:
    with database.read() as connection:
        return database.vectors.nearest(
            connection, MODEL, "memory", query.tobytes(), space_id, allowed, limit
        )


def seqs_of(found: list[tuple[int, float]]) -> list[int]:
    return [seq for seq, _ in found]


def exact(vectors: Vectors, query: npt.NDArray[np.float32], limit: int) -> list[int]:
    return [int(n) + 1 for n in np.argsort(-(vectors @ query))[:limit]]


def test_the_nearest_come_first_with_their_cosine(database: SqliteDatabase) -> None:
    vectors = unit_vectors(50)
    remember(database, vectors)
    found = nearest(database, vectors[7])
    assert seqs_of(found) == exact(vectors, vectors[7], 5)
    assert [similarity for _, similarity in found] == pytest.approx(
        np.sort(vectors @ vectors[7])[:-6:-1], abs=2e-3
    )


def test_another_space_model_or_owner_is_never_found(database: SqliteDatabase) -> None:
    vectors = unit_vectors(4)
    remember(database, vectors[:1], first=1)
    remember(database, vectors[1:2], first=2, space_id=2)
    remember(database, vectors[2:3], first=3, model_id=2)
    remember(database, vectors[3:4], first=4, owner="entity")
    assert seqs_of(nearest(database, vectors[3])) == [1]


def test_a_filter_acts_before_the_limit(database: SqliteDatabase) -> None:
    vectors = unit_vectors(100)
    remember(database, vectors, type_of=lambda seq: "rare" if seq % 50 == 0 else "common")
    found = nearest(database, vectors[0], limit=2, allowed=Allowed("o.type = :type", {"type": "rare"}))
    assert sorted(seqs_of(found)) == [50, 100]


def test_a_vector_put_again_takes_the_place_of_the_first(database: SqliteDatabase) -> None:
    old, new = unit_vectors(2)
    remember(database, old[np.newaxis])
    remember(database, new[np.newaxis])
    [(seq, similarity)] = nearest(database, new)
    assert seq == 1
    assert similarity == pytest.approx(1.0, abs=2e-3)


def test_a_removed_vector_is_not_found(database: SqliteDatabase) -> None:
    vectors = unit_vectors(3)
    remember(database, vectors)
    with database.write() as connection:
        VECTORS.remove(connection, MODEL, "memory", [2])
    assert sorted(seqs_of(nearest(database, vectors[1]))) == [1, 3]


def test_a_vector_is_found_in_the_transaction_that_put_it(database: SqliteDatabase) -> None:
    vectors = unit_vectors(1)
    with database.write() as connection:
        connection.change("INSERT INTO memory VALUES (1, 'note')")
        VECTORS.put(connection, MODEL, "memory", [(1, 1, vectors[0].tobytes())])
        found = database.vectors.nearest(connection, MODEL, "memory", vectors[0].tobytes(), 1, EVERYTHING, 5)
    assert seqs_of(found) == [1]


def test_a_vector_without_finite_numbers_is_refused(database: SqliteDatabase) -> None:
    with pytest.raises(ValueError, match="finite"):
        remember(database, np.full((1, DIMENSIONS), np.nan, np.float32))
    assert nearest(database, unit_vectors(1)[0]) == []


def test_what_is_kept_in_memory_follows_the_file(database: SqliteDatabase, tmp_path: Path) -> None:
    vectors = unit_vectors(40)
    remember(database, vectors[:20])
    assert nearest(database, vectors[3], limit=1)[0][0] == 4
    # Another process adds, replaces and deletes.
    with closing(SqliteDatabase(tmp_path / "memory.db", "NORMAL")) as other:
        remember(other, vectors[20:40], first=21)
        assert nearest(database, vectors[30], limit=1)[0][0] == 31
        with other.write() as connection:
            VECTORS.put(connection, MODEL, "memory", [(31, 1, (-vectors[30]).tobytes())])
            VECTORS.remove(connection, MODEL, "memory", [4])
    found = dict(nearest(database, vectors[30], limit=40))
    assert 4 not in found
    assert found[31] == pytest.approx(-1, abs=0.02)
    assert len(found) == 39


def test_vectors_that_come_one_by_one_are_found_by_the_next_writer(database: SqliteDatabase) -> None:
    vectors = unit_vectors(60)
    for number, vector in enumerate(vectors, start=1):
        with database.write() as connection:
            before = database.vectors.nearest(
                connection, MODEL, "memory", vector.tobytes(), 1, EVERYTHING, len(vectors)
            )
            assert sorted(seqs_of(before)) == list(range(1, number))
            connection.change("INSERT INTO memory VALUES (:seq, 'note')", {"seq": number})
            VECTORS.put(connection, MODEL, "memory", [(number, 1, vector.tobytes())])
    assert seqs_of(nearest(database, vectors[40], limit=5)) == exact(vectors, vectors[40], 5)


def test_vectors_at_hand_are_those_of_the_snapshot(database: SqliteDatabase) -> None:
    vectors = unit_vectors(4)
    remember(database, vectors[:2])
    model = EmbeddingModel(MODEL, "one", DIMENSIONS, "", "active")
    with database.read() as connection:
        assert len(connection.run("SELECT seq FROM memory")) == 2
        remember(database, vectors[2:3], first=3)
        at_hand = database.vectors.at_hand(connection, model, "memory", 1)
        assert at_hand is not None
        found, cosines = at_hand.units([2, 3]), at_hand.cosines(vectors[0].tobytes(), [2, 3])
    assert list(found) == list(cosines) == [2]
    assert np.frombuffer(found[2], "<f4") == pytest.approx(vectors[1], abs=0.01)
    assert cosines[2] == pytest.approx(float(vectors[0] @ vectors[1]), abs=0.01)
    with database.write() as connection:
        VECTORS.remove(connection, MODEL, "memory", [2])
        assert database.vectors.at_hand(connection, model, "memory", 1) is None


def test_a_writer_knows_whether_anything_is_near(database: SqliteDatabase, tmp_path: Path) -> None:
    vectors = unit_vectors(6)
    model = EmbeddingModel(MODEL, "one", DIMENSIONS, "", "active")

    def is_near(vector: Vectors) -> bool:
        with database.write() as connection:
            return database.vectors.any_near(connection, model, "memory", vector.tobytes(), 1, 0.95)

    remember(database, vectors[:3])
    assert is_near(vectors[5])  # nothing is kept yet: a search has to find out
    nearest(database, vectors[0])
    assert [is_near(vector) for vector in vectors] == [True, True, True, False, False, False]
    with closing(SqliteDatabase(tmp_path / "memory.db", "NORMAL")) as other:
        remember(other, vectors[3:4], first=4)
        remember(other, vectors[4:5], first=1)
    assert [is_near(vector) for vector in vectors[1:]] == [True, True, True, True, False]
    assert sorted(seqs_of(nearest(database, vectors[4]))) == [1, 2, 3, 4]
    assert nearest(database, vectors[4], limit=1)[0][0] == 1


def test_whether_anything_is_near_agrees_with_comparing_all(database: SqliteDatabase) -> None:
    dice = np.random.default_rng(3)
    vectors = unit_vectors(40)
    vectors[7] = 0
    remember(database, vectors)
    nearest(database, vectors[0])
    model = EmbeddingModel(MODEL, "one", DIMENSIONS, "", "active")
    found = []
    with database.write() as connection:
        for _ in range(300):
            share = dice.uniform()
            mixed = share * vectors[dice.integers(40)] + (1 - share) * unit_vectors(1)[0]
            wanted = (mixed / np.linalg.norm(mixed)).astype(np.float32)
            best = max(cosine for _, cosine in nearest(database, wanted))
            for least in (best - 0.01, best + 0.01, 0.8):
                is_near = database.vectors.any_near(connection, model, "memory", wanted.tobytes(), 1, least)
                assert is_near == (best >= least)
                found.append(is_near)
    assert 200 < sum(found) < 700


def test_a_writer_does_not_read_more_vectors_than_are_kept(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_cache, "MOST_ROWS", 5)
    vectors = unit_vectors(30)
    remember(database, vectors[:3])
    nearest(database, vectors[0])
    remember(database, vectors[3:29], first=4)
    model = EmbeddingModel(MODEL, "one", DIMENSIONS, "", "active")
    with database.write() as connection:
        assert database.vectors.any_near(connection, model, "memory", vectors[29].tobytes(), 1, 0.95)
        assert database.vectors.at_hand(connection, model, "memory", 1) is None
    assert seqs_of(nearest(database, vectors[20], limit=3)) == exact(vectors[:29], vectors[20], 3)


def test_replaced_vectors_are_found_when_no_more_can_be_kept(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_cache, "MOST_ROWS", 8)
    vectors = unit_vectors(16)
    remember(database, vectors[:8])
    nearest(database, vectors[0])
    model = EmbeddingModel(MODEL, "one", DIMENSIONS, "", "active")
    with database.write() as connection:
        replaced = [(seq, 1, vectors[seq + 7].tobytes()) for seq in range(3, 9)]
        VECTORS.put(connection, MODEL, "memory", replaced)
    with database.write() as connection:
        near = [
            database.vectors.any_near(connection, model, "memory", one.tobytes(), 1, 0.95) for one in vectors
        ]
    assert [near[0], near[1], *near[10:]] == [True] * 8
    current = [*vectors[:2], *vectors[10:16]]
    for number, vector in enumerate(current, start=1):
        [(seq, cosine)] = nearest(database, vector, limit=1)
        assert (seq, round(cosine, 1)) == (number, 1.0)


def test_vectors_that_were_taken_back_are_not_kept(database: SqliteDatabase) -> None:
    vectors = unit_vectors(3)
    remember(database, vectors[:1])

    def put(seq: int, vector: Vectors) -> None:
        with database.write() as connection:
            connection.change("INSERT INTO memory VALUES (:seq, 'note')", {"seq": seq})
            VECTORS.put(connection, MODEL, "memory", [(seq, 1, vector.tobytes())])
            database.vectors.nearest(connection, MODEL, "memory", vector.tobytes(), 1, EVERYTHING, 5)
            if seq == 2:
                raise InterruptedError

    with pytest.raises(InterruptedError):
        put(2, vectors[1])
    put(3, vectors[2])
    assert {seq for seq, _ in nearest(database, vectors[1], limit=5)} == {1, 3}
    assert nearest(database, vectors[2], limit=1)[0][0] == 3
