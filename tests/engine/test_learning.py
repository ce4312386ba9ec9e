"""The learning loop: both rankings are logged, what clients do next is noted, and weights follow from it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta

import pytest

from mcp_memory.embedding import NoModel
from mcp_memory.engine import Engine, Tuning
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.learning import Weights
from mcp_memory.errors import Invalid, Unavailable
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import Caller
from mcp_memory.ranking.limbic import LimbicWeights
from mcp_memory.ranking.metrics import ndcg_at
from mcp_memory.storage import Store
from mcp_memory.storage.search_log import LoggedSearch
from tests.conftest import EngineMaker
from tests.fakes import Clock


def thing(name: str, *observations: str) -> NewEntity:
    return NewEntity(name=name, type="Thing", observations=observations)


@pytest.fixture
def lamps(engine: Engine) -> Engine:
    """A graph with three lamps and a boat."""
    engine.graph.create_entities(
        [
            thing("Dispatcher lamp", "red lamp on the desk"),
            thing("Floor lamp", "red lamp on the floor"),
            thing("Night lamp", "red lamp by the bed"),
            thing("Boat", "sails on the lake"),
        ]
    )
    return engine


def judged(store: Store, clock: Clock, space: str = "default") -> list[LoggedSearch]:
    with store.read(space, clock()) as tx:
        return tx.search_log.judged(1000)


def signs(store: Store, clock: Clock) -> dict[str, set[str]]:
    """What was noted, by entity, over all searches."""
    noted: dict[str, set[str]] = {}
    with store.read("default", clock()) as tx:
        for search in tx.search_log.judged(1000):
            entities = tx.entities.fetch(search.signs)
            for seq, given in search.signs.items():
                noted.setdefault(entities[seq].name, set()).update(given)
    return noted


def search_count(store: Store, clock: Clock, space: str = "default") -> int:
    with store.read(space, clock()) as tx:
        return tx.search_log.extent().searches


@pytest.mark.seed("002 A/B testing")
def test_both_rankings_of_a_search_are_logged(lamps: Engine, store: Store, clock: Clock) -> None:
    lamps.graph.open_nodes(["Night lamp"])
    clock.advance(hours=1)
    answer = lamps.entities.search("red lamp on the desk", 2)
    lamps.graph.open_nodes([answer.hits[0].node.entity.name])
    [search] = judged(store, clock)
    assert (search.query, search.strategy, search.mode, search.shown) == (
        "red lamp on the desk",
        "HYBRID_BALANCED",
        "hybrid",
        2,
    )
    shown = [result.entity_seq for result in search.results if result.rank <= search.shown]
    assert shown == [hit.node.entity.seq for hit in answer.hits]
    by_cosine = sorted(search.results, key=lambda result: -(result.cosine or 0))
    assert [result.baseline_rank for result in by_cosine[:2]] == [1, 2]
    for result, hit in zip(search.results, answer.hits, strict=False):
        assert result.limbic_score == pytest.approx(hit.limbic_score)
        assert result.importance == pytest.approx(hit.scoring.importance)
        assert result.temporal == pytest.approx(hit.scoring.temporal_factor)
        assert result.cooc == pytest.approx(hit.scoring.cooc_boost)


@pytest.mark.seed("002 A/B testing")
def test_the_other_ranking_is_logged_but_never_shown(lamps: Engine, store: Store, clock: Clock) -> None:
    for _ in range(20):
        clock.advance(days=1)
        lamps.graph.open_nodes(["Night lamp"])
    clock.advance(hours=1)
    [hit] = lamps.entities.search("the red lamp on top", 1).hits
    assert hit.node.entity.name == "Night lamp"
    lamps.graph.open_nodes(["Night lamp"])
    [search] = judged(store, clock)
    with store.read("default", clock()) as tx:
        entities = tx.entities.fetch(result.entity_seq for result in search.results)
    unshown = {entities[r.entity_seq].name: r for r in search.results if r.rank > search.shown}
    assert unshown["Dispatcher lamp"].baseline_rank == 1


def test_a_search_by_words_alone_is_logged_without_a_cosine(
    make_engine: EngineMaker, store: Store, clock: Clock
) -> None:
    engine = make_engine(model=NoModel("none here"))
    engine.graph.create_entities([thing("Dispatcher lamp", "red lamp")])
    engine.entities.search("lamp", 5)
    engine.graph.open_nodes(["Dispatcher lamp"])
    [search] = judged(store, clock)
    assert search.mode == "keyword only: none here"
    assert [(result.cosine, result.baseline_rank) for result in search.results] == [(None, None)]
    assert engine.learning.metrics().searches == 0


def test_opening_a_result_soon_after_is_feedback(lamps: Engine, store: Store, clock: Clock) -> None:
    lamps.entities.search("red lamp", 3)
    clock.advance(minutes=29)
    lamps.graph.open_nodes(["Dispatcher lamp", "Boat"])
    assert signs(store, clock) == {"Dispatcher lamp": {"opened"}}


def test_adding_to_a_result_is_feedback(lamps: Engine, store: Store, clock: Clock) -> None:
    lamps.entities.search("red lamp", 3)
    lamps.graph.add_observations("Floor lamp", ["needs a new bulb"])
    lamps.graph.create_entities([thing("Dispatcher lamp", "has a green switch")])
    assert signs(store, clock) == {"Floor lamp": {"extended"}, "Dispatcher lamp": {"extended"}}


def test_adding_what_is_there_already_is_no_feedback(lamps: Engine, store: Store, clock: Clock) -> None:
    lamps.entities.search("red lamp", 3)
    lamps.graph.add_observations("Dispatcher lamp", ["red lamp on the desk"])
    assert signs(store, clock) == {}


def test_relating_a_result_is_feedback(lamps: Engine, store: Store, clock: Clock) -> None:
    lamps.entities.search("red lamp", 3)
    lamps.graph.create_relations([NewRelation(source="Boat", target="Night lamp", type="has")])
    assert signs(store, clock) == {"Night lamp": {"related"}}


def test_naming_a_result_in_a_text_is_feedback(lamps: Engine, store: Store, clock: Clock) -> None:
    lamps.entities.search("red lamp", 3)
    lamps.graph.add_observations("Boat", ["has the NIGHT LAMP on board, and two floor lamps"])
    assert signs(store, clock) == {"Night lamp": {"cited"}}


def test_a_memory_about_a_result_or_naming_it_is_feedback(lamps: Engine, store: Store, clock: Clock) -> None:
    lamps.entities.search("red lamp", 3)
    lamps.memories.remember(
        NewMemory(content="Prefer the floor lamp in winter", entity_names=("Night lamp",))
    )
    assert signs(store, clock) == {"Night lamp": {"extended"}, "Floor lamp": {"cited"}}


def test_what_happens_too_late_says_nothing(lamps: Engine, store: Store, clock: Clock) -> None:
    lamps.entities.search("red lamp", 3)
    clock.advance(minutes=31)
    lamps.graph.open_nodes(["Dispatcher lamp"])
    assert signs(store, clock) == {}


def test_what_another_client_or_space_does_says_nothing(lamps: Engine, store: Store, clock: Clock) -> None:
    lamps.entities.search("red lamp", 3)
    lamps.acting_for(Caller(client="another")).graph.open_nodes(["Dispatcher lamp"])
    elsewhere = lamps.acting_for(Caller("elsewhere", "test"))
    elsewhere.graph.create_entities([thing("Dispatcher lamp", "blue")])
    elsewhere.graph.open_nodes(["Dispatcher lamp"])
    assert signs(store, clock) == {}


def test_feedback_goes_to_the_latest_search_that_showed_it(lamps: Engine, store: Store, clock: Clock) -> None:
    for query in ("red lamp", "lamp on the desk", "lake"):
        clock.advance(seconds=10)
        lamps.entities.search(query, 1)
    lamps.graph.open_nodes(["Boat"])
    [search] = judged(store, clock)
    assert search.query == "lake"


def test_what_was_not_shown_gets_no_credit(lamps: Engine, store: Store, clock: Clock) -> None:
    lamps.entities.search("red lamp on the desk", 1)
    lamps.graph.open_nodes(["Floor lamp"])
    assert signs(store, clock) == {}


def test_the_log_keeps_to_its_age(make_engine: EngineMaker, store: Store, clock: Clock) -> None:
    engine = make_engine(tuning=Tuning(search_log_age=timedelta(days=10)))
    engine.graph.create_entities([thing("Dispatcher lamp", "red lamp")])
    engine.entities.search("lamp", 1)
    engine.graph.open_nodes(["Dispatcher lamp"])
    clock.advance(days=9)
    engine.entities.search("lamp", 1)
    clock.advance(days=2)
    engine.learning.forget_old()
    assert search_count(store, clock) == 1
    assert judged(store, clock) == []


def test_the_log_keeps_to_its_size_without_being_told(
    make_engine: EngineMaker, store: Store, clock: Clock
) -> None:
    engine = make_engine(tuning=Tuning(search_log_size=20))
    engine.graph.create_entities([thing("Dispatcher lamp", "red lamp")])
    for _ in range(205):
        clock.advance(seconds=1)
        engine.entities.search("lamp", 1)
    assert search_count(store, clock) == 25  # cut to 20 at the 200th, and five since


def test_no_log_is_kept_when_none_is_wanted(make_engine: EngineMaker, store: Store, clock: Clock) -> None:
    engine = make_engine(tuning=Tuning(search_log_size=0))
    engine.graph.create_entities([thing("Dispatcher lamp", "red lamp")])
    assert engine.entities.search("lamp", 1).hits
    assert search_count(store, clock) == 0


def test_weights_that_were_set_hold_for_every_engine_on_the_database(
    lamps: Engine, make_engine: EngineMaker, clock: Clock
) -> None:
    other = make_engine()
    lamps.graph.open_nodes(["Dispatcher lamp", "Night lamp"])
    clock.advance(hours=1)
    before = other.entities.search("lamp desk bed", 1, explain=True).hits[0]
    lamps.learning.set_weights(beta_sal=0.0)
    assert lamps.learning.set_weights(gamma=0.0) == Weights(gamma=0.0, beta_sal=0.0, changed_at=clock())
    after = other.entities.search("lamp desk bed", 1, explain=True).hits[0]
    assert before.explanation is not None
    assert after.explanation is not None
    assert before.explanation.use > 1.4
    assert after.explanation.use == pytest.approx(after.scoring.temporal_factor)
    assert other.learning.weights().gamma == 0.0


def test_weights_belong_to_a_space(lamps: Engine, make_engine: EngineMaker) -> None:
    lamps.learning.set_weights(gamma=0.2)
    elsewhere = make_engine(caller=Caller("elsewhere", "test"))
    assert elsewhere.learning.weights() == Weights(gamma=LimbicWeights().gamma, beta_sal=0.5)


@pytest.mark.parametrize("value", [-0.1, 1.5, float("nan"), float("inf")])
def test_weights_out_of_range_are_refused(engine: Engine, value: float) -> None:
    with pytest.raises(Invalid, match="gamma must be between 0 and 1"):
        engine.learning.set_weights(gamma=value)
    assert engine.learning.weights().changed_at is None


def test_analysis_says_what_there_is_and_what_is_missing(lamps: Engine, clock: Clock) -> None:
    lamps.entities.search("a red lamp for reading", 5)
    lamps.entities.search("what is the lake", 5)
    lamps.graph.open_nodes(["Boat", "Dispatcher lamp"])
    analysis = lamps.learning.analyze(min_events=50)
    assert (analysis.log.searches, analysis.log.judged) == (2, 1)
    assert analysis.log.by_sign == {"opened": 2}
    assert analysis.log.by_strategy == {"COSINE_HEAVY": 1, "HYBRID_BALANCED": 1}
    assert (analysis.needed, analysis.missing) == (50, 49)
    assert analysis.log.last_at == clock()


def test_too_little_data_is_refused_with_how_much_is_missing(lamps: Engine) -> None:
    for query in ("red lamp", "the lake", "bed"):
        hits = lamps.entities.search(query, 1).hits
        lamps.graph.open_nodes([hits[0].node.entity.name])
    with pytest.raises(Invalid, match=r"3 searches have feedback so far and 50 are needed: 47 more"):
        lamps.learning.tune()
    assert lamps.learning.weights().changed_at is None


def test_one_query_repeated_is_too_little_to_learn_from(lamps: Engine, clock: Clock) -> None:
    for _ in range(12):
        clock.advance(hours=1)
        lamps.entities.search("red lamp", 3)
        lamps.graph.open_nodes(["Night lamp"])
    with pytest.raises(Invalid, match="repeat too few queries"):
        lamps.learning.tune(min_events=10)


@pytest.mark.parametrize("blend", [0, 1.1, -1])
def test_a_blend_that_is_no_share_is_refused(engine: Engine, blend: float) -> None:
    with pytest.raises(Invalid, match="blend must be"):
        engine.learning.tune(blend=blend)


TOPICS = [
    "harbour", "kitchen", "garden", "engine", "budget", "holiday", "school", "hospital", "museum", "forest",
    "bakery", "railway", "theatre", "airport", "library", "vineyard", "factory", "stadium", "market", "tower",
]  # fmt: skip
ASPECTS = ["plan", "cost", "team", "risk", "history", "schedule"]


class Regulars:
    """Users with two favourites in each topic, which they use daily and want whenever they search."""

    def __init__(self, engine: Engine, clock: Clock, seed: int = 7) -> None:
        self.engine = engine
        self.clock = clock
        self.chance = random.Random(seed)
        for topic in TOPICS:
            engine.graph.create_entities(
                [thing(self._name(topic, number), *self._facts(topic, number)) for number in range(6)]
            )
        engine.indexing.catch_up("entity", 1000)

    def live(self, days: int, topics: Sequence[str]) -> None:
        """Use favourites, search, and open a favourite when it is among the results."""
        for _ in range(days):
            self.clock.advance(days=1)
            for topic in topics:
                self.engine.graph.open_nodes([self._name(topic, self.chance.choice((1, 4)))])
            self.clock.advance(hours=1)
            for topic in self.chance.sample(list(topics), 4):
                self.clock.advance(minutes=40)
                self.search_and_open(self.query(topic), topic)

    def search_and_open(self, query: str, topic: str) -> None:
        shown = [hit.node.entity.name for hit in self.engine.entities.search(query, 5).hits]
        for name in self.favourites(topic):
            if name in shown:
                self.engine.graph.open_nodes([name])

    def query(self, topic: str) -> str:
        return f"{topic} {self.chance.choice(ASPECTS)} {self.chance.choice(ASPECTS)} notes"

    def favourites(self, topic: str) -> list[str]:
        return [self._name(topic, 1), self._name(topic, 4)]

    def ndcg(self, queries: Sequence[tuple[str, str]]) -> float:
        """How well these searches are answered, in the users' eyes."""
        total = 0.0
        for query, topic in queries:
            shown = [hit.node.entity.name for hit in self.engine.entities.search(query, 5).hits]
            total += ndcg_at(5, shown, dict.fromkeys(self.favourites(topic), 1.0))
        return total / len(queries)

    def _name(self, topic: str, number: int) -> str:
        return f"{topic.title()} {number}"

    def _facts(self, topic: str, number: int) -> list[str]:
        aspects = self.chance.sample(ASPECTS, 5)
        return [f"{topic} {aspect} {number}{self.chance.choice('abcdef')}" for aspect in aspects]


