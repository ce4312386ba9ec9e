"""Graph tools for curation: splitting, duplicates, the report, and reflections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from mcp_memory.server.mcp.graph_outputs import ReflectionOut, ScoredReflection
from mcp_memory.server.mcp.tools import ADDS, CHANGES, READS, Arguments, Sized, tool
from mcp_memory.server.shapes.curation import (
    Analysis,
    FlaggedObservation,
    LargeEntity,
    Pair,
    SplitDone,
    StaleEntity,
)
from mcp_memory.server.shapes.entities import Entity, Relation
from mcp_memory.server.shapes.shape import Rounded, Shape, drawn, omitted

if TYPE_CHECKING:
    from mcp_memory.engine import Engine

EntityName = Annotated[str, Field(description="The entity's exact name.")]


class OneEntity(Arguments):
    entity_name: EntityName


class SplitItem(Arguments):
    name: str = Field(description="The name of the new entity.")
    type: str = Field(validation_alias="entity_type", description="Its type, usually that of the original.")
    observations: tuple[str, ...] = Field(description="Exact texts of the original's observations to move.")


class ExecuteSplit(Arguments):
    entity_name: EntityName
    approved_splits: list[SplitItem] = Field(description="As propose_entity_split suggests them.")
    parent_entity_name: str | None = Field(
        None, description="Who contains the new entities; the original unless given."
    )


class FindDuplicates(Arguments):
    name: str = Field(validation_alias="entity_name", description="The entity's exact name.")
    threshold: float = Field(0.85, description="Minimum cosine of two duplicates.", ge=0, le=1)
    containment_threshold: float = Field(
        0.7, description="Minimum share of a short text's words in one twice as long.", ge=0, le=1
    )


class ReportOver(Arguments):
    stale_days: float = Field(90.0, description="Days without use that make an entity stale.", ge=0)


class AddReflection(Arguments):
    target_type: Literal["entity", "session", "relation", "global"] = Field(description="What it is about.")
    content: str = Field(description="Free prose.")
    author: str | None = Field(None, description="Who wrote it, e.g. nolan or sofia; any name will do.")
    mood: str | None = Field(
        None, description="frustracion, satisfaccion, curiosidad, duda, insight, or any other word."
    )
    target_id: int | None = Field(
        None, description="The entity_id or relation_id that open_nodes with details shows; none for global."
    )
    target_name: str | None = Field(None, description="Instead of target_id: the entity's name.")


class SearchReflections(Sized):
    query: str = Field(description="What to look for.")
    author: str | None = Field(None, description="Only those of this author.")
    mood: str | None = Field(None, description="Only those of this mood.")
    target_type: Literal["entity", "session", "relation", "global"] | None = Field(
        None, description="Only those about this."
    )
    limit: int = Field(10, description="How many at most.", ge=1, le=50)


@drawn(Analysis, without="id split_score", name="entity_name")
class AnalysisOut(Shape):
    split_score: Rounded


class Analysed(Shape):
    analysis: AnalysisOut


@drawn(Entity, only="name type")
class OriginalEntity(Shape):
    pass


@drawn(Entity, only="name type")
class SplitOut(Shape):
    observations: list[str]


@drawn(Relation, only="source target type", source="from", target="to", type="type")
class SplitRelationOut(Shape):
    pass


@drawn(Analysis, only="observation_count threshold")
class SplitNumbers(Shape):
    split_score: Rounded
    num_topics: int


class ProposalOut(Shape):
    original_entity: OriginalEntity
    splits: list[SplitOut] = Field(serialization_alias="suggested_splits")
    relations: list[SplitRelationOut] = Field(serialization_alias="relations_to_create")
    analysis: SplitNumbers


class Proposed(Shape):
    proposal: ProposalOut | None
    message: str | None = omitted()


class Executed(Shape):
    result: SplitDone


class SplitCandidates(Shape):
    candidates: list[AnalysisOut]


@drawn(Pair, only="a b match_type", a="obs_text_a", b="obs_text_b")
class DuplicatePair(Shape):
    similarity_score: Rounded


class DuplicatesFound(Shape):
    entity_name: str
    total_observations: int
    matches: list[DuplicatePair] = Field(serialization_alias="duplicate_pairs")
    groups: list[list[str]] = Field(serialization_alias="clusters")
    mode: str


class ReportCounts(Shape):
    entity_count: int = Field(serialization_alias="total_entities")
    observation_count: int = Field(serialization_alias="total_observations")
    split_candidate_count: int = Field(serialization_alias="split_candidates_count")
    flagged_count: int = Field(serialization_alias="flagged_observations_count")
    stale_count: int = Field(serialization_alias="stale_entities_count")
    large_count: int = Field(serialization_alias="large_entities_count")


@drawn(Analysis, only="name type observation_count threshold", name="entity_name")
class CandidateOut(Shape):
    split_score: Rounded


@drawn(FlaggedObservation, entity="entity_name", content="observation_text")
class FlaggedOut(Shape):
    similarity_flag: int = 1


@drawn(StaleEntity, without="last_at", name="entity_name", days_since="last_accessed_days_ago")
class StaleOut(Shape):
    type: str = Field(serialization_alias="entity_type")


@drawn(LargeEntity, name="entity_name")
class LargeOut(Shape):
    pass


class ReportOut(Shape):
    summary: ReportCounts
    split_candidates: list[CandidateOut]
    flagged: list[FlaggedOut] = Field(serialization_alias="flagged_observations")
    stale: list[StaleOut] = Field(serialization_alias="stale_entities")
    large: list[LargeOut] = Field(serialization_alias="large_entities")


class ReflectionResult(Shape):
    result: ReflectionOut


class ReflectionsFound(Shape):
    hits: list[ScoredReflection] = Field(serialization_alias="results")
    mode: str


@tool(title="Analyze an Entity for Splitting", annotations=READS)
def analyze_entity_split(engine: Engine, arguments: OneEntity) -> Analysed:
    """See whether an entity has more observations than its type allows, and which topics they fall into.

    Changes nothing. To get entities to split it into, use propose_entity_split.
    """
    return Analysed.of(analysis=engine.splitting.analyse(arguments.entity_name))


@tool(title="Propose an Entity Split", annotations=READS)
def propose_entity_split(engine: Engine, arguments: OneEntity) -> Proposed:
    """Suggest how to divide an overgrown entity into one per topic. Changes nothing.

    Read the suggestion, adapt it, and pass what you approve to execute_entity_split.
    """
    proposal = engine.splitting.propose(arguments.entity_name)
    if proposal is None:
        return Proposed(proposal=None, message="Entity does not need splitting")
    analysis = proposal.analysis
    numbers = SplitNumbers.of(analysis, num_topics=len(analysis.topics))
    return Proposed(proposal=ProposalOut.of(proposal, original_entity=analysis.entity, analysis=numbers))


@tool(title="Split an Entity", annotations=CHANGES)
def execute_entity_split(engine: Engine, arguments: ExecuteSplit) -> Executed:
    """Carry out a split that was approved: new entities are made, and observations move to them as they are.

    Everything happens, or nothing does. Each text must be an observation of the entity. Can be undone.
    """
    from mcp_memory.engine.splitting import Split

    outcome = engine.splitting.execute(
        arguments.entity_name,
        [item.fill(Split) for item in arguments.approved_splits],
        arguments.parent_entity_name,
    )
    return Executed.of(result=outcome)


@tool(title="Find Entities to Split", annotations=READS)
def find_split_candidates(engine: Engine) -> SplitCandidates:
    """List every entity with more observations than its type allows, with their topics. Changes nothing."""
    return SplitCandidates.of(candidates=engine.splitting.candidates())


@tool(title="Find Duplicate Observations", annotations=READS)
def find_duplicate_observations(engine: Engine, arguments: FindDuplicates) -> DuplicatesFound:
    """Find observations of one entity that say the same again, by meaning or one inside the other.

    Changes nothing: read the pairs (texts may be alike and still differ in a number or a name), then use
    delete_observations on those that are not needed.
    """
    found = engine.curation.duplicates(**arguments.values())
    return DuplicatesFound.of(found, entity_name=found.entity.name, total_observations=len(found.texts))


@tool(title="Consolidation Report", annotations=READS)
def consolidation_report(engine: Engine, arguments: ReportOver) -> ReportOut:
    """See what in the graph needs attention: overgrown, duplicated and long unused. Changes nothing.

    A good start for tidying up: then split, delete duplicates, or set the status of what is over.
    """
    report = engine.curation.report(arguments.stale_days)
    return ReportOut.of(report, summary=ReportCounts.of(report))


@tool(title="Add a Reflection", annotations=ADDS)
def add_reflection(engine: Engine, arguments: AddReflection) -> ReflectionResult:
    """Write down what something means: prose about an entity, a relation, a session or everything.

    For facts use add_observations; a reflection is for context, judgement and feeling.
    """
    target = arguments.target_name if arguments.target_id is None else arguments.target_id
    reflection = engine.reflections.add(
        arguments.target_type,
        arguments.content,
        target=target,
        author=arguments.author,
        mood=arguments.mood,
    )
    return ReflectionResult.of(result=reflection)


@tool(title="Search Reflections", annotations=READS)
def search_reflections(engine: Engine, arguments: SearchReflections) -> ReflectionsFound:
    """Find reflections by meaning and words, recent ones first; for facts use search_semantic."""
    return ReflectionsFound.of(engine.reflections.search(**arguments.values()))


TOOLS = (
    analyze_entity_split,
    propose_entity_split,
    execute_entity_split,
    find_split_candidates,
    find_duplicate_observations,
    consolidation_report,
    add_reflection,
    search_reflections,
)
