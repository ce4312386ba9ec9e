"""The knowledge graph: what is put in is found again, merged, related, ended and taken away."""

from __future__ import annotations

import pytest

from mcp_memory.engine import Engine, Limits
from mcp_memory.engine.relating import Triple
from mcp_memory.errors import Invalid, NotFound
from mcp_memory.events import EntityCreated
from mcp_memory.inputs import NewEntity, NewMemory, NewRelation
from mcp_memory.model import Caller
from tests.conftest import EngineMaker
from tests.fakes import Clock, HashEmbedder


def observations(engine: Engine, name: str) -> list[str]:
    [node] = engine.graph.open_nodes([name]).nodes
    return node.texts


def names(engine: Engine) -> list[str]:
    return [node.entity.name for node in engine.graph.read(limit=1000).graph.nodes]


@pytest.mark.seed("001 schema")
def test_an_entity_is_kept_with_its_observations_in_order(engine: Engine) -> None:
    [node] = engine.graph.create_entities(
        [NewEntity(name="Site", type="Project", observations=("Stack: Astro", "Deployed on Vercel"))]
    )
    assert (node.entity.name, node.entity.type) == ("Site", "Project")
    assert observations(engine, "Site") == ["Stack: Astro", "Deployed on Vercel"]


def test_an_entity_without_a_type_is_generic(engine: Engine) -> None:
    [node] = engine.graph.create_entities([NewEntity(name="Thing")])
    assert node.entity.type == "Generic"


