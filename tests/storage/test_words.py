"""Finding by words: the same rows in the same order on both engines."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mcp_memory.events import MemoryCreated, MemoryUpdated
from mcp_memory.model import Caller
from mcp_memory.storage import Store, Transaction, queries, term_selection
from mcp_memory.storage.database import Allowed, WordRow
from mcp_memory.storage.postgres.database import PostgresDatabase
from mcp_memory.storage.sqlite import shared_words
from mcp_memory.storage.sqlite.database import SqliteDatabase
from mcp_memory.text.words import query_terms
from tests.consistency import troubles
from tests.fakes import Clock, ids
from tests.postgres_server import PostgresDatabases

ANY = Allowed("o.space_id > 0", {})
TEXT = (
    "harbour boat sail wind rope knot anchor tide wave storm light house keeper lamp oil fog horn bell"
    " ship crew deck mast hull cargo port map chart star moon night"
)
WORDS = TEXT.split()


def keep(tx: Transaction, id: str, content: str, tags: tuple[str, ...] = ()) -> int:
    memory = tx.memories.add(
        id=id, content=content, type="fact", origin="memory", importance=0.5, kind="generic", tags=tags
    )
    tx.journal.record(MemoryCreated(id, memory.content, memory.type))
    return memory.seq


def kept(store: Store, clock: Clock, contents: list[str], space: str = "default") -> list[int]:
    new_id = ids()
    with store.write(Caller(space), clock(), "act") as tx:
        return [keep(tx, f"{space}-{new_id()}", content) for content in contents]


def found(
    store: Store, clock: Clock, query: str, limit: int = 10, space: str = "default"
) -> list[tuple[int, float]]:
    with store.read(space, clock()) as tx:
        return tx.indexes.matching("memory", query_terms(query), ANY, limit)


def test_the_word_that_occurs_more_often_counts_more(store: Store, clock: Clock) -> None:
    once, thrice, _ = kept(
        store, clock, ["a boat and five other things here", "boat boat boat and other things", "nothing"]
    )
    assert [seq for seq, _ in found(store, clock, "boat")] == [thrice, once]


def test_a_rare_word_counts_more_than_a_common_one(store: Store, clock: Clock) -> None:
    common = [f"the lamp number {number}" for number in range(20)]
    [rare, *_] = kept(store, clock, ["the anchor number 20", *common])
    hits = found(store, clock, "lamp anchor", limit=3)
    assert hits[0][0] == rare
    assert hits[0][1] > 2 * hits[1][1] > 0


def test_a_word_among_the_tags_counts_half(store: Store, clock: Clock) -> None:
    with store.write(Caller(), clock(), "act") as tx:
        tagged = keep(tx, "tagged", "keeper of things", ("harbour",))
        said = keep(tx, "said", "keeper harbour", ("things",))
        for number in range(5):
            keep(tx, f"other-{number}", f"other {number}")
    (first, best), (second, other) = found(store, clock, "harbour")
    assert (first, second) == (said, tagged)
    assert best > other > 0


def test_words_of_another_space_are_not_found(store: Store, clock: Clock) -> None:
    here = kept(store, clock, ["boat on the water", "house on the hill"])
    kept(store, clock, [f"boat {number} there" for number in range(10)], space="elsewhere")
    assert [seq for seq, _ in found(store, clock, "boat")] == here[:1]


def test_a_filter_acts_before_the_limit(store: Store, clock: Clock) -> None:
    seqs = kept(store, clock, [f"boat number {number}" for number in range(30)])
    only = Allowed("o.space_id = :space_id AND o.seq = :wanted", {"space_id": 1, "wanted": seqs[17]})
    with store.read("default", clock()) as tx:
        assert [seq for seq, _ in tx.indexes.matching("memory", ["boat"], only, 1)] == [seqs[17]]


def test_what_is_forgotten_or_changed_is_not_found_by_its_old_words(store: Store, clock: Clock) -> None:
    [seq, other] = kept(store, clock, ["boat in the harbour", "lamp in the house"])
    with store.write(Caller(), clock(), "later") as tx:
        tx.memories.revise(tx.memories.fetch([seq])[seq], "better", content="ship in the harbour")
        tx.memories.change(tx.memories.fetch([other])[other], forgotten_at=clock(), forgotten_reason="over")
        tx.journal.record(MemoryUpdated("x", {}))
    assert found(store, clock, "boat lamp") == []
    assert [hit for hit, _ in found(store, clock, "ship")] == [seq]


@pytest.mark.parametrize(
    "text", ["O'Brien's \\ back", "naïve café", "東京都", "a & b | !c", "':*", "日", "🎉 party"]
)
def test_any_text_can_be_kept_and_found(store: Store, clock: Clock, text: str) -> None:
    [seq] = kept(store, clock, [text])
    assert [hit for hit, _ in found(store, clock, text)] == [seq] * bool(query_terms(text))


def many_texts(count: int, longest: int) -> list[str]:
    """Of words some of which are much more common than others."""
    chance = random.Random(7)
    return [
        " ".join(
            [*chance.choices(WORDS, range(len(WORDS), 0, -1), k=chance.randint(3, longest)), str(number)]
        )
        for number in range(count)
    ]


def assert_both_find_the_same(stores: dict[str, Store], clock: Clock) -> None:
    chance = random.Random(8)
    for _ in range(40):
        question = " ".join(chance.sample(WORDS, chance.randint(1, 6)))
        on_sqlite, on_postgres = (found(store, clock, question) for store in stores.values())
        assert [seq for seq, _ in on_sqlite] == [seq for seq, _ in on_postgres]
        assert [score for _, score in on_sqlite] == pytest.approx([score for _, score in on_postgres])


def test_both_engines_find_the_same_in_the_same_order(stores: dict[str, Store], clock: Clock) -> None:
    for store in stores.values():
        kept(store, clock, many_texts(400, longest=60))
    assert_both_find_the_same(stores, clock)


@pytest.fixture
def sqlite_file(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(SqliteDatabase(tmp_path / "words.db")).open()) as store:
        yield store


def table_count(store: Store) -> int:
    with store.database.read() as connection:
        return len(connection.run("SELECT 1 FROM sqlite_schema WHERE type = 'table'"))


def test_small_spaces_have_no_tables_of_their_own(sqlite_file: Store, clock: Clock) -> None:
    before = table_count(sqlite_file)
    for number in range(40):
        kept(sqlite_file, clock, ["a boat", "a lamp"], space=f"space {number}")
    assert table_count(sqlite_file) == before
    assert len(found(sqlite_file, clock, "boat", space="space 7")) == 1


def test_a_space_that_grows_and_shrinks_answers_the_same(
    sqlite_file: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(sqlite_file, clock, ["other words"], space="elsewhere")
    monkeypatch.setattr(shared_words, "MOST_ROWS", 301)
    kept(sqlite_file, clock, many_texts(300, longest=40))
    questions = ["boat", "harbour light storm", "moon 17 night", "fog"]
    shared = [found(sqlite_file, clock, question, limit=400) for question in questions]
    tables = table_count(sqlite_file)

    monkeypatch.setattr(shared_words, "MOST_ROWS", 300)
    with sqlite_file.write(Caller(), clock(), "more") as tx:
        last = keep(tx, "last", "something else")
    assert table_count(sqlite_file) > tables  # its own index
    with sqlite_file.write(Caller(), clock(), "away") as tx:
        tx.memories.change(tx.memories.fetch([last])[last], forgotten_at=clock(), forgotten_reason="over")
        tx.journal.record(MemoryUpdated("x", {}))
    assert_same(shared, [found(sqlite_file, clock, question, limit=400) for question in questions])

    monkeypatch.setattr(shared_words, "MOST_ROWS", 1000)
    assert len(tended(sqlite_file)) == 1
    assert table_count(sqlite_file) == tables
    assert_same(shared, [found(sqlite_file, clock, question, limit=400) for question in questions])
    assert troubles(sqlite_file) == []
    assert tended(sqlite_file) == []


def assert_same(expected: list[list[tuple[int, float]]], got: list[list[tuple[int, float]]]) -> None:
    for one, other in zip(expected, got, strict=True):
        assert [seq for seq, _ in one] == [seq for seq, _ in other]
        assert [score for _, score in one] == pytest.approx([score for _, score in other])


@pytest.fixture
def soon_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few hundred rows are many, and a search begins with words that lead to no more than fifty."""
    monkeypatch.setattr(term_selection, "LARGE", 300)
    monkeypatch.setattr(term_selection, "MOST_ROWS", 50)
    monkeypatch.setattr(shared_words, "MOST_ROWS", 100)