@pytest.mark.seed("002 tuning")
def test_tuning_learns_what_users_want_and_serves_searches_it_has_not_seen(
    engine: Engine, clock: Clock, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = Regulars(engine, clock)
    users.live(days=20, topics=TOPICS[:14])
    users.live(days=4, topics=TOPICS[14:])
    unseen = [(users.query(topic), topic) for topic in TOPICS[14:] for _ in range(4)]

    def satisfaction() -> float:
        with monkeypatch.context() as patch:
            # What is only being measured must not count as use.
            patch.setattr(store.database, "write", refuse)
            return users.ndcg(unseen)

    before = satisfaction()
    first = engine.learning.tune()
    assert first.applied
    assert first.target.weights.beta_sal > 0.5
    assert first.target.held_out_ndcg > first.before.held_out_ndcg
    assert first.after.weights.beta_sal == pytest.approx(0.5 * 0.9 + first.target.weights.beta_sal * 0.1)
    for _ in range(9):
        engine.learning.tune()
    assert engine.learning.weights().beta_sal > first.after.weights.beta_sal
    assert satisfaction() > before


def refuse(*_: object, **__: object) -> None:
    raise Unavailable("not now")


def test_tuning_stays_where_it_is_when_nothing_does_better(engine: Engine, clock: Clock) -> None:
    users = Regulars(engine, clock)
    users.live(days=14, topics=TOPICS)
    tuned = engine.learning.tune(gammas=[0.01], betas=[0.5])
    assert not tuned.applied
    assert "no weights of the grid" in tuned.reason
    assert engine.learning.weights().changed_at is None


def test_metrics_compare_what_was_shown_with_cosine_alone(engine: Engine, clock: Clock) -> None:
    users = Regulars(engine, clock)
    users.live(days=10, topics=TOPICS)
    compared = engine.learning.metrics()
    assert compared.searches > 30
    assert set(compared.limbic.ndcg) == set(compared.cosine.lift) == {1, 3, 5, 10}
    # These users want what they use, and cosine knows nothing of use.
    assert compared.limbic.ndcg[3] > compared.cosine.ndcg[3]
    assert compared.limbic.mrr > compared.cosine.mrr
    assert compared.limbic.lift[3] > compared.cosine.lift[3]


def test_metrics_are_those_worked_out_by_hand(lamps: Engine, clock: Clock) -> None:
    for _ in range(20):
        clock.advance(days=1)
        lamps.graph.open_nodes(["Night lamp"])
    clock.advance(hours=1)
    shown = [hit.node.entity.name for hit in lamps.entities.search("the red lamp on top", 2).hits]
    assert shown == ["Night lamp", "Dispatcher lamp"]  # by cosine: desk, floor, night
    lamps.graph.open_nodes(["Dispatcher lamp"])
    compared = lamps.learning.metrics()
    assert compared.searches == 1
    assert compared.limbic.ndcg[1] == 0
    assert compared.limbic.ndcg[3] == pytest.approx(0.63093, abs=1e-5)  # 1 / log2(3)
    assert compared.cosine.ndcg[1] == 1
    assert (compared.limbic.mrr, compared.cosine.mrr) == (0.5, 1.0)
    assert compared.cosine.lift[1] == 3.0  # one of one, against one of the three that were logged
    assert compared.limbic.lift[1] == 0


def test_metrics_of_an_empty_log_are_empty(engine: Engine) -> None:
    compared = engine.learning.metrics()
    assert (compared.searches, compared.limbic.mrr, compared.cosine.ndcg[5]) == (0, 0.0, 0.0)