@pytest.mark.seed("000 §1")
def test_creating_an_entity_again_merges_observations_and_passes_over_equal_ones(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Site", type="Project", observations=("a", "b"))])
    [node] = engine.graph.create_entities(
        [NewEntity(name="Site", type="Project", observations=("b", "c", "c"))]
    )
    assert node.texts == ["a", "b", "c"]
    assert names(engine) == ["Site"]


def test_an_observation_is_added_once_also_if_a_memory_says_the_same(engine: Engine) -> None:
    texts = [f"zebra{number}  alpha{number}" for number in range(8)]
    engine.graph.create_entities([NewEntity(name="E", type="thing", observations=tuple(texts))])
    for text in texts:
        engine.memories.remember(NewMemory(content=text))
    engine.graph.add_observations("E", texts)
    [node] = engine.graph.open_nodes(["E"]).nodes
    assert node.texts == texts


def test_creating_an_entity_again_without_a_type_keeps_its_type_and_status(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Site", type="Project", status="archived")])
    [node] = engine.graph.create_entities([NewEntity(name="Site", observations=("more",))])
    assert (node.entity.type, node.entity.status) == ("Project", "archived")


def test_a_type_that_is_given_becomes_the_type_of_the_entity_of_that_name(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Site", type="Idea", observations=("a",))])
    [node] = engine.graph.create_entities([NewEntity(name="Site", type="Project")])
    assert (node.entity.type, node.texts, names(engine)) == ("Project", ["a"], ["Site"])


@pytest.mark.seed("004 §2.2")
def test_with_same_type_another_type_is_another_entity(engine: Engine) -> None:
    first, second, again = engine.graph.create_entities(
        [
            NewEntity(name="Mercury", type="planet", same_type=True),
            NewEntity(name="Mercury", type="element", same_type=True),
            NewEntity(name="Mercury", type="planet", description="the innermost", same_type=True),
        ]
    )
    assert first.entity.seq == again.entity.seq != second.entity.seq
    assert engine.graph.open_nodes(["Mercury"]).nodes[0].entity.type == "planet"


def test_an_entity_that_was_only_mentioned_is_filled_in_by_a_real_type(engine: Engine) -> None:
    engine.graph.create_relations([NewRelation(source="Ann", target="Acme", type="works_at", make_ends=True)])
    assert engine.graph.open_nodes(["Ann"]).nodes[0].entity.type == "unknown"
    engine.graph.create_entities([NewEntity(name="Ann", type="person", same_type=True)])
    assert names(engine) == ["Ann", "Acme"]
    assert engine.graph.open_nodes(["Ann"]).nodes[0].entity.type == "person"


@pytest.mark.seed("000 §1")
def test_a_batch_with_one_bad_entity_changes_nothing(engine: Engine) -> None:
    with pytest.raises(Invalid, match="name is empty"):
        engine.graph.create_entities([NewEntity(name="Good"), NewEntity(name=" ")])
    assert names(engine) == []


@pytest.mark.parametrize(
    ("wanted", "complaint"),
    [
        ([NewEntity(name=f"e{number}") for number in range(51)], "51 entities in one call, 50 are allowed"),
        ([NewEntity(name="e", observations=tuple(map(str, range(101))))], "101 observations for 'e'"),
        ([NewEntity(name="e", observations=("x" * 2001,))], "2,001 characters, 2,000 are allowed"),
        ([NewEntity(name="e", observations=("nul\0",))], "NUL"),
        ([NewEntity(name="half \ud800")], "surrogate"),
    ],
)
@pytest.mark.seed("000 limits")
def test_beyond_the_limits_nothing_is_written_and_the_error_says_so(
    engine: Engine, wanted: list[NewEntity], complaint: str
) -> None:
    with pytest.raises(Invalid, match=complaint):
        engine.graph.create_entities(wanted)
    assert names(engine) == []


def test_limits_are_settings(make_engine: EngineMaker) -> None:
    engine = make_engine(limits=Limits(entities=1, observation_length=3))
    engine.graph.create_entities([NewEntity(name="e", observations=("abc",))])
    with pytest.raises(Invalid):
        engine.graph.add_observations("e", ["abcd"])


@pytest.mark.seed("000 §2")
def test_relations_need_both_ends_and_good_ones_go_through(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="A"), NewEntity(name="B")])
    bad, good = engine.graph.create_relations(
        [
            NewRelation(source="A", target="Nobody", type="uses"),
            NewRelation(source="A", target="B", type="uses"),
        ]
    )
    assert (bad.missing, bad.relation) == ("Nobody", None)
    assert good.relation is not None
    assert not good.existed


def test_a_relation_that_is_there_is_reported_as_existing(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="A"), NewEntity(name="B")])
    wanted = NewRelation(source="A", target="B", type="uses")
    engine.graph.create_relations([wanted])
    [again] = engine.graph.create_relations([wanted])
    assert again.existed
    assert len(engine.graph.read(limit=10).graph.relations) == 1


def test_a_relation_wanted_again_takes_over_its_new_strength(engine: Engine) -> None:
    first = NewRelation(source="A", target="B", type="uses", make_ends=True, strength=0.2)
    engine.graph.create_relations([first])
    [again] = engine.graph.create_relations([NewRelation(source="A", target="B", type="uses", strength=0.9)])
    assert again.relation is not None
    assert again.relation.strength == 0.9


def test_a_relation_to_itself_is_listed_once(engine: Engine) -> None:
    engine.graph.create_relations([NewRelation(source="A", target="A", type="knows", make_ends=True)])
    assert names(engine) == ["A"]
    assert len(engine.graph.open_nodes(["A"]).relations) == 1


def test_a_strength_outside_0_to_1_is_refused(engine: Engine) -> None:
    with pytest.raises(Invalid, match="between 0 and 1"):
        engine.graph.create_relations(
            [NewRelation(source="A", target="B", type="t", make_ends=True, strength=1.5)]
        )
    assert names(engine) == []


