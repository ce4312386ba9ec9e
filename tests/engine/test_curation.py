"""Duplicates, flags and the report: found, shown, and nothing changed."""

from __future__ import annotations

import pytest

from mcp_memory.embedding import NoModel
from mcp_memory.engine import Engine, Limits
from mcp_memory.engine.curation import MOST_ANALYSED
from mcp_memory.errors import Invalid, NotFound
from mcp_memory.inputs import NewEntity
from mcp_memory.text.graph_lines import EntityLine
from tests.conftest import EngineMaker
from tests.fakes import Clock


@pytest.mark.seed("000 §15")
def test_duplicates_are_found_by_meaning_and_by_containment_each_pair_once(engine: Engine) -> None:
    engine.graph.create_entities(
        [
            NewEntity(
                name="P",
                observations=(
                    "deployed on vercel with custom domain",
                    "custom domain, deployed with vercel on",
                    "stack: python, sqlite and onnx runtime for embeddings",
                    "sqlite python",
                    "nothing like the others",
                ),
            )
        ]
    )
    found = engine.curation.duplicates("P", threshold=0.85, containment_threshold=0.7)
    assert [(pair.a, pair.b, pair.match.match_type) for pair in found.pairs] == [
        (0, 1, "cosine"),
        (2, 3, "containment"),
    ]
    assert found.clusters == ((0, 1), (2, 3))
    assert found.mode == "cosine and containment"


def test_duplicates_without_a_model_are_found_by_containment_and_the_reply_says_so(
    make_engine: EngineMaker,
) -> None:
    engine = make_engine(model=NoModel("no model here"))
    engine.graph.create_entities([NewEntity(name="P", observations=("a b", "a b c d e f g"))])
    found = engine.curation.duplicates("P", threshold=0.85, containment_threshold=0.7)
    assert len(found.pairs) == 1
    assert found.mode == "containment only: no model here"


def test_duplicates_of_an_unknown_entity_or_with_a_bad_threshold_are_refused(engine: Engine) -> None:
    with pytest.raises(NotFound):
        engine.curation.duplicates("Nobody", threshold=0.85, containment_threshold=0.7)
    with pytest.raises(Invalid, match="between 0 and 1"):
        engine.curation.duplicates("Nobody", threshold=1.85, containment_threshold=0.7)


def test_an_observation_like_an_earlier_one_is_flagged_and_kept(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="P", observations=("deployed on vercel",))])
    engine.graph.add_observations("P", ["on vercel deployed", "something else entirely"])
    engine.indexing.catch_up("memory")
    [node] = engine.graph.open_nodes(["P"]).nodes
    assert [memory.flagged_at is not None for memory in node.observations] == [False, True, False]
    report = engine.curation.report(90)
    assert [(flagged.entity, flagged.content) for flagged in report.flagged] == [("P", "on vercel deployed")]


def test_an_observation_that_stands_twice_under_its_entity_does_not_repeat_itself(engine: Engine) -> None:
    engine.anthropic_compat.create_entities([EntityLine("P", "project", ("deployed on vercel",) * 2)])
    engine.indexing.catch_up("memory")
    [node] = engine.graph.open_nodes(["P"]).nodes
    assert [memory.flagged_at for memory in node.observations] == [None, None]


@pytest.mark.seed("000 §16")
def test_the_report_counts_everything_and_changes_nothing(engine: Engine) -> None:
    facts = tuple(f"fact about subject{n % 3} number{n}" for n in range(21))
    engine.graph.create_entities([NewEntity(name="Big", observations=facts), NewEntity(name="Small")])
    before = engine.graph.read(limit=10)
    report = engine.curation.report(90)
    assert (report.entity_count, report.observation_count) == (2, 21)
    assert [analysis.entity.name for analysis in report.split_candidates] == ["Big"]
    assert [(entity.name, count) for entity, count in report.large] == [("Big", 21)]
    assert report.stale == ()
    assert engine.graph.read(limit=10) == before


@pytest.mark.seed("000 §16")
def test_an_entity_is_stale_when_it_was_seldom_used_and_not_for_long(engine: Engine, clock: Clock) -> None:
    engine.graph.create_entities(
        [
            NewEntity(name="Forgotten", observations=("f",)),
            NewEntity(name="Popular", observations=("p",)),
            NewEntity(name="Shelved", status="archived", observations=("s",)),
            NewEntity(name="Bare"),
        ]
    )
    for _ in range(3):
        engine.graph.open_nodes(["Popular"])
    engine.graph.open_nodes(["Forgotten"])
    clock.advance(days=145)
    engine.graph.create_entities([NewEntity(name="New", observations=("n",))])
    [(stale, days, observations)] = engine.curation.report(90).stale
    assert (stale.name, stale.access_count, days, observations) == ("Forgotten", 1, 145, 1)
    assert engine.curation.report(146).stale == ()


def test_a_negative_age_is_refused(engine: Engine) -> None:
    with pytest.raises(Invalid, match="stale_days"):
        engine.curation.report(-1)


def test_a_report_counts_all_stale_entities_and_shows_the_longest_unseen(
    make_engine: EngineMaker, clock: Clock
) -> None:
    engine = make_engine(limits=Limits(entities=600))
    engine.graph.create_entities([NewEntity(name=f"E{number}", observations=("x",)) for number in range(501)])
    clock.advance(days=100)
    report = engine.curation.report(90)
    assert (len(report.stale), report.stale_count) == (500, 501)
    assert report.stale[0][0].name == "E0"


def test_the_report_analyses_the_fullest_entities_and_counts_them_all(engine: Engine) -> None:
    def facts(count: int) -> tuple[str, ...]:
        return tuple(f"fact about subject{n % 3} number{n}" for n in range(count))

    sizes = range(21, 21 + MOST_ANALYSED + 2)
    engine.graph.create_entities([NewEntity(name=f"E{n}", observations=facts(n)) for n in sizes])
    report = engine.curation.report(90)
    assert report.split_candidate_count == report.large_count == len(sizes)
    assert [one.observation_count for one in report.split_candidates] == [*reversed(sizes)][:MOST_ANALYSED]
    assert len(engine.splitting.candidates()) == len(sizes)
