"""Memories come in from files and go out again, and nothing is lost or doubled on the way."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from mcp_memory.engine import Context, Engine, transfer
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.relating import Triple
from mcp_memory.engine.transfer import Transfer
from mcp_memory.errors import Invalid
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import Caller, Filter
from mcp_memory.storage import Store
from mcp_memory.storage.schema import TABLES
from mcp_memory.storage.sqlite.database import SqliteDatabase
from tests.fakes import Clock, HashEmbedder

ANA = {"type": "entity", "name": "Ana", "entityType": "person", "observations": ["likes tea", "has 2 cats"]}
ACME = {"type": "entity", "name": "Acme", "entityType": "company", "observations": []}
WORKS = {"type": "relation", "from": "Ana", "to": "Acme", "relationType": "works_at"}


def lines(*values: Any) -> list[bytes]:
    """Each as one line; text goes in as it is."""
    return [(value if isinstance(value, str) else json.dumps(value)).encode() + b"\n" for value in values]


def known(engine: Engine) -> dict[str, list[str]]:
    page = engine.graph.read(limit=100)
    return {node.entity.name: node.texts for node in page.graph.nodes}


def triples(engine: Engine) -> list[tuple[str, str, str]]:
    return [(one.source, one.type, one.target) for one in engine.graph.read(limit=100).graph.relations]


def exported(engine: Engine) -> list[bytes]:
    return lines(*engine.transfer.export_full())


def without_header_and_import(archive: Iterable[bytes]) -> list[dict[str, Any]]:
    """What an archive says, but for when it was made, the act of importing, and who did what."""
    records = [json.loads(line) for line in archive]
    stamped = {"provenance", "client"}
    return [
        {name: value for name, value in one.items() if name not in stamped}
        for one in records[1:]
        if one.get("name") != "archive_imported"
    ]


def ids_in(records: Iterable[dict[str, Any]]) -> set[str]:
    return {one["id"] for one in records if "id" in one}


def with_ids_as_numbers(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same, with each id of a thing as its place in the order of things, and no other numbers."""
    text = json.dumps([{k: v for k, v in one.items() if k != "target_seq"} for one in records])
    for number, id in enumerate(one["id"] for one in records if "id" in one):
        text = text.replace(id, f"#{number}")
    renumbered: list[dict[str, Any]] = json.loads(text)
    return renumbered