def test_observations_are_added_to_an_entity_that_exists(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Site", observations=("a",))])
    node = engine.graph.add_observations("Site", ["a", "b", "b"])
    assert node.texts == ["a", "b"]


@pytest.mark.seed("000 §3")
def test_observations_of_an_unknown_entity_are_refused(engine: Engine) -> None:
    with pytest.raises(NotFound, match="Entity not found: Nobody"):
        engine.graph.add_observations("Nobody", ["a"])


def test_one_text_about_two_entities_is_one_memory(engine: Engine) -> None:
    first, second = engine.graph.create_entities(
        [NewEntity(name="A", observations=("shared",)), NewEntity(name="B", observations=("shared",))]
    )
    assert first.observations[0].id == second.observations[0].id
    engine.graph.delete_entities(["A"])
    assert observations(engine, "B") == ["shared"]


def test_a_superseded_observation_is_hidden_kept_and_can_be_stated_again(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Api", observations=("port 8080",))])
    engine.graph.add_observations("Api", ["port 9090"], supersedes="port 8080")
    assert observations(engine, "Api") == ["port 9090"]
    [node] = engine.graph.open_nodes(["Api"], superseded=True).nodes
    old, new = node.observations
    assert (old.content, old.superseded_by) == ("port 8080", new.id)
    engine.graph.add_observations("Api", ["port 8080"])
    assert observations(engine, "Api") == ["port 8080", "port 9090"]


def test_superseding_something_the_entity_does_not_say_changes_nothing(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Api", observations=("port 8080",))])
    with pytest.raises(NotFound, match="no current observation"):
        engine.graph.add_observations("Api", ["port 9090"], supersedes="port 1")
    assert observations(engine, "Api") == ["port 8080"]


def test_a_superseded_observation_can_be_deleted_with_its_entity(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Api", observations=("old",))])
    engine.graph.add_observations("Api", ["new"], supersedes="old")
    engine.graph.delete_observations("Api", ["new"])
    assert engine.graph.delete_entities(["Api"]).deleted == ("Api",)


def test_observations_have_kinds_that_can_be_asked_for(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Api", observations=("plain",))])
    engine.graph.add_observations("Api", ["use SQLite"], kind="decision")
    [node] = engine.graph.open_nodes(["Api"], kinds=["decision"]).nodes
    assert node.texts == ["use SQLite"]


@pytest.mark.seed("000 §4")
def test_deleting_entities_takes_their_observations_and_relations_and_reports_the_unknown(
    engine: Engine,
) -> None:
    engine.graph.create_entities([NewEntity(name="A", observations=("a",)), NewEntity(name="B")])
    engine.graph.create_relations([NewRelation(source="A", target="B", type="uses")])
    gone = engine.graph.delete_entities(["A", "Nobody"])
    assert (gone.deleted, gone.missing) == (("A",), ("Nobody",))
    page = engine.graph.read(limit=10)
    assert [node.entity.name for node in page.graph.nodes] == ["B"]
    assert page.graph.relations == ()
    assert engine.graph.search_nodes("a", limit=10).graph.nodes == ()


@pytest.mark.seed("000 §5")
def test_observations_are_deleted_by_their_exact_text(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="A", observations=("one", "one more"))])
    node = engine.graph.delete_observations("A", ["one", "never said"])
    assert node.texts == ["one more"]


@pytest.mark.seed("000 embeddings")
def test_an_observation_that_was_deleted_is_found_nowhere(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="A", observations=("zebra crossing",))])
    assert [hit.node.entity.name for hit in engine.entities.search("zebra", 5).hits] == ["A"]
    engine.graph.delete_observations("A", ["zebra crossing"])
    assert engine.graph.search_nodes("zebra", limit=5).graph.nodes == ()
    with_words = [hit for hit in engine.entities.search("zebra", 5).hits if hit.rrf_score is not None]
    assert with_words == []


@pytest.mark.seed("000 §6")
def test_relations_are_deleted_by_their_whole_triple(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="A"), NewEntity(name="B")])
    engine.graph.create_relations([NewRelation(source="A", target="B", type="uses")])
    gone = engine.graph.delete_relations(
        [Triple("A", "B", "eats"), Triple("A", "X", "uses"), Triple("A", "B", "uses")]
    )
    assert gone.deleted == (Triple("A", "B", "uses"),)
    assert gone.missing == ("Relation not found: A -> B (eats)", "Entity not found: A or X")


