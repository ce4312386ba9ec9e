"""Tending an entity over HTTP: observations added and removed, splits, duplicates, and the report."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from mcp_memory.engine import splitting
from mcp_memory.engine.curation import Duplicates
from mcp_memory.model import GENERIC_KIND, Node
from mcp_memory.server.problems import documented
from mcp_memory.server.rest.dependencies import ANYWHERE, Acting, Id
from mcp_memory.server.rest.entities import PATH, Observation
from mcp_memory.server.rest.shapes import Id as ShownId
from mcp_memory.server.rest.shapes import Shape, Share, Text

router = APIRouter(prefix=PATH, tags=["entities"], responses={**ANYWHERE, **documented(404)})
report_router = APIRouter(prefix="/api/report", tags=["maintenance"], responses=ANYWHERE)


class NewObservations(Shape):
    observations: list[Text] = Field(min_length=1)
    kind: Text = GENERIC_KIND
    supersedes: str | None = Field(
        None, description="The id or text of the observation that the last of these replaces."
    )


class UnwantedObservations(Shape):
    observations: list[str] = Field(min_length=1, description="To the letter.")


class Observations(Shape):
    """What is observed about an entity now."""

    id: ShownId
    name: str
    observations: list[Observation]

    @classmethod
    def of(cls, node: Node) -> Observations:
        return cls(
            id=node.entity.id,
            name=node.entity.name,
            observations=[Observation.of(memory) for memory in node.observations],
        )


class Analysis(Shape):
    """How full an entity is, and which topics its observations fall into."""

    id: ShownId
    name: str
    entity_type: str
    observation_count: int
    threshold: int
    needs_split: bool
    split_score: float
    topics: dict[str, list[str]]

    @classmethod
    def of(cls, analysis: splitting.Analysis) -> Analysis:
        return cls(
            id=analysis.entity.id,
            name=analysis.entity.name,
            entity_type=analysis.entity.type,
            observation_count=analysis.observation_count,
            threshold=analysis.threshold,
            needs_split=analysis.needs_split,
            split_score=analysis.split_score,
            topics=analysis.topics,
        )


class Split(Shape):
    """A new entity, and the observations that are to be about it instead."""

    name: Text
    entity_type: Text
    observations: list[Text] = Field(min_length=1)


class SplitRelation(Shape):
    source: str
    target: str
    relation_type: str


class Proposal(Shape):
    analysis: Analysis
    splits: list[Split] = Field(description="Empty when the entity needs no split.")
    relations: list[SplitRelation]


class Splits(Shape):
    splits: list[Split] = Field(min_length=1)
    parent: str | None = Field(None, description="What the new entities become parts of; else the original.")


class SplitDone(Shape):
    new_entities: list[str]
    moved_observations: int
    relations_created: int
    original_observations_remaining: int


class Pair(Shape):
    a: str
    b: str
    similarity: float
    match_type: Literal["cosine", "containment"]


class Alike(Shape):
    """Observations that look alike, and which hang together."""

    mode: str
    pairs: list[Pair]
    clusters: list[list[str]]

    @classmethod
    def of(cls, found: Duplicates) -> Alike:
        return cls(
            mode=found.mode,
            pairs=[
                Pair(
                    a=found.texts[pair.a],
                    b=found.texts[pair.b],
                    similarity=pair.match.similarity_score,
                    match_type=pair.match.match_type,
                )
                for pair in found.pairs
            ],
            clusters=[[found.texts[place] for place in cluster] for cluster in found.clusters],
        )


class FlaggedObservation(Shape):
    entity: str
    observation: str


class StaleEntity(Shape):
    entity: str
    last_access_at: datetime
    days_since: int
    access_count: int
    observation_count: int


class LargeEntity(Shape):
    entity: str
    entity_type: str
    observation_count: int = Field(description="With those that were superseded.")


class Report(Shape):
    """What in the graph wants attention."""

    entity_count: int
    observation_count: int
    split_candidates: list[Analysis]
    flagged_count: int
    flagged: list[FlaggedObservation]
    stale_count: int
    stale: list[StaleEntity]
    large: list[LargeEntity]


@router.post("/{id:uuid}/observations")
def add_observations(id: Id, new: NewObservations, engine: Acting) -> Observations:
    """Add to what is observed about an entity; what it has already is passed over."""
    node = engine.graph.add_observations(str(id), new.observations, kind=new.kind, supersedes=new.supersedes)
    return Observations.of(node)


@router.post("/{id:uuid}/observations/delete")
def delete_observations(id: Id, unwanted: UnwantedObservations, engine: Acting) -> Observations:
    """Take observations off an entity; a text it does not have is passed over."""
    return Observations.of(engine.graph.delete_observations(str(id), unwanted.observations))


@router.get("/{id:uuid}/split")
def propose_split(id: Id, engine: Acting) -> Proposal:
    """Analyse how full an entity is, and propose how to divide it if it is too full."""
    proposal = engine.splitting.propose(str(id))
    if proposal is None:
        return Proposal(analysis=Analysis.of(engine.splitting.analyse(str(id))), splits=[], relations=[])
    return Proposal(
        analysis=Analysis.of(proposal.analysis),
        splits=[
            Split(name=split.name, entity_type=split.type, observations=list(split.observations))
            for split in proposal.splits
        ],
        relations=[
            SplitRelation(source=source, target=target, relation_type=type)
            for source, target, type in proposal.relations
        ],
    )


@router.post("/{id:uuid}/split")
def split_entity(id: Id, wanted: Splits, engine: Acting) -> SplitDone:
    """Move observations to new entities that are related to the original. All of it, or nothing."""
    splits = [
        splitting.Split(split.name, split.entity_type, tuple(split.observations)) for split in wanted.splits
    ]
    done = engine.splitting.execute(str(id), splits, wanted.parent)
    return SplitDone(
        new_entities=list(done.new_entities),
        moved_observations=done.moved_observations,
        relations_created=done.relations_created,
        original_observations_remaining=done.original_observations_remaining,
    )


@router.get("/{id:uuid}/duplicates")
def find_duplicates(
    id: Id,
    engine: Acting,
    threshold: Annotated[Share, Query(description="The least cosine of a pair.")] = 0.85,
    containment_threshold: Annotated[Share, Query(description="Of words that one has of the other.")] = 0.7,
) -> Alike:
    """Find observations of an entity that say the same again. Changes nothing."""
    return Alike.of(
        engine.curation.duplicates(str(id), threshold=threshold, containment_threshold=containment_threshold)
    )


@report_router.get("")
def read_report(
    engine: Acting,
    stale_days: Annotated[float, Query(ge=0, le=36_500, description="Unused for so many days.")] = 90,
) -> Report:
    """Look for what makes the graph hard to use: overgrown, flagged and forgotten entities."""
    found = engine.curation.report(stale_days)
    return Report(
        entity_count=found.entity_count,
        observation_count=found.observation_count,
        split_candidates=[Analysis.of(one) for one in found.split_candidates],
        flagged_count=found.flagged_count,
        flagged=[FlaggedObservation(entity=one.entity, observation=one.content) for one in found.flagged],
        stale_count=found.stale_count,
        stale=[
            StaleEntity(
                entity=stale.name,
                last_access_at=stale.last_at,
                days_since=days,
                access_count=stale.access_count,
                observation_count=observation_count,
            )
            for stale, days, observation_count in found.stale
        ],
        large=[
            LargeEntity(entity=entity.name, entity_type=entity.type, observation_count=count)
            for entity, count in found.large
        ],
    )
