"""Finding entities: what counts, in which order, and what the answer says about it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from mcp_memory.embedding import ModelCard, NoModel
from mcp_memory.engine import Engine
from mcp_memory.engine.entity_search import EntityAnswer, identifiers
from mcp_memory.errors import Invalid, Unavailable
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import Caller, Node
from mcp_memory.ranking.routing import Strategy
from mcp_memory.storage import Store
from mcp_memory.text.words import query_terms
from tests.conftest import EngineMaker
from tests.fakes import Clock, HashEmbedder


class BlindToNumbers(HashEmbedder):
    """Like real models: texts that differ in a number only are the same to it."""

    def _row(self, text: str) -> NDArray[np.float32]:
        return super()._row(re.sub(r"\d+", "", text))


class CloseCosines(HashEmbedder):
    """Like a model to which all texts look alike: what has nothing in common is at 0.75.

    It knows that a loaf is bread.
    """

    unrelated = 0.75

    def __init__(self) -> None:
        super().__init__(dimensions=4096, name="close-cosines")
        self.card = ModelCard(
            name="close-cosines",
            dimensions=self.card.dimensions + 1,
            fingerprint="close-cosines",
            unrelated_cosine=self.unrelated,
            same_cosine=0.97,
        )
        self._words = HashEmbedder(dimensions=4096)  # so many that no two words fall together

    def _row(self, text: str) -> NDArray[np.float32]:
        own = self._words._row(text.replace("loaf", "bread")) * np.sqrt(1 - self.unrelated)
        return np.append(np.float32(np.sqrt(self.unrelated)), own).astype(np.float32)


def remember(engine: Engine, *entities: NewEntity) -> None:
    """With their vectors, which are otherwise made in the background."""
    for start in range(0, len(entities), 50):
        engine.graph.create_entities(entities[start : start + 50])
    engine.indexing.catch_up("entity", 1000)


def thing(name: str, *observations: str, type: str = "Thing", status: str | None = None) -> NewEntity:
    return NewEntity(name=name, type=type, observations=observations, status=status)


def names(answer: EntityAnswer[Node]) -> list[str]:
    return [hit.node.entity.name for hit in answer.hits]


def use(engine: Engine, clock: Clock, *used: str, days: int = 5) -> None:
    """Open entities on several days."""
    for _ in range(days):
        clock.advance(days=1)
        for name in used:
            engine.graph.open_nodes([name])


@pytest.mark.seed("000 §9")
def test_entities_are_found_by_meaning_and_words_together(engine: Engine) -> None:
    remember(
        engine,
        thing("CachorroSpace", "Documentation site for open source", "Built with Astro"),
        thing("Payroll", "Pays salaries every month"),
    )
    answer = engine.entities.search("documentation site", 5)
    assert answer.mode == "hybrid"
    first = answer.hits[0]
    assert first.node.entity.name == "CachorroSpace"
    assert first.node.texts == ["Documentation site for open source", "Built with Astro"]
    assert first.distance is not None
    assert 0 < first.distance < 1
    assert first.rrf_score == pytest.approx(2 / 61)  # first in both lists
    assert first.routing_strategy == Strategy.HYBRID_BALANCED
    assert first.scoring.importance == 0
    assert first.scoring.temporal_factor == 1
    assert first.scoring.cooc_boost == 0


def test_the_limbic_score_is_worked_out_from_its_factors(engine: Engine, clock: Clock) -> None:
    remember(engine, thing("Alpha", "red lamp"), thing("Beta", "red chair"))
    engine.graph.open_nodes(["Alpha", "Beta"])
    clock.advance(hours=1000)
    [first, second] = engine.entities.search("lamp or chair that is red", 5, explain=True).hits
    for hit in (first, second):
        assert hit.explanation is not None
        # One access each: log2(2)/log2(2). Together once, 1000 hours ago: log2(2) × e^-0.1.
        assert hit.scoring.importance == pytest.approx(1.0)
        assert hit.scoring.temporal_factor == pytest.approx(0.904837, abs=1e-6)
        assert hit.scoring.cooc_boost == pytest.approx(0.904837, abs=1e-6)
        use = (1 + 0.5 * 1.0) * 0.904837 * (1 + 0.01 * 0.904837)
        assert hit.limbic_score == pytest.approx(hit.explanation.relevance * use, rel=1e-5)


def test_an_identifier_is_found_among_look_alikes_however_popular_they_are(
    make_engine: EngineMaker, clock: Clock
) -> None:
    engine = make_engine(model=BlindToNumbers())
    remember(engine, *[thing(f"Note {number}", f"something else {number}") for number in range(150)])
    invoices = [
        thing(f"Invoice INV-{number}", "Invoice to Acme for consulting", "Amount 1200 euros", type="Invoice")
        for number in range(21030, 21060)
    ]
    remember(engine, *invoices)
    clock.advance(days=900)
    use(engine, clock, *[f"Invoice INV-{number}" for number in (21040, 21046, 21048)], days=20)
    for query in ("INV-21047", "what is the amount of invoice INV-21047 to Acme for consulting"):
        answer = engine.entities.search(query, 5)
        assert names(answer)[0] == "Invoice INV-21047", query


def test_an_identifier_inside_an_observation_is_found_too(make_engine: EngineMaker, clock: Clock) -> None:
    engine = make_engine(model=CloseCosines())
    remember(
        engine,
        *[
            thing(f"Supplier {letter}", f"Sent us invoice INV-210{digit}", "Paid on time")
            for letter, digit in zip("ABCDEFGHIJ", range(40, 50), strict=True)
        ],
    )
    clock.advance(days=900)
    use(engine, clock, "Supplier A", "Supplier G", "Supplier I", days=20)
    for query in ("who sent us INV-21047?", "who sent us INVOICE-21047?"):
        assert names(engine.entities.search(query, 3))[0] == "Supplier H"


@pytest.mark.parametrize("limit", [1, 2, 10])
@pytest.mark.parametrize("query", ["the loaf that I want", "explain the loaf that I want"])
def test_popularity_never_lifts_the_irrelevant_over_the_relevant(
    make_engine: EngineMaker, clock: Clock, query: str, limit: int
) -> None:
    """Also under a model for which unrelated texts have a cosine of 0.75."""
    engine = make_engine(model=CloseCosines())
    remember(engine, thing("Kitchen notes", "the bread that I made"))
    clock.advance(days=900)
    popular = [thing(f"Server {number}", f"rack {number} in the cellar") for number in range(8)]
    remember(engine, *popular)
    engine.graph.create_relations(
        [NewRelation(source="Server 0", target=f"Server {n}", type="near") for n in range(1, 8)]
    )
    for _ in range(10):
        clock.advance(days=1)
        engine.graph.open_nodes([entity.name for entity in popular])
    answer = engine.entities.search(query, limit)
    assert names(answer)[0] == "Kitchen notes"


def test_use_re_orders_results_of_like_relevance(make_engine: EngineMaker, clock: Clock) -> None:
    engine = make_engine(model=CloseCosines())
    remember(
        engine,
        thing("Alpha", "the red lamp on the desk"),
        thing("Beta", "the red lamp on the shelf"),
        thing("Gamma", "a boat"),
    )
    before = names(engine.entities.search("red lamp", 3))
    assert before == ["Alpha", "Beta", "Gamma"]
    use(engine, clock, "Beta", "Gamma", days=20)
    assert names(engine.entities.search("red lamp", 3)) == ["Beta", "Alpha", "Gamma"]


def test_words_alone_answer_when_there_is_no_model(make_engine: EngineMaker) -> None:
    engine = make_engine(model=NoModel("no model is installed. Run `mcp-memory model install`."))
    remember(engine, thing("Alpha", "red lamp"), thing("Beta", "a boat"))
    answer = engine.entities.search("the red lamp", 5)
    assert answer.mode == "keyword only: no model is installed. Run `mcp-memory model install`."
    [hit] = answer.hits
    assert hit.node.entity.name == "Alpha"
    assert hit.distance is None
    assert hit.rrf_score == pytest.approx(1 / 61)
    assert hit.limbic_score == pytest.approx(1.0)


def test_meaning_alone_answers_when_no_word_matches(make_engine: EngineMaker) -> None:
    engine = make_engine(model=CloseCosines())
    remember(engine, thing("Alpha", "red lamp"))
    answer = engine.entities.search("zebra", 5)
    assert answer.mode == "semantic"
    [hit] = answer.hits
    assert hit.rrf_score is None
    assert hit.distance == pytest.approx(0.25, abs=2e-3)


def test_a_keyword_hit_beyond_the_nearest_vectors_enters_the_result(engine: Engine) -> None:
    crowd = [thing(f"Note {number}", f"box {number} of apples and pears") for number in range(30)]
    remember(
        engine, *crowd, thing("Odd one", *[f"filler {n} text about things" for n in range(9)], "zyzzyva")
    )
    answer = engine.entities.search("box of apples with the rare zyzzyva inside", 2, explain=True)
    odd = next(hit for hit in answer.hits if hit.node.entity.name == "Odd one")
    assert odd.explanation is not None
    assert odd.explanation.place_by_meaning is None
    assert odd.explanation.place_by_words == 1
    assert odd.distance is not None  # its vector is there to be compared, though others are nearer


def test_status_and_metadata_take_an_entity_down(engine: Engine) -> None:
    remember(
        engine,
        thing("Old plan", "plan for the harbour", status="archivado"),
        thing("New plan", "plan for the harbour bridge"),
        thing("Files", type="Thing"),
    )
    engine.graph.add_observations("Files", ["plan for the harbour is in a.txt"], kind="metadata")
    answer = engine.entities.search("plan for the harbour", 3, explain=True)
    assert names(answer)[0] == "New plan"
    deboosts = {hit.node.entity.name: hit.explanation.deboost for hit in answer.hits if hit.explanation}
    assert deboosts == {"New plan": 1.0, "Old plan": 0.5, "Files": 0.7}


def test_results_come_in_the_order_of_their_score(engine: Engine, clock: Clock) -> None:
    remember(engine, *[thing(f"Note {n}", f"red lamp number {n}", "x " * n + "y") for n in range(20)])
    use(engine, clock, "Note 3", "Note 17", days=4)
    for query in ("red lamp", "what is a red lamp", "explain the red lamp and tell me everything of it"):
        scores = [hit.limbic_score for hit in engine.entities.search(query, 10).hits]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("query", "strategy"),
    [
        ("qué es Astro", Strategy.COSINE_HEAVY),
        ("what is Astro", Strategy.COSINE_HEAVY),
        ("explicame la historia de Astro por favor", Strategy.LIMBIC_HEAVY),
        ("explain the history of Astro please", Strategy.LIMBIC_HEAVY),
        ("web framework for documentation sites", Strategy.HYBRID_BALANCED),
    ],
)
@pytest.mark.seed("002 routing")
def test_the_wording_routes_the_search(engine: Engine, query: str, strategy: Strategy) -> None:
    remember(engine, thing("Astro", "A web framework"))
    answer = engine.entities.search(query, 5)
    assert answer.routing_strategy == strategy
    assert [hit.routing_strategy for hit in answer.hits] == [strategy]


@pytest.mark.seed("001 schema")
def test_being_shown_counts_as_use(engine: Engine, store: Store, clock: Clock) -> None:
    remember(engine, thing("Alpha", "red lamp"), thing("Beta", "red chair"))
    engine.entities.search("red", 5)
    clock.advance(days=1)
    engine.entities.search("red", 5)
    with store.read("default", clock()) as tx:
        seqs = [entity.seq for entity in tx.entities.page(0, 10)]
        assert {one.access_count for one in tx.usage.standings(seqs).values()} == {2}
        assert {one.active_days for one in tx.usage.standings(seqs).values()} == {2}
        [pair] = tx.usage.co_occurrences(seqs)
        assert pair.times == 2


def test_only_what_was_shown_counts_as_used(engine: Engine, store: Store, clock: Clock) -> None:
    remember(engine, *[thing(f"Lamp {n}", "red lamp") for n in range(6)])
    shown = names(engine.entities.search("red lamp", 2))
    with store.read("default", clock()) as tx:
        entities = {entity.seq: entity.name for entity in tx.entities.page(0, 10)}
        assert {
            entities[seq] for seq, one in tx.usage.standings(entities).items() if one.was_accessed
        } == set(shown)


def test_a_search_that_cannot_be_noted_still_answers(
    engine: Engine, clock: Clock, monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    remember(engine, thing("Alpha", "red lamp"))
    engine.entities.search("red lamp", 5)

    def full_disk(*_: object, **__: object) -> None:
        raise Unavailable("the disk is full")

    monkeypatch.setattr(store.database, "write", full_disk)
    assert names(engine.entities.search("red lamp", 5)) == ["Alpha"]


def test_another_space_sees_nothing(engine: Engine) -> None:
    remember(engine, thing("Alpha", "red lamp INV-21047"))
    other = engine.acting_for(Caller("other", "test"))
    assert other.entities.search("red lamp INV-21047", 5).hits == ()
    remember(other, thing("Beta", "blue lamp"))
    assert names(other.entities.search("red lamp INV-21047", 5)) == ["Beta"]


@pytest.mark.parametrize("query", ["", "  \n"])
def test_an_empty_query_is_refused(engine: Engine, query: str) -> None:
    with pytest.raises(Invalid, match="say what to look for"):
        engine.entities.search(query, 5)


def test_limits_are_kept(engine: Engine) -> None:
    with pytest.raises(Invalid, match="500 are allowed"):
        engine.entities.search("x" * 501, 5)
    for limit in (0, 51):
        with pytest.raises(Invalid, match="between 1 and 50"):
            engine.entities.search("x", limit)


@pytest.mark.parametrize("query", ['"quoted" AND (NOT', "100% _sure_", "*", "größe naïve 日本語", "’"])
def test_any_text_is_data_not_syntax(engine: Engine, query: str) -> None:
    remember(engine, thing("Alpha", "red lamp"))
    assert engine.entities.search(query, 5).hits


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("INV-21047", ["inv21047", "21047"]),
        ("CVE-2026-1234 in 2026", ["cve20261234", "1234"]),
        ("Sesión 2026-03-31", ["20260331"]),
        ("meeting in 2026 at 9", []),
        ("python 3.12.1", ["3121"]),
        ("plain words only", []),
    ],
)
def test_identifiers_are_words_with_digits_but_no_years(query: str, expected: list[str]) -> None:
    assert identifiers(query_terms(query)) == expected