@pytest.mark.seed("000 §17")
def test_an_ended_relation_stays_as_history_and_can_begin_again(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="A"), NewEntity(name="B")])
    wanted = NewRelation(source="A", target="B", type="works_at")
    [made] = engine.graph.create_relations([wanted])
    assert made.relation is not None
    assert not engine.graph.end_relation(made.relation.seq).already
    assert engine.graph.end_relation(made.relation.seq).already
    assert engine.graph.open_nodes(["A"]).relations == ()
    [again] = engine.graph.create_relations([wanted])
    assert not again.existed
    assert len(engine.graph.open_nodes(["A"], superseded=True).relations) == 2


def test_a_relation_can_be_ended_by_its_ends(engine: Engine) -> None:
    engine.graph.create_relations([NewRelation(source="A", target="B", type="works_at", make_ends=True)])
    assert engine.graph.end_relation(Triple("A", "B", "works_at")).relation.ended_at is not None
    with pytest.raises(NotFound, match="Relation not found"):
        engine.graph.end_relation(Triple("A", "B", "works_at"))


def test_ending_an_unknown_relation_is_refused(engine: Engine) -> None:
    with pytest.raises(NotFound, match="number 42"):
        engine.graph.end_relation(42)


@pytest.mark.seed("000 §17")
def test_inverse_relations_begin_end_and_go_together(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Whole"), NewEntity(name="Part")])
    wanted = NewRelation(source="Whole", target="Part", type="contiene", with_inverse=True)

    def active() -> set[tuple[str, str, str]]:
        return {(r.source, r.target, r.type) for r in engine.graph.open_nodes(["Whole"]).relations}

    both = {("Whole", "Part", "contiene"), ("Part", "Whole", "parte_de")}
    [made] = engine.graph.create_relations([wanted])
    assert active() == both
    assert made.relation is not None
    ended = engine.graph.end_relation(made.relation.seq)
    assert ended.inverse is not None
    assert active() == set()
    engine.graph.create_relations([wanted])
    assert active() == both
    engine.graph.delete_relations([Triple("Part", "Whole", "parte_de")])
    assert active() == set()


def test_opening_keeps_the_order_asked_for_each_name_once_and_passes_over_the_unknown(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="A"), NewEntity(name="B")])
    opened = engine.graph.open_nodes(["B", "Nobody", "A", "B"])
    assert [node.entity.name for node in opened.nodes] == ["B", "A"]


@pytest.mark.seed("000 §8")
def test_opening_is_exact(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Straße"), NewEntity(name="100%_sure")])
    assert engine.graph.open_nodes(["straße", "100%", "%", "_"]).nodes == ()
    assert len(engine.graph.open_nodes(["100%_sure"]).nodes) == 1


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("ASTRO", ["Site", "Blog"]),
        ("proj", ["Site"]),
        ("100%", ["Odd"]),
        ("%", ["Odd"]),
        ("_", ["Odd"]),
        ("\\", ["Odd"]),
        ("' OR 1=1 --", []),
        ('"quoted"', ["Odd"]),
        ("ÉCLAIR", ["Odd"]),
        ("éclair", ["Odd"]),
        ("東京", ["Odd"]),
        ("   ", []),
        ("", []),
    ],
)
@pytest.mark.seed("000 §7")
def test_searching_for_a_piece_of_text_takes_everything_as_text(
    engine: Engine, query: str, found: list[str]
) -> None:
    engine.graph.create_entities(
        [
            NewEntity(name="Site", type="Project", observations=("Stack: Astro 6", "astro again")),
            NewEntity(name="Blog", type="Page", observations=("built with astro",)),
            NewEntity(name="Odd", observations=('100% a_b \\ "quoted" Éclair 東京都',)),
        ]
    )
    page = engine.graph.search_nodes(query, limit=10)
    assert [node.entity.name for node in page.graph.nodes] == found
    assert page.total == len(found)


