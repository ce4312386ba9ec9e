"""Recall: memories found by words, by meaning, by both and through the graph."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest

from mcp_memory.embedding import Embedder, NoModel
from mcp_memory.engine import Engine, Limits, Tuning
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.recall import Answer
from mcp_memory.errors import Invalid, NotFound
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import Caller, Filter, Memory, SearchMode
from mcp_memory.tuning import Fading
from tests.conftest import EngineMaker
from tests.fakes import Clock

NO_MODEL = NoModel("no model here")
MODES: tuple[SearchMode, ...] = ("keyword", "semantic", "hybrid")


def remember(engine: Engine, content: str, **more: object) -> Memory:
    return engine.memories.remember(NewMemory(content=content, **more)).memory  # type: ignore[arg-type]


def contents(answer: Answer) -> list[str]:
    return [hit.memory.content for hit in answer.hits]


@pytest.mark.seed("004 §5.1")
def test_keyword_search(engine: Engine) -> None:
    remember(engine, "Notes about machine learning models")
    remember(engine, "Notes about web development")
    answer = engine.recall.recall("machine learning", mode="keyword")
    assert contents(answer) == ["Notes about machine learning models"]
    assert answer.mode == "keyword"


@pytest.mark.seed("004 §5.1")
def test_semantic_search(make_engine: EngineMaker, minilm: Embedder) -> None:
    engine = make_engine(model=minilm)
    remember(engine, "canine behavior training tips")
    remember(engine, "quarterly tax declaration deadlines")
    answer = engine.recall.recall("how to train dogs", mode="semantic")
    assert contents(answer) == ["canine behavior training tips"]
    assert answer.mode == "semantic"


@pytest.mark.seed("004 §5.1")
def test_hybrid_search_combines_results(make_engine: EngineMaker, minilm: Embedder) -> None:
    engine = make_engine(model=minilm)
    for text in (
        "canine behavior training tips",
        "the train to Lisbon leaves at seven",
        "dogs need a walk twice a day",
        "sourdough needs flour, water and salt",
        "the quarterly report is late",
        "Maria plays the cello",
        "passwords are rotated every ninety days",
        "the invoice was paid in May",
        "Jupiter has many moons",
        "the kitchen tap drips",
    ):
        remember(engine, text)
    answer = engine.recall.recall("how to train dogs", explain=True)
    found = {hit.memory.content: hit.explanation or {} for hit in answer.hits}
    assert found["canine behavior training tips"]["keyword"] is not None
    assert found["the train to Lisbon leaves at seven"]["keyword"] is not None
    assert set(contents(answer)[:2]) == {"canine behavior training tips", "dogs need a walk twice a day"}
    assert "Jupiter has many moons" not in found


@pytest.mark.seed("004 §5.4")
def test_the_hybrid_score_is_the_weighted_sum_times_effective_confidence(
    engine: Engine, clock: Clock
) -> None:
    remember(engine, "alpha beta gamma", confidence=0.8)
    clock.advance(days=15)
    [hit] = engine.recall.recall("alpha beta", explain=True).hits
    cosine = 2 / math.sqrt(6)
    assert hit.explanation is not None
    assert math.isclose(hit.explanation["keyword"], 1.0)
    assert math.isclose(hit.explanation["cosine"], cosine, abs_tol=1e-5)
    expected = (0.4 * 1.0 + 0.6 * cosine) * 0.8 * 0.5**0.5
    assert math.isclose(hit.score, expected, abs_tol=1e-5)


@pytest.mark.seed("004 §5.4")
def test_what_is_found_by_words_alone_gets_the_share_of_words(make_engine: EngineMaker) -> None:
    engine = make_engine(tuning=Tuning(keyword_weight=1.0))
    remember(engine, "alpha beta")
    [hit] = engine.recall.recall("alpha").hits
    assert math.isclose(hit.score, 1.0)


def test_words_count_more_for_a_request_for_an_overview(make_engine: EngineMaker) -> None:
    engine = make_engine()
    remember(engine, "alpha beta")

    def weight(query: str) -> float:
        [hit] = engine.recall.recall(query, explain=True).hits
        signals = hit.explanation or {}
        words, meaning = signals["keyword"], signals["semantic"] or 0.0
        return float((signals["match"] - meaning) / (words - meaning))

    assert math.isclose(weight("tell me of alpha"), 0.4)
    assert math.isclose(weight("a summary of alpha"), 0.55)


def test_a_memory_stored_next_to_a_match_is_raised_among_equals(engine: Engine, clock: Clock) -> None:
    remember(engine, "shared words here, far away")
    clock.advance(days=1)
    remember(engine, "what is the name of the quokka")
    remember(engine, "shared words here, right beside")
    answer = engine.recall.recall("name of the quokka, shared words", mode="keyword")
    assert contents(answer)[0] == "what is the name of the quokka"
    assert contents(answer)[1] == "shared words here, right beside"


def test_filter_by_memory_type(engine: Engine) -> None:
    for type in ("observation", "decision", "pattern"):
        remember(engine, f"a thing of kind {type}", type=type)
    for mode in MODES:
        answer = engine.recall.recall("a thing of kind", mode=mode, filter=Filter(types=("decision",)))
        assert contents(answer) == ["a thing of kind decision"]


def test_filter_by_tags(engine: Engine) -> None:
    remember(engine, "note one about code", tags=("typescript", "frontend"))
    remember(engine, "note two about code", tags=("typescript",))
    remember(engine, "note three about code", tags=("frontend", "typescript", "more"))
    for mode in MODES:
        answer = engine.recall.recall(
            "note about code", mode=mode, filter=Filter(tags=("typescript", "frontend"))
        )
        assert set(contents(answer)) == {"note one about code", "note three about code"}


def test_filter_by_confidence(engine: Engine, clock: Clock) -> None:
    remember(engine, "old note about code")
    clock.advance(days=31)
    remember(engine, "new note about code")
    for mode in MODES:
        answer = engine.recall.recall("note about code", mode=mode, filter=Filter(min_confidence=0.5))
        assert contents(answer) == ["new note about code"]


@pytest.mark.seed("004 §5.6")
def test_filter_by_dates_source_and_channel(engine: Engine, clock: Clock) -> None:
    remember(engine, "first note", source="chat", channel="a")
    middle = clock.advance(days=1)
    remember(engine, "second note", source="mail", channel="b")
    clock.advance(days=1)
    remember(engine, "third note", source="mail", channel="a")

    def found(filter: Filter) -> set[str]:
        return {text.split()[0] for text in contents(engine.recall.recall("note", filter=filter))}

    assert found(Filter(after=middle)) == {"third"}
    assert found(Filter(before=middle)) == {"first"}
    assert found(Filter(after=middle - timedelta(hours=1), before=middle + timedelta(hours=1))) == {"second"}
    assert found(Filter(source="mail")) == {"second", "third"}
    assert found(Filter(channel="a", source="mail")) == {"third"}
    naive = datetime(2026, 1, 2, 18)
    assert found(Filter(after=naive)) == found(Filter(after=naive.replace(tzinfo=UTC))) == {"third"}


def test_filter_by_entity(engine: Engine) -> None:
    remember(engine, "likes green tea", entity_names=("Alice",))
    remember(engine, "likes black tea", entity_names=("Bob",))
    for mode in MODES:
        assert contents(engine.recall.recall("likes tea", mode=mode, entity_name="Bob")) == [
            "likes black tea"
        ]
    with pytest.raises(NotFound, match="Carol"):
        engine.recall.recall("likes tea", entity_name="Carol")


@pytest.mark.seed("004 §5.6")
def test_a_filter_acts_before_the_limit(engine: Engine) -> None:
    for number in range(150):
        remember(engine, f"tea tea tea {number}")
    remember(engine, "one cup of tea among many other things to drink", tags=("rare",))
    for mode in MODES:
        answer = engine.recall.recall("one cup of tea", mode=mode, filter=Filter(tags=("rare",)), limit=1)
        assert contents(answer) == ["one cup of tea among many other things to drink"]


def test_pagination(engine: Engine) -> None:
    for number in range(50):
        remember(engine, f"topic {'word ' * (number % 7)} n{number}")
    whole = engine.recall.recall("topic word", mode="keyword", limit=50)
    assert whole.total == 50
    page = engine.recall.recall("topic word", mode="keyword", limit=10, offset=20)
    assert contents(page) == contents(whole)[20:30]


@pytest.mark.parametrize("mode", MODES)
def test_pages_neither_overlap_nor_leave_out_anything(make_engine: EngineMaker, mode: SearchMode) -> None:
    engine = make_engine(tuning=Tuning(min_similarity=0.0))
    for number in range(60):
        remember(engine, f"topic {'word ' * (number % 9)} n{number}", confidence=0.3 + number % 5 / 10)
    pages = [
        contents(engine.recall.recall("topic word", mode=mode, limit=7, offset=n)) for n in range(0, 63, 7)
    ]
    seen = [text for page in pages for text in page]
    assert len(seen) == len(set(seen)) == 60


@pytest.mark.seed("004 §10.3")
def test_confidence_decay_over_time(engine: Engine, clock: Clock) -> None:
    remember(engine, "a fading fact")
    clock.advance(days=30)
    [hit] = engine.recall.recall("fading", mode="keyword").hits
    assert math.isclose(hit.effective_confidence, 0.5, abs_tol=1e-6)
    assert math.isclose(hit.score, 0.5, abs_tol=1e-6)


@pytest.mark.seed("004 §10.3")
def test_confidence_decay_at_60_days(engine: Engine, clock: Clock) -> None:
    remember(engine, "a fading fact")
    clock.advance(days=60)
    [hit] = engine.recall.recall("fading", mode="keyword").hits
    assert math.isclose(hit.effective_confidence, 0.25, abs_tol=1e-6)


@pytest.mark.parametrize("mode", [*MODES, "graph"])
def test_gentle_fading_takes_a_tenth_at_most_and_hides_nothing(
    engine: Engine, clock: Clock, mode: SearchMode
) -> None:
    remember(engine, "a fading fact about Bob", entity_names=("Bob",))
    fresh = engine.recall.recall("a fading fact about Bob", mode=mode, fading="gentle").hits[0].score
    clock.advance(days=1000)
    [hit] = engine.recall.recall(
        "a fading fact about Bob", mode=mode, fading="gentle", strict_floor=0.1, explain=True
    ).hits
    assert hit.effective_confidence < 1e-6
    assert math.isclose(hit.score, 0.9 * fresh, abs_tol=1e-6)
    assert hit.explanation is not None
    assert math.isclose(hit.explanation["fading"], 0.9, abs_tol=1e-6)


def test_strict_fading_hides_what_is_below_its_floor(engine: Engine, clock: Clock) -> None:
    remember(engine, "a fading fact")
    clock.advance(days=120)
    assert engine.recall.recall("fading", fading="strict", strict_floor=0.1).hits == ()
    assert len(engine.recall.recall("fading", fading="strict").hits) == 1
    clock.advance(days=120)
    floor = Filter(min_confidence=0.001)
    assert len(engine.recall.recall("fading", filter=floor, fading="strict", strict_floor=0.1).hits) == 1
    clock.advance(days=120)
    assert engine.recall.recall("fading", filter=Filter(min_confidence=0.5), fading="gentle").hits == ()


@pytest.mark.parametrize(("fading", "score"), [("strict", 0.5), ("gentle", 0.95)])
def test_the_setting_decides_how_memories_fade(
    make_engine: EngineMaker, clock: Clock, fading: Fading, score: float
) -> None:
    engine = make_engine(tuning=Tuning(fading=fading))
    remember(engine, "a fact")
    clock.advance(days=30)
    [hit] = engine.recall.recall("fact", mode="keyword").hits
    assert math.isclose(hit.score, score, abs_tol=1e-6)


def test_what_was_stored_years_ago_is_recalled_by_an_agent(engine: Engine, clock: Clock) -> None:
    remember(engine, "the wedding was in Lisbon")
    clock.advance(days=700)
    remember(engine, "the office is in Porto")
    assert contents(engine.recall.recall_for_agent("where was the wedding"))[0] == "the wedding was in Lisbon"


@pytest.mark.seed("004 §4.3")
def test_access_reinforcement(engine: Engine, clock: Clock) -> None:
    stored = remember(engine, "a fading fact", confidence=0.5)
    clock.advance(days=15)
    engine.recall.recall("fading", mode="keyword")
    memory = engine.memories.get(stored.id, record=False)
    assert (memory.accessed_at, memory.access_count) == (clock.now, 1)
    assert math.isclose(memory.confidence, 0.6)


@pytest.mark.seed("004 §4.3")
def test_confidence_cap_at_1(engine: Engine) -> None:
    stored = remember(engine, "a sure fact", confidence=0.95)
    engine.recall.recall("sure", mode="keyword")
    assert engine.memories.get(stored.id, record=False).confidence == 1.0


def test_only_what_is_returned_is_reinforced(engine: Engine) -> None:
    for number in range(3):
        remember(engine, f"tea number {number} {'tea ' * number}")
    shown = engine.recall.recall("tea", limit=1).hits[0].memory
    counts = {m.id: m.access_count for m in engine.memories.find(Filter()).memories}
    assert counts.pop(shown.id) == 1
    assert set(counts.values()) == {0}


def test_a_result_shows_the_memory_as_it_was_before_it_was_found(engine: Engine) -> None:
    remember(engine, "a fact", confidence=0.5)
    [hit] = engine.recall.recall("fact", mode="keyword").hits
    assert (hit.memory.access_count, hit.memory.confidence, hit.memory.accessed_at) == (0, 0.5, None)


@pytest.mark.parametrize("mode", MODES)
def test_forgotten_memories_appear_nowhere(engine: Engine, mode: SearchMode) -> None:
    memory = remember(engine, "a secret about Bob", entity_names=("Bob",))
    engine.memories.forget(memory.id, "asked to")
    assert engine.recall.recall("secret about Bob", mode=mode).hits == ()
    assert engine.recall.recall("Bob", mode="graph").hits == ()
    assert engine.memories.find(Filter()).total == 0
    with pytest.raises(NotFound):
        engine.memories.get(memory.id)


def test_a_space_does_not_see_another(engine: Engine) -> None:
    remember(engine.acting_for(Caller("other")), "a secret of others")
    for mode in MODES:
        assert engine.recall.recall("secret of others", mode=mode).hits == ()


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_without_a_model_words_are_used_and_the_answer_says_so(
    make_engine: EngineMaker, mode: SearchMode
) -> None:
    engine = make_engine(model=NO_MODEL)
    remember(engine, "notes about tea")
    answer = engine.recall.recall("tea", mode=mode)
    assert contents(answer) == ["notes about tea"]
    assert answer.mode == "keyword only: no model here"
    assert engine.recall.recall("tea", mode="keyword").mode == "keyword"


@pytest.mark.parametrize(
    "query",
    [
        "'; DROP TABLE memory; --",
        '"unbalanced',
        "a AND (b OR",
        "NEAR(x y)",
        "col:value*",
        "%_\\",
        "^tea",
        "🦆",
    ],
)
@pytest.mark.parametrize("mode", [*MODES, "graph"])
def test_a_query_is_data_and_never_syntax(engine: Engine, query: str, mode: SearchMode) -> None:
    remember(engine, "notes about tea", entity_names=("Tea",))
    engine.recall.recall(query, mode=mode)
    assert engine.memories.find(Filter()).total == 1


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("", id="nothing"),
        pytest.param("  \n", id="white space"),
        pytest.param("a\0b", id="NUL"),
        pytest.param("\ud800", id="half a surrogate pair"),
        pytest.param("x" * 20_001, id="too long"),
    ],
)
def test_a_query_that_says_nothing_or_too_much_is_refused(engine: Engine, query: str) -> None:
    with pytest.raises(Invalid):
        engine.recall.recall(query)


@pytest.mark.parametrize(
    "wrong",
    [
        {"limit": 0},
        {"limit": 101},
        {"offset": -1},
        {"hops": 0, "mode": "graph"},
        {"hops": 9, "mode": "graph"},
    ],
    ids=str,
)
def test_numbers_out_of_range_are_refused(engine: Engine, wrong: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        engine.recall.recall("tea", **wrong)  # type: ignore[arg-type]


def test_a_confidence_to_filter_by_must_lie_between_0_and_1(engine: Engine) -> None:
    with pytest.raises(Invalid):
        engine.recall.recall("tea", filter=Filter(min_confidence=1.5))


def test_a_superseded_memory_counts_less_than_the_one_that_replaced_it(engine: Engine) -> None:
    engine.graph.create_entities(
        [NewEntity(name="Site", type="project", observations=("runs on port 8080",))]
    )
    engine.graph.add_observations("Site", ["runs on port 9090"], supersedes="runs on port 8080")
    answer = engine.recall.recall("runs on port")
    assert contents(answer) == ["runs on port 9090", "runs on port 8080"]
    assert answer.hits[1].score < answer.hits[0].score


@pytest.fixture
def team(engine: Engine) -> Engine:
    """Alice manages Bob (0.9), knows Carol (0.4 × 0.5); Bob mentors Dan (0.8)."""
    engine.graph.create_relations(
        [
            NewRelation(source="Alice", target="Bob", type="manages", strength=0.9, make_ends=True),
            NewRelation(
                source="Carol", target="Alice", type="knows", strength=0.4, confidence=0.5, make_ends=True
            ),
            NewRelation(source="Bob", target="Dan", type="mentors", strength=0.8, make_ends=True),
        ]
    )
    for name in ("Alice", "Bob", "Carol", "Dan"):
        remember(engine, f"{name} likes {name[::-1]}", entity_names=(name,))
    return engine


@pytest.mark.seed("004 §5.5")
def test_graph_search_collects_the_memories_of_neighbours_by_strength_times_confidence(team: Engine) -> None:
    answer = team.recall.recall("What about Alice?", mode="graph")
    assert contents(answer) == ["Alice likes ecilA", "Bob likes boB", "Carol likes loraC"]
    assert [hit.score for hit in answer.hits] == [1.0, 0.9, 0.2]
    assert answer.mode == "graph, from Alice"


@pytest.mark.seed("004 §5.5")
def test_graph_search_goes_as_many_hops_as_asked(team: Engine) -> None:
    answer = team.recall.recall("Alice", mode="graph", hops=2, explain=True)
    dan = next(hit for hit in answer.hits if hit.memory.content.startswith("Dan"))
    assert math.isclose(dan.score, round(0.9 * 0.8 * 0.7, 2))
    assert dan.explanation is not None
    assert dan.explanation["graph"]["through"] == "Dan"


def test_graph_search_starts_at_the_entity_that_is_given(team: Engine) -> None:
    answer = team.recall.recall("likes", mode="graph", entity_name="Dan")
    assert contents(answer) == ["Dan likes naD", "Bob likes boB"]
    with pytest.raises(NotFound, match="Zoe"):
        team.recall.recall("likes", mode="graph", entity_name="Zoe")


def test_graph_search_keeps_to_its_filter_and_to_active_relations(team: Engine) -> None:
    remember(team, "Bob decided on tea", type="decision", entity_names=("Bob",))
    answer = team.recall.recall("Alice", mode="graph", filter=Filter(types=("decision",)))
    assert contents(answer) == ["Bob decided on tea"]
    [relation] = [r for r in team.graph.open_nodes(["Alice"]).relations if r.type == "manages"]
    team.graph.end_relation(relation.seq)
    assert team.recall.recall("Alice", mode="graph", filter=Filter(types=("decision",))).hits == ()


def test_in_graph_search_the_query_decides_between_equals(engine: Engine) -> None:
    for text in ("Rex eats kibble", "Rex sleeps on the sofa", "Rex was born in June"):
        remember(engine, text, entity_names=("Rex",))
    answer = engine.recall.recall("When was Rex born?", mode="graph")
    assert contents(answer)[0] == "Rex was born in June"


def test_graph_search_without_any_entity_finds_nothing_and_says_so(engine: Engine) -> None:
    remember(engine, "a lonely note")
    answer = engine.recall.recall("zzz", mode="graph")
    assert (answer.hits, answer.mode) == ((), "graph, from no entity")


@pytest.mark.seed("DESIGN §1")
def test_equal_memories_around_an_entity_come_in_the_order_in_which_they_were_stored(engine: Engine) -> None:
    texts = ("likes coffee in the morning", "plays chess", "likes tea in the morning")
    engine.graph.create_entity(NewEntity(name="Ana", type="person", observations=texts))
    answer = engine.recall.recall("plays chess", mode="graph")
    assert [hit.memory.content for hit in answer.hits] == [texts[1], texts[0], texts[2]]


def test_what_is_written_as_an_observation_is_recalled_as_a_memory(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Rex", type="dog", observations=("sleeps on the sofa",))])
    for mode in (*MODES, "graph"):
        [hit] = engine.recall.recall("Rex sleeps on the sofa", mode=mode).hits
        assert hit.memory.content == "sleeps on the sofa"
        assert hit.entities == ("Rex",)


def test_a_longer_query_limit_can_be_set(make_engine: EngineMaker) -> None:
    engine = make_engine(limits=Limits(query_length=2000))
    remember(engine, "tea")
    assert engine.recall.recall("tea " * 400, mode="keyword").total == 1


def test_a_filter_of_many_tags_is_answered_at_once(engine: Engine) -> None:
    tags = tuple(f"tag{number}" for number in range(40))
    engine.memories.remember(NewMemory(content="carries every tag", tags=tags))
    engine.memories.remember(NewMemory(content="carries all but one", tags=tags[1:]))
    answer = engine.recall.recall("carries", mode="keyword", filter=Filter(tags=tags))
    assert [hit.memory.content for hit in answer.hits] == ["carries every tag"]


def test_words_in_the_order_of_the_query_rank_above_the_same_words_scattered(engine: Engine) -> None:
    remember(engine, "pie for a bowl of red and an apple")
    remember(engine, "a red apple pie is in the bowl for you")
    assert contents(engine.recall.recall("red apple pie", mode="keyword"))[0].startswith("a red apple pie")


def test_a_phrase_in_quotes_is_found_to_the_letter(engine: Engine) -> None:
    remember(engine, "end to end tests end late, and the tests begin to end")
    remember(engine, "the tests run at the far end of the pipeline")
    best = engine.recall.recall('"far end" tests', explain=True).hits[0]
    assert best.memory.content == "the tests run at the far end of the pipeline"
    assert best.explanation is not None
    assert best.explanation["phrase"] > 0


def test_words_in_the_order_of_the_query_outweigh_what_the_model_finds_closer(
    make_engine: EngineMaker, minilm: Embedder
) -> None:
    engine = make_engine(model=minilm)
    for content in (
        "The red apple pie recipe came from Berta.",
        "A red car stood by the apple tree; there was pie for lunch.",
        "Red wine and an apple, no pie.",
    ):
        remember(engine, content)
    best, *_ = engine.recall.recall("red apple pie", explain=True).hits
    assert best.memory.content == "The red apple pie recipe came from Berta."
    assert (best.explanation or {})["phrase"] > 0


def test_of_equal_matches_a_standing_instruction_comes_first(engine: Engine, clock: Clock) -> None:
    texts = ("Ana gives prices for trains", "Always give prices for trains")
    for content in texts:
        engine.memories.remember(NewMemory(content=content))
        clock.now += timedelta(hours=2)
    answer = engine.recall.recall("prices for trains", explain=True, fading="gentle")
    assert [hit.memory.content for hit in answer.hits] == [texts[1], texts[0]]
    assert [(hit.explanation or {})["is_instruction"] for hit in answer.hits] == [True, False]