def tended(store: Store) -> list[str]:
    return list(store.database.words.maintain(store.database))


def many(common: str = "boat") -> list[str]:
    """400 of them hold the common word, 10 a rare one, 4 both."""
    only_common = [f"{common} number {number}" for number in range(396)]
    both = [f"{common} anchor {number}" for number in range(4)]
    return [*only_common, *both, *(f"anchor alone {number}" for number in range(6)), "nothing of it"]


@pytest.mark.usefixtures("soon_large")
def test_in_a_large_space_a_common_word_counts_where_a_rare_one_stands(store: Store, clock: Clock) -> None:
    seqs = kept(store, clock, [*many(), *(f"lamp {number}" for number in range(500))])
    tended(store)
    hits = found(store, clock, "boat anchor", limit=20)
    assert {seq for seq, _ in hits[:4]} == set(seqs[396:400])
    assert {seq for seq, _ in hits[4:]} == set(seqs[400:406])
    assert hits[3][1] > hits[4][1]


@pytest.mark.usefixtures("soon_large")
def test_in_a_large_space_a_common_word_alone_is_found(store: Store, clock: Clock) -> None:
    kept(store, clock, many())
    tended(store)
    assert len(found(store, clock, "boat", limit=1000)) == 400


@pytest.mark.usefixtures("soon_large")
def test_a_space_that_has_become_large_is_searched_before_anyone_tended_it(
    store: Store, clock: Clock
) -> None:
    seqs = kept(store, clock, many())
    assert {seq for seq, _ in found(store, clock, "boat anchor", limit=10)} >= set(seqs[396:400])


