"""Curation over HTTP: observations, splits, duplicates, and the report."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from mcp_memory.engine import splitting
from mcp_memory.fields import Share
from mcp_memory.model import GENERIC_KIND
from mcp_memory.server.problems import documented
from mcp_memory.server.rest.dependencies import ANYWHERE, Acting, Which
from mcp_memory.server.rest.entities import PATH
from mcp_memory.server.rest.fields import Body, Text
from mcp_memory.server.shapes.curation import (
    Analysis,
    FlaggedObservation,
    LargeEntity,
    Pair,
    SplitDone,
    StaleEntity,
)
from mcp_memory.server.shapes.entities import Entity, Observation, Relation
from mcp_memory.server.shapes.shape import Shape, drawn

router = APIRouter(prefix=PATH, tags=["entities"], responses={**ANYWHERE, **documented(404)})
report_router = APIRouter(prefix="/api/report", tags=["maintenance"], responses=ANYWHERE)


class NewObservations(Body):
    observations: list[Text] = Field(min_length=1)
    kind: Text = GENERIC_KIND
    supersedes: str | None = Field(
        None, description="The id or text of the observation that the last of these replaces."
    )


class UnwantedObservations(Body):
    observations: list[str] = Field(min_length=1, description="To the letter.")


@drawn(Entity, only="id name")
class Observations(Shape):
    """The observations of an entity, after the change."""

    observations: list[Observation]


class Split(Body):
    """A new entity, and the observations that move to it."""

    name: Text
    type: Text = Field(alias="entity_type")
    observations: tuple[Text, ...] = Field(min_length=1)


@drawn(Relation, only="source target type")
class SplitRelation(Shape):
    pass


@drawn(splitting.Split, type="entity_type")
class ProposedSplit(Shape):
    """A proposed split."""


class Proposal(Shape):
    analysis: Analysis
    splits: list[ProposedSplit] = Field(description="Empty when the entity needs no split.")
    relations: list[SplitRelation]


class Splits(Body):
    splits: list[Split] = Field(min_length=1)
    parent: str | None = Field(
        None, description="The entity that contains the new ones; the original unless given."
    )


class DuplicateObservations(Shape):
    """Pairs of similar observations, and the clusters they form."""

    mode: str
    matches: list[Pair] = Field(serialization_alias="pairs")
    groups: list[list[str]] = Field(serialization_alias="clusters")


class Report(Shape):
    """Entities that need attention."""

    entity_count: int
    observation_count: int
    split_candidate_count: int
    split_candidates: list[Analysis] = Field(description="The fullest of them.")
    flagged_count: int
    flagged: list[FlaggedObservation]
    stale_count: int
    stale: list[StaleEntity]
    large_count: int
    large: list[LargeEntity] = Field(description="The largest of them.")


@router.post("/{which}/observations")
def add_observations(which: Which, new: NewObservations, engine: Acting) -> Observations:
    """Add observations to an entity; those it already has are skipped."""
    node = engine.graph.add_observations(which, new.observations, kind=new.kind, supersedes=new.supersedes)
    return Observations.of(node)


@router.post("/{which}/observations/delete")
def delete_observations(which: Which, unwanted: UnwantedObservations, engine: Acting) -> Observations:
    """Remove observations from an entity; a text it does not have is skipped."""
    return Observations.of(engine.graph.delete_observations(which, unwanted.observations))


@router.get("/{which}/split")
def propose_split(which: Which, engine: Acting) -> Proposal:
    """Analyse the size of an entity, and propose a split if it is too large."""
    proposal = engine.splitting.propose(which)
    if proposal is None:
        return Proposal.of(analysis=engine.splitting.analyse(which), splits=(), relations=())
    return Proposal.of(proposal)


@router.post("/{which}/split")
def split_entity(which: Which, wanted: Splits, engine: Acting) -> SplitDone:
    """Move observations to new entities that are related to the original. All of it, or nothing."""
    splits = [split.fill(splitting.Split) for split in wanted.splits]
    return SplitDone.of(engine.splitting.execute(which, splits, wanted.parent))


@router.get("/{which}/duplicates")
def find_duplicates(
    which: Which,
    engine: Acting,
    threshold: Annotated[Share, Query(description="Minimum cosine of a pair.")] = 0.85,
    containment_threshold: Annotated[
        Share, Query(description="Minimum share of one text's words that the other contains.")
    ] = 0.7,
) -> DuplicateObservations:
    """Find duplicate observations of an entity. Changes nothing."""
    return DuplicateObservations.of(
        engine.curation.duplicates(which, threshold=threshold, containment_threshold=containment_threshold)
    )


@report_router.get("")
def read_report(
    engine: Acting,
    stale_days: Annotated[
        float, Query(ge=0, le=36_500, description="Unused for at least this many days.")
    ] = 90,
) -> Report:
    """Report overgrown entities, flagged observations and unused entities."""
    return Report.of(engine.curation.report(stale_days))