def test_searching_does_not_see_superseded_observations(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Api", observations=("listens on 8080",))])
    engine.graph.add_observations("Api", ["listens on 9090"], supersedes="listens on 8080")
    assert engine.graph.search_nodes("8080", limit=10).graph.nodes == ()


def test_a_query_that_is_too_long_is_refused(engine: Engine) -> None:
    with pytest.raises(Invalid, match="501 characters, 500 are allowed"):
        engine.graph.search_nodes("x" * 501, limit=10)


def test_the_graph_is_read_in_pages_that_hold_everything_once(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name=f"e{number}") for number in range(7)])
    engine.graph.create_relations(
        [NewRelation(source=f"e{number}", target=f"e{(number * 3) % 7}", type="next") for number in range(7)]
    )
    seen, relations, cursor = [], [], 0
    while True:
        page = engine.graph.read(limit=3, after=cursor)
        seen += [node.entity.name for node in page.graph.nodes]
        relations += [relation.seq for relation in page.graph.relations]
        if page.cursor is None:
            break
        cursor = page.cursor
    assert seen == [f"e{number}" for number in range(7)]
    assert sorted(relations) == sorted(set(relations))
    assert len(relations) == 7


def test_spaces_do_not_see_each_other(engine: Engine) -> None:
    other = engine.acting_for(Caller(space="other"))
    engine.graph.create_entities([NewEntity(name="Secret", observations=("of default",))])
    assert names(other) == []
    assert other.graph.search_nodes("secret", limit=5).graph.nodes == ()
    assert other.entities.search("secret", 5).hits == ()
    [node] = other.graph.create_entities([NewEntity(name="Secret", observations=("of other",))])
    assert node.texts == ["of other"]
    other.graph.delete_entities(["Secret"])
    assert observations(engine, "Secret") == ["of default"]


def test_observations_do_not_fade(engine: Engine, clock: Clock) -> None:
    engine.graph.create_entities([NewEntity(name="A", observations=("kept",))])
    clock.advance(days=3650)
    [node] = engine.graph.open_nodes(["A"]).nodes
    assert node.observations[0].pinned_at is not None
    assert node.texts == ["kept"]


@pytest.mark.seed("000 embeddings")
def test_a_write_embeds_nothing_neither_what_is_new_nor_what_was_there(
    engine: Engine, embedder: HashEmbedder
) -> None:
    engine.graph.create_entities([NewEntity(name="A", observations=("one", "two"))])
    engine.graph.add_observations("A", ["three"])
    assert embedder.call_count == 0


@pytest.mark.seed("001 concurrency")
def test_reads_do_not_wait_for_a_write_that_is_under_way(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="A")])
    with engine._context.writing() as tx:
        tx.entities.add(id=engine._context.new_id(), name="B", type="T")
        tx.journal.record(EntityCreated("B", "B", "x"))
        assert names(engine) == ["A"]
    assert names(engine) == ["A", "B"]


def test_a_hub_is_opened_with_some_of_its_relations_and_their_number(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_memory.engine.graph.MOST_RELATIONS", 3)
    names = ["Hub", *(f"Spoke {number}" for number in range(5))]
    engine.graph.create_entities([NewEntity(name=name, type="place") for name in names])
    engine.graph.create_relations(
        [NewRelation(source="Hub", target=name, type="leads to") for name in names[1:]]
    )
    opened = engine.graph.open_nodes(["Hub"])
    assert [relation.target for relation in opened.relations] == names[1:4]
    assert opened.relation_count == 5
    assert engine.graph.open_nodes(["Hub"], relations=False).relations == ()