@pytest.mark.usefixtures("soon_large")
def test_common_words_are_counted_again_only_after_growth(stores: dict[str, Store], clock: Clock) -> None:
    store, new_id = stores["postgres"], ids()
    for new, expected in ((299, []), (1, [300]), (0, []), (70, []), (10, [380]), (0, [])):
        with store.write(Caller(), clock(), "act") as tx:
            for _ in range(new):
                keep(tx, new_id(), f"boat {new_id()}")
        assert [int(step.split()[-3]) for step in tended(store)] == expected


@pytest.mark.usefixtures("soon_large")
def test_both_engines_find_the_same_in_a_large_space(stores: dict[str, Store], clock: Clock) -> None:
    for store in stores.values():
        kept(store, clock, many_texts(500, longest=9))
        tended(store)
    assert_both_find_the_same(stores, clock)


def test_words_kept_by_an_earlier_schema_are_found_as_before(postgres: PostgresDatabases) -> None:
    scripts = queries.migrations("postgres")
    with postgres.empty() as url, closing(PostgresDatabase(url)) as database:
        database.migrate(scripts[:1])
        with database.write() as connection:
            # "it's" twice in the body and once among the tags, a word with a backslash among the tags alone.
            connection.change(
                "INSERT INTO memory_words (seq, space_id, token_count, lexemes)"
                " VALUES (1, 7, 4, CAST(:lexemes AS tsvector))",
                {"lexemes": r"'#7' 'it''s':1A,2A,3 'a\\b':1"},
            )
        database.migrate(scripts)
        with database.write() as connection:
            row = WordRow(2, 7, "it's it's", "it's a\\b")
            database.words.put(connection, "memory", [row])
            [brought, new] = connection.run("SELECT CAST(lexemes AS TEXT) AS lexemes FROM memory_words")
    assert brought == new == {"lexemes": r"'#7' 'a\\b':1 'it''s':1,2,3,4,5"}