class TestImportOfAnthropicsFile:
    def test_entities_observations_and_relations_arrive(self, engine: Engine) -> None:
        done = engine.transfer.import_anthropic(lines(ANA, ACME, WORKS))
        assert (done.entities_imported, done.relations_imported, done.errors, done.skipped) == (2, 1, 0, 0)
        assert known(engine) == {"Ana": ["likes tea", "has 2 cats"], "Acme": []}
        assert triples(engine) == [("Ana", "works_at", "Acme")]

    def test_a_relation_may_come_before_its_entities(self, engine: Engine) -> None:
        assert engine.transfer.import_anthropic(lines(WORKS, ACME, ANA)).relations_imported == 1

    def test_a_second_import_adds_nothing(self, engine: Engine) -> None:
        first = engine.transfer.import_anthropic(lines(ANA, ACME, WORKS))
        before = list(engine.transfer.export_anthropic())
        again = engine.transfer.import_anthropic(lines(ANA, ACME, WORKS))
        assert (again.entities_imported, again.relations_imported) == (first.entities_imported, 0)
        assert list(engine.transfer.export_anthropic()) == before

    def test_type_and_status_of_a_known_entity_stay(self, engine: Engine) -> None:
        engine.graph.create_entities([NewEntity(name="Ana", type="colleague", status="paused")])
        engine.transfer.import_anthropic(lines(ANA))
        [node] = engine.graph.open_nodes(["Ana"]).nodes
        assert (node.entity.type, node.entity.status) == ("colleague", "paused")
        assert node.texts == ["likes tea", "has 2 cats"]

    def test_an_entity_that_was_only_mentioned_gets_its_type(self, engine: Engine) -> None:
        engine.graph.create_relations([NewRelation(source="Ana", target="Bo", type="knows", make_ends=True)])
        engine.transfer.import_anthropic(lines(ANA))
        [node] = engine.graph.open_nodes(["Ana"]).nodes
        assert node.entity.type == "person"

    def test_an_entity_without_a_type_is_generic(self, engine: Engine) -> None:
        engine.transfer.import_anthropic(lines({"type": "entity", "name": "X"}))
        assert engine.graph.open_nodes(["X"]).nodes[0].entity.type == "Generic"

    @pytest.mark.parametrize("line", ["{broken", "42", '"text"', "[1]", "null", "true", "[" * 100_000])
    def test_a_line_that_is_no_object_is_an_error_and_the_rest_arrives(
        self, engine: Engine, line: str
    ) -> None:
        done = engine.transfer.import_anthropic(lines(ANA, line, ACME))
        assert (done.entities_imported, done.errors, done.skipped) == (2, 1, 1)
        assert done.problems[0].startswith("line 2: ")

    def test_bytes_that_are_no_text_are_an_error(self, engine: Engine) -> None:
        assert engine.transfer.import_anthropic([b'{"type":"entity","name":"\xff"}\n']).errors == 1

    @pytest.mark.parametrize(
        "value",
        [
            {"type": "person", "name": "Ana"},
            {"name": "Ana"},
            {"type": ["entity"], "name": "Ana"},
            {"type": "entity"},
            {"type": "entity", "name": 7},
            {"type": "entity", "name": "Ana", "observations": "one"},
            {"type": "entity", "name": "Ana", "observations": [1]},
            {"type": "entity", "name": "A\0"},
            {"type": "entity", "name": "\ud800"},
            {"type": "relation", "from": "Ana", "to": "Acme"},
            {"type": "relation", "from": "Nobody", "to": "Acme", "relationType": "knows"},
        ],
    )
    def test_a_line_that_says_nothing_useful_is_skipped_and_the_rest_arrives(
        self, engine: Engine, value: dict[str, Any]
    ) -> None:
        done = engine.transfer.import_anthropic(lines(value, ACME))
        assert (done.entities_imported, done.errors, done.skipped) == (1, 0, 1)
        assert list(known(engine)) == ["Acme"]

    def test_blank_lines_and_a_byte_order_mark_do_no_harm(self, engine: Engine) -> None:
        done = engine.transfer.import_anthropic([b"\xef\xbb\xbf" + lines(ANA)[0], b"\n", b"  \r\n"])
        assert (done.entities_imported, done.errors, done.skipped) == (1, 0, 0)

    def test_limits_of_single_calls_do_not_hold(self, engine: Engine) -> None:
        long = "x" * 10_000
        many = [f"{number}" for number in range(150)]
        entity = {"type": "entity", "name": "Big", "entityType": "t", "observations": [long, *many]}
        engine.transfer.import_anthropic(lines(entity))
        assert known(engine)["Big"] == [long, *many]

    def test_a_repeated_observation_is_kept_once_unless_asked(self, engine: Engine) -> None:
        twice = {**ANA, "observations": ["tea", "tea"]}
        engine.transfer.import_anthropic(lines(twice))
        engine.transfer.import_anthropic(lines({**twice, "name": "Bo"}), repeats=True)
        assert known(engine) == {"Ana": ["tea"], "Bo": ["tea", "tea"]}

    def test_what_was_imported_is_found(self, engine: Engine) -> None:
        engine.transfer.import_anthropic(lines(ANA, ACME))
        assert [hit.node.entity.name for hit in engine.entities.search("cats", 1).hits] == ["Ana"]

    def test_a_path_is_read_with_the_tilde_expanded(
        self, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        (tmp_path / "memory.jsonl").write_bytes(b"".join(lines(ANA)))
        assert engine.transfer.import_anthropic("~/memory.jsonl").entities_imported == 1

    def test_a_missing_file_and_a_folder_are_refused(self, engine: Engine, tmp_path: Path) -> None:
        with pytest.raises(Invalid, match=r"there is no file .*missing.jsonl"):
            engine.transfer.import_anthropic(tmp_path / "missing.jsonl")
        with pytest.raises(Invalid, match="is a folder"):
            engine.transfer.import_anthropic(tmp_path)

    def test_progress_is_told_in_bytes(self, engine: Engine) -> None:
        told: list[int] = []
        given = lines(ANA, ACME)
        engine.transfer.import_anthropic(given, progress=lambda doing, done, total: told.append(done))
        assert told == [sum(map(len, given))]


class TestExportOfAnthropicsFile:
    def test_it_is_byte_for_byte_what_the_server_writes(self, engine: Engine) -> None:
        engine.transfer.import_anthropic(
            lines(ACME, {**ANA, "observations": ['té "ñ" 日本 \u2028\n\t\x01']}, WORKS)
        )
        assert list(engine.transfer.export_anthropic()) == [
            '{"type":"entity","name":"Acme","entityType":"company","observations":[]}',
            '{"type":"entity","name":"Ana","entityType":"person",'
            '"observations":["té \\"ñ\\" 日本 \u2028\\n\\t\\u0001"]}',
            '{"type":"relation","from":"Ana","to":"Acme","relationType":"works_at"}',
        ]

    def test_an_empty_graph_is_one_empty_line(self, engine: Engine) -> None:
        assert list(engine.transfer.export_anthropic()) == [""]

    def test_pages_do_not_show(self, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(transfer, "BATCH", 2)
        names = [f"Node {number}" for number in range(5)]
        engine.graph.create_entities([NewEntity(name=name, type="t") for name in names])
        written = [json.loads(line)["name"] for line in engine.transfer.export_anthropic()]
        assert written == names

    def test_superseded_and_ended_things_stay_at_home(self, engine: Engine) -> None:
        engine.transfer.import_anthropic(lines(ANA, ACME, WORKS))
        engine.graph.add_observations("Ana", ["likes coffee"], supersedes="likes tea")
        engine.graph.end_relation(Triple("Ana", "Acme", "works_at"))
        written = [json.loads(line) for line in engine.transfer.export_anthropic()]
        assert [one["observations"] for one in written] == [["has 2 cats", "likes coffee"], []]

    def test_a_round_trip_through_the_file_changes_no_byte(self, engine: Engine) -> None:
        first = engine
        second = engine.acting_for(Caller("elsewhere"))
        given = lines({**ANA, "observations": ["b", "a", "a", " a"]}, ACME, WORKS, {**WORKS, "to": "Ana"})
        first.transfer.import_from(given)
        written = lines(*first.transfer.export_anthropic())
        second.transfer.import_from(written)
        assert lines(*second.transfer.export_anthropic()) == written


@pytest.fixture
def other(tmp_path: Path, clock: Clock, embedder: HashEmbedder) -> Iterator[Engine]:
    """An engine on an SQLite file of its own, whose ids are not those of the first one."""
    numbers = count(1)
    context = Context(
        store=Store(SqliteDatabase(tmp_path / "other.db", "NORMAL")).open(),
        embedder=embedder,
        clock=clock,
        new_id=lambda: f"ffffffff-0000-7000-8000-{next(numbers):012x}",
    )
    engine = Engine(context)
    yield engine
    engine.close()


@pytest.fixture
def lived_in(engine: Engine, clock: Clock) -> Engine:
    return live_in(engine, clock)


def live_in(engine: Engine, clock: Clock) -> Engine:
    """Some of everything that an archive must carry."""
    engine.transfer.import_anthropic(lines(ANA, ACME, WORKS), repeats=True)
    clock.advance(days=1)
    engine.graph.create_entities([NewEntity(name="Bo", type="person", description="a cat", status="paused")])
    engine.graph.add_observations("Ana", ["likes coffee"], supersedes="likes tea", kind="taste")
    engine.graph.end_relation(Triple("Ana", "Acme", "works_at"))
    engine.graph.create_relations([NewRelation(source="Ana", target="Acme", type="works_at", strength=0.9)])
    engine.graph.open_nodes(["Ana", "Bo"])
    first = engine.memories.remember(
        NewMemory(
            content="Deploys happen on Tuesdays", type="decision", tags=("ops",), entity_names=("Acme",)
        )
    ).memory
    engine.memories.update(first.id, {"content": "Deploys happen on Mondays", "metadata": {"π": [1, 2.5]}})
    second = engine.memories.remember(NewMemory(content="The printer is haunted", importance=0.9)).memory
    engine.memories.associate(second.id, first.id, "caused_by", 0.7)
    third = engine.memories.remember(NewMemory(content="Nobody needs this")).memory
    engine.memories.forget(third.id, "it was wrong")
    engine.reflections.add(
        target_type="entity", target="Ana", author="me", content="She is kind", mood="calm"
    )
    engine.reflections.add(target_type="global", target=None, author="me", content="A good day", mood=None)
    return engine


class TestFullExport:
    def test_another_database_gets_everything(self, lived_in: Engine, other: Engine) -> None:
        archive = exported(lived_in)
        other.transfer.import_from(archive)
        assert without_header_and_import(exported(other)) == without_header_and_import(archive)
        assert known(other) == known(lived_in)
        assert triples(other) == triples(lived_in)

    def test_every_kind_of_record_is_there(self, lived_in: Engine) -> None:
        kinds = {json.loads(line)["record"] for line in exported(lived_in)}
        assert kinds == {
            "space", "memory", "version", "entity", "observation", "relation", "association", "reflection",
            "access", "co_occurrence", "event",
        }  # fmt: skip

    def test_every_column_is_there_that_means_something_elsewhere(self, lived_in: Engine) -> None:
        records = {(one := json.loads(line))["record"]: one for line in exported(lived_in)}
        for table in TABLES:
            if table.record is not None:
                ids = {column.removesuffix("_seq") for column in table.references}
                assert {*table.portable, *ids} <= records[table.record].keys()

    def test_a_file_of_a_release_without_a_column_can_be_read(self, lived_in: Engine, other: Engine) -> None:
        archive = [json.loads(line) for line in exported(lived_in)]
        later = {"project", "captured_at", "archived_at", "confirmed_at", "quarantined_at", "provenance"}
        older = [{key: value for key, value in one.items() if key not in later} for one in archive]
        other.transfer.import_full([json.dumps(one).encode() for one in older])
        assert known(other) == known(lived_in)

    def test_history_and_forgotten_memories_live_on(self, lived_in: Engine, other: Engine) -> None:
        other.transfer.import_full(exported(lived_in))
        [forgotten] = other.memories.find(Filter(forgotten=True)).memories
        assert (forgotten.content, forgotten.forgotten_reason) == ("Nobody needs this", "it was wrong")
        assert other.history.restore(forgotten.id).forgotten_at is None
        [changed] = other.memories.find(Filter(types=("decision",))).memories
        assert [one.content for one in other.history.versions(changed.id)] == ["Deploys happen on Tuesdays"]

    def test_everything_comes_from_another_database(
        self, engine: Engine, other: Engine, clock: Clock
    ) -> None:
        archive = exported(live_in(other, clock))
        engine.transfer.import_from(archive)
        assert without_header_and_import(exported(engine)) == without_header_and_import(archive)

    def test_a_second_import_adds_nothing(self, lived_in: Engine, other: Engine) -> None:
        archive = exported(lived_in)
        other.transfer.import_full(archive)
        before = exported(other)[1:]
        assert other.transfer.import_full(archive).records == {}
        assert exported(other)[1:] == before

    def test_another_space_of_the_same_database_gets_everything(self, lived_in: Engine) -> None:
        archive = exported(lived_in)
        second = lived_in.acting_for(Caller("second"))
        done = second.transfer.import_from(archive)
        assert done.skipped == 0
        copy = without_header_and_import(exported(second))
        assert with_ids_as_numbers(copy) == with_ids_as_numbers(without_header_and_import(archive))
        assert not ids_in(copy) & ids_in(without_header_and_import(archive))
        assert known(second) == known(lived_in)
        assert triples(second) == triples(lived_in)
        assert without_header_and_import(exported(lived_in)) == without_header_and_import(archive)

    def test_a_second_import_into_another_space_adds_nothing(self, lived_in: Engine) -> None:
        archive = exported(lived_in)
        second = lived_in.acting_for(Caller("second"))
        second.transfer.import_full(archive)
        before = exported(second)[1:]
        assert second.transfer.import_full(archive).records == {}
        assert exported(second)[1:] == before

    def test_what_comes_back_from_another_space_is_known(self, lived_in: Engine) -> None:
        second = lived_in.acting_for(Caller("second"))
        second.transfer.import_full(exported(lived_in))
        back = [line for line in exported(second) if b"archive_imported" not in line]
        assert lived_in.transfer.import_full(back).records == {}

    def test_a_copy_stays_known_when_its_original_is_gone(self, lived_in: Engine) -> None:
        archive = exported(lived_in)
        second = lived_in.acting_for(Caller("second"))
        second.transfer.import_full(archive)
        [forgotten] = lived_in.memories.find(Filter(forgotten=True)).memories
        lived_in.history.purge(forgotten.id)
        assert second.transfer.import_full(archive).records == {}

    def test_in_another_space_things_refer_to_each_other(self, lived_in: Engine) -> None:
        second = lived_in.acting_for(Caller("second"))
        second.transfer.import_full(exported(lived_in))
        [node] = second.graph.open_nodes(["Ana"], superseded=True).nodes
        [old] = [memory for memory in node.observations if memory.superseded_at]
        assert old.superseded_by in {memory.id for memory in node.observations}
        [changed] = second.memories.find(Filter(types=("decision",))).memories
        past = second.history.of(changed.id)
        assert [version.state["id"] for version in past.versions] == [changed.id]
        assert [event.name for event in past.events] == ["memory_created", "memory_updated"]
        assert {event.payload["id"] for event in past.events} == {changed.id}
        [link] = second.memories.associations_of(changed.id)
        assert link.target_id == changed.id

    def test_an_observation_is_kept_to_the_letter_beside_a_memory_that_is_spaced_otherwise(
        self, engine: Engine, other: Engine
    ) -> None:
        engine.memories.remember(NewMemory(content="tea  at four"))
        engine.graph.create_entities([NewEntity(name="Ana", type="person", observations=("tea at four",))])
        archive = exported(engine)
        for _ in range(2):
            other.transfer.import_full(archive)
            assert known(other) == {"Ana": ["tea at four"]}
            assert without_header_and_import(exported(other)) == without_header_and_import(archive)

    def test_an_import_that_broke_off_is_completed_by_the_next(
        self, lived_in: Engine, other: Engine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(transfer, "BATCH", 3)
        archive = exported(lived_in)
        for length in range(3, len(archive), 5):
            other.transfer.import_full(archive[:length])
        other.transfer.import_full(archive)
        assert without_header_and_import(exported(other)) == without_header_and_import(archive)

    def test_what_is_known_under_another_id_is_not_doubled(self, lived_in: Engine, other: Engine) -> None:
        other.graph.create_entities([NewEntity(name="Ana", type="person", observations=("likes coffee",))])
        other.transfer.import_full(exported(lived_in))
        assert known(other)["Ana"] == ["likes coffee", "has 2 cats"]
        node = next(n for n in other.graph.open_nodes(["Ana"], superseded=True).nodes)
        [old] = [memory for memory in node.observations if memory.superseded_at]
        assert old.superseded_by in {memory.id for memory in node.observations}

    def test_what_happened_to_something_known_under_another_id_is_told_of_that(
        self, engine: Engine, other: Engine
    ) -> None:
        told = other.memories.remember(NewMemory(content="Tuesdays are for deploys")).memory
        known = engine.memories.remember(NewMemory(content="Tuesdays are for deploys")).memory
        engine.transfer.import_from(exported(other))
        subjects = {event.subject for event in engine.history.events_after(0)}
        assert known.id in subjects
        assert told.id not in subjects

    def test_the_whole_import_can_be_undone(self, lived_in: Engine, other: Engine) -> None:
        other.graph.create_entities([NewEntity(name="Here before", type="t")])
        other.transfer.import_full(exported(lived_in))
        with other._context.reading() as tx:
            act = next(event.act for event in tx.journal.latest(10) if event.name == "archive_imported")
        with other._context.writing() as tx:
            tx.undo.revert(act)
        assert known(other) == {"Here before": []}

    def test_what_was_imported_is_found_by_words_and_meaning(self, lived_in: Engine, other: Engine) -> None:
        other.transfer.import_full(exported(lived_in))
        answer = other.entities.search("coffee", 1)
        assert (answer.mode, [hit.node.entity.name for hit in answer.hits]) == ("hybrid", ["Ana"])

    def test_a_damaged_line_is_named_and_its_batch_is_not_kept(self, lived_in: Engine, other: Engine) -> None:
        archive = exported(lived_in)
        with pytest.raises(Invalid, match="line 3 is not JSON"):
            other.transfer.import_full([*archive[:2], b"{oops\n", *archive[2:]])
        assert known(other) == {}

    def test_a_record_of_the_wrong_shape_is_refused(self, other: Engine, engine: Engine) -> None:
        header = exported(engine)[:1]
        with pytest.raises(Invalid, match="line 2: the memory has no content"):
            other.transfer.import_full([*header, b'{"record":"memory","id":"x"}\n'])

    def test_a_newer_format_is_refused(self, engine: Engine) -> None:
        header = json.loads(exported(engine)[0]) | {"format": 99}
        with pytest.raises(Invalid, match="update mcp-memory"):
            engine.transfer.import_full(lines(header))

    def test_only_its_own_space_is_exported(self, lived_in: Engine) -> None:
        elsewhere = lived_in.acting_for(Caller("elsewhere"))
        assert without_header_and_import(exported(elsewhere)) == []

    def test_the_topic_is_part_of_the_engine(self, engine: Engine) -> None:
        assert isinstance(engine.transfer, Transfer)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no endless file")
def test_a_file_without_end_is_refused(engine: Engine) -> None:
    with pytest.raises(Invalid, match="device"):
        engine.transfer.import_anthropic("/dev/zero")
