"""Graph tools that keep a graph in order: splitting, duplicates, the report, and reflections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from mcp_memory.server.mcp.tools import ADDS, CHANGES, READS, Arguments, tool

if TYPE_CHECKING:
    from mcp_memory.engine import Engine
    from mcp_memory.engine.splitting import Analysis
    from mcp_memory.model import Reflection

EntityName = Annotated[str, Field(description="The entity's exact name.")]


class OneEntity(Arguments):
    entity_name: EntityName


class SplitItem(Arguments):
    name: Annotated[str, Field(description="The name of the new entity.")]
    entity_type: Annotated[str, Field(description="Its type, usually that of the original.")]
    observations: Annotated[
        list[str], Field(description="Exact texts of the original's observations to move.")
    ]


class ExecuteSplit(Arguments):
    entity_name: EntityName
    approved_splits: Annotated[list[SplitItem], Field(description="As propose_entity_split suggests them.")]
    parent_entity_name: Annotated[
        str | None, Field(description="Who contains the new entities; the original unless given.")
    ] = None


class FindDuplicates(Arguments):
    entity_name: EntityName
    threshold: Annotated[float, Field(description="Least cosine of two duplicates.", ge=0, le=1)] = 0.85
    containment_threshold: Annotated[
        float, Field(description="Least share of a short text's words in one twice as long.", ge=0, le=1)
    ] = 0.7


class ReportOver(Arguments):
    stale_days: Annotated[float, Field(description="Days without use that make an entity stale.", ge=0)] = (
        90.0
    )


class AddReflection(Arguments):
    target_type: Annotated[
        Literal["entity", "session", "relation", "global"], Field(description="What it is about.")
    ]
    content: Annotated[str, Field(description="Free prose.")]
    author: Annotated[
        str | None, Field(description="Who wrote it, e.g. nolan or sofia; any name will do.")
    ] = None
    mood: Annotated[
        str | None,
        Field(description="frustracion, satisfaccion, curiosidad, duda, insight, or any other word."),
    ] = None
    target_id: Annotated[
        int | None,
        Field(
            description="The entity_id or relation_id that open_nodes with details shows; none for global."
        ),
    ] = None
    target_name: Annotated[str | None, Field(description="Instead of target_id: the entity's name.")] = None


class SearchReflections(Arguments):
    query: Annotated[str, Field(description="What to look for.")]
    author: Annotated[str | None, Field(description="Only those of this author.")] = None
    mood: Annotated[str | None, Field(description="Only those of this mood.")] = None
    target_type: Annotated[
        Literal["entity", "session", "relation", "global"] | None, Field(description="Only those about this.")
    ] = None
    limit: Annotated[int, Field(description="How many at most.", ge=1, le=50)] = 10


class AnalysisOut(TypedDict):
    entity_name: str
    entity_type: str
    observation_count: int
    threshold: int
    needs_split: bool
    topics: dict[str, list[str]]
    split_score: float


class Analysed(TypedDict):
    analysis: AnalysisOut


class Original(TypedDict):
    name: str
    entity_type: str


class SplitOut(TypedDict):
    name: str
    entity_type: str
    observations: list[str]


RelationOut = TypedDict("RelationOut", {"from": str, "to": str, "type": str})


class SplitNumbers(TypedDict):
    observation_count: int
    threshold: int
    split_score: float
    num_topics: int


class ProposalOut(TypedDict):
    original_entity: Original
    suggested_splits: list[SplitOut]
    relations_to_create: list[RelationOut]
    analysis: SplitNumbers


class Proposed(TypedDict):
    proposal: ProposalOut | None
    message: NotRequired[str]


class SplitResult(TypedDict):
    new_entities: list[str]
    moved_observations: int
    relations_created: int
    original_observations_remaining: int


class Executed(TypedDict):
    result: SplitResult


class Candidates(TypedDict):
    candidates: list[AnalysisOut]


class DuplicatePair(TypedDict):
    obs_text_a: str
    obs_text_b: str
    similarity_score: float
    match_type: str


class DuplicatesFound(TypedDict):
    entity_name: str
    total_observations: int
    duplicate_pairs: list[DuplicatePair]
    clusters: list[list[str]]
    mode: str


class Summary(TypedDict):
    total_entities: int
    total_observations: int
    split_candidates_count: int
    flagged_observations_count: int
    stale_entities_count: int
    large_entities_count: int


class CandidateOut(TypedDict):
    entity_name: str
    entity_type: str
    observation_count: int
    threshold: int
    split_score: float


class FlaggedOut(TypedDict):
    entity_name: str
    observation_text: str
    similarity_flag: int


class StaleOut(TypedDict):
    entity_name: str
    entity_type: str
    last_accessed_days_ago: int
    access_count: int
    observation_count: int


class LargeOut(TypedDict):
    entity_name: str
    entity_type: str
    observation_count: int


class ReportOut(TypedDict):
    summary: Summary
    split_candidates: list[CandidateOut]
    flagged_observations: list[FlaggedOut]
    stale_entities: list[StaleOut]
    large_entities: list[LargeOut]


class ReflectionOut(TypedDict):
    id: int
    target_type: str
    target_id: int | None
    author: str
    content: str
    mood: str | None
    created_at: str


class ReflectionAdded(TypedDict):
    result: ReflectionOut


class ScoredReflection(ReflectionOut):
    score: float


class ReflectionsFound(TypedDict):
    results: list[ScoredReflection]
    mode: str


@tool(title="Analyze an Entity for Splitting", annotations=READS)
def analyze_entity_split(engine: Engine, arguments: OneEntity) -> Analysed:
    """See whether an entity has more observations than its type allows, and which topics they fall into.

    Changes nothing. To get entities to split it into, use propose_entity_split.
    """
    return {"analysis": _analysis(engine.splitting.analyse(arguments.entity_name))}


@tool(title="Propose an Entity Split", annotations=READS)
def propose_entity_split(engine: Engine, arguments: OneEntity) -> Proposed:
    """Suggest how to divide an overgrown entity into one per topic. Changes nothing.

    Read the suggestion, adapt it, and pass what you approve to execute_entity_split.
    """
    proposal = engine.splitting.propose(arguments.entity_name)
    if proposal is None:
        return {"proposal": None, "message": "Entity does not need splitting"}
    analysis = proposal.analysis
    return {
        "proposal": {
            "original_entity": {"name": analysis.entity.name, "entity_type": analysis.entity.type},
            "suggested_splits": [
                {"name": split.name, "entity_type": split.type, "observations": list(split.observations)}
                for split in proposal.splits
            ],
            "relations_to_create": [
                {"from": source, "to": target, "type": type} for source, target, type in proposal.relations
            ],
            "analysis": {
                "observation_count": analysis.observation_count,
                "threshold": analysis.threshold,
                "split_score": round(analysis.split_score, 4),
                "num_topics": len(analysis.topics),
            },
        }
    }


@tool(title="Split an Entity", annotations=CHANGES)
def execute_entity_split(engine: Engine, arguments: ExecuteSplit) -> Executed:
    """Carry out a split that was approved: new entities are made, and observations move to them as they are.

    Everything happens, or nothing does. Each text must be an observation of the entity. Can be undone.
    """
    from mcp_memory.engine.splitting import Split

    outcome = engine.splitting.execute(
        arguments.entity_name,
        [Split(item.name, item.entity_type, tuple(item.observations)) for item in arguments.approved_splits],
        arguments.parent_entity_name,
    )
    return {
        "result": {
            "new_entities": list(outcome.new_entities),
            "moved_observations": outcome.moved_observations,
            "relations_created": outcome.relations_created,
            "original_observations_remaining": outcome.original_observations_remaining,
        }
    }


@tool(title="Find Entities to Split", annotations=READS)
def find_split_candidates(engine: Engine) -> Candidates:
    """List every entity with more observations than its type allows, with their topics. Changes nothing."""
    return {"candidates": [_analysis(analysis) for analysis in engine.splitting.candidates()]}


@tool(title="Find Duplicate Observations", annotations=READS)
def find_duplicate_observations(engine: Engine, arguments: FindDuplicates) -> DuplicatesFound:
    """Find observations of one entity that say the same again, by meaning or one inside the other.

    Changes nothing: read the pairs (texts may be alike and still differ in a number or a name), then use
    delete_observations on those that are not needed.
    """
    found = engine.curation.duplicates(
        arguments.entity_name,
        threshold=arguments.threshold,
        containment_threshold=arguments.containment_threshold,
    )
    return {
        "entity_name": found.entity.name,
        "total_observations": len(found.texts),
        "duplicate_pairs": [
            {
                "obs_text_a": found.texts[pair.a],
                "obs_text_b": found.texts[pair.b],
                "similarity_score": round(pair.match.similarity_score, 4),
                "match_type": pair.match.match_type,
            }
            for pair in found.pairs
        ],
        "clusters": [[found.texts[place] for place in cluster] for cluster in found.clusters],
        "mode": found.mode,
    }


@tool(title="Consolidation Report", annotations=READS)
def consolidation_report(engine: Engine, arguments: ReportOver) -> ReportOut:
    """See what in the graph wants attention: overgrown, duplicated and long unused. Changes nothing.

    A good start for tidying up: then split, delete duplicates, or set the status of what is over.
    """
    report = engine.curation.report(arguments.stale_days)
    return {
        "summary": {
            "total_entities": report.entity_count,
            "total_observations": report.observation_count,
            "split_candidates_count": len(report.split_candidates),
            "flagged_observations_count": report.flagged_count,
            "stale_entities_count": report.stale_count,
            "large_entities_count": len(report.large),
        },
        "split_candidates": [
            {
                "entity_name": analysis.entity.name,
                "entity_type": analysis.entity.type,
                "observation_count": analysis.observation_count,
                "threshold": analysis.threshold,
                "split_score": round(analysis.split_score, 4),
            }
            for analysis in report.split_candidates
        ],
        "flagged_observations": [
            {"entity_name": flagged.entity, "observation_text": flagged.content, "similarity_flag": 1}
            for flagged in report.flagged
        ],
        "stale_entities": [
            {
                "entity_name": stale.name,
                "entity_type": stale.type,
                "last_accessed_days_ago": days,
                "access_count": stale.access_count,
                "observation_count": count,
            }
            for stale, days, count in report.stale
        ],
        "large_entities": [
            {"entity_name": entity.name, "entity_type": entity.type, "observation_count": count}
            for entity, count in report.large
        ],
    }


@tool(title="Add a Reflection", annotations=ADDS)
def add_reflection(engine: Engine, arguments: AddReflection) -> ReflectionAdded:
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
    return {"result": reflection_out(reflection)}


@tool(title="Search Reflections", annotations=READS)
def search_reflections(engine: Engine, arguments: SearchReflections) -> ReflectionsFound:
    """Find reflections by meaning and words, the recent first; for facts use search_semantic."""
    answer = engine.reflections.search(
        arguments.query,
        limit=arguments.limit,
        author=arguments.author,
        mood=arguments.mood,
        target_type=arguments.target_type,
    )
    results: list[ScoredReflection] = [
        {**reflection_out(hit.reflection), "score": round(hit.score, 4)} for hit in answer.hits
    ]
    return {"results": results, "mode": answer.mode}


def reflection_out(reflection: Reflection) -> ReflectionOut:
    return {
        "id": reflection.seq,
        "target_type": reflection.target_type,
        "target_id": reflection.target_seq,
        "author": reflection.author,
        "content": reflection.content,
        "mood": reflection.mood,
        "created_at": f"{reflection.created_at:%Y-%m-%d %H:%M:%S}",
    }


def _analysis(analysis: Analysis) -> AnalysisOut:
    return {
        "entity_name": analysis.entity.name,
        "entity_type": analysis.entity.type,
        "observation_count": analysis.observation_count,
        "threshold": analysis.threshold,
        "needs_split": analysis.needs_split,
        "topics": analysis.topics,
        "split_score": round(analysis.split_score, 4),
    }


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
