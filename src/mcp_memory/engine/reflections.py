"""Prose that gives meaning: reflections about an entity, a relation, a session or everything."""

from dataclasses import dataclass

from mcp_memory.engine.context import Topic, checked_limit, checked_query, checked_text
from mcp_memory.engine.indexing import Indexing, Meaning
from mcp_memory.errors import Invalid
from mcp_memory.model import Reflection, ReflectionTarget
from mcp_memory.ranking.fusion import best_first, rrf
from mcp_memory.ranking.limbic import LimbicWeights, temporal_factor
from mcp_memory.storage import Transaction
from mcp_memory.text.words import query_terms

OVERFETCH = 3
"""Candidates from each list, per result that is wanted."""

TARGETS: tuple[ReflectionTarget, ...] = ("entity", "session", "relation", "global")
FADING = LimbicWeights()
"""Reflections fade as entities do."""

LONGEST = 20_000
"""Characters of one reflection."""


@dataclass(frozen=True, slots=True)
class ReflectionHit:
    reflection: Reflection
    score: float
    """0 to 1: how well it fits, faded by its age."""


@dataclass(frozen=True, slots=True)
class ReflectionAnswer:
    mode: str
    hits: tuple[ReflectionHit, ...]


class Reflections(Topic):
    def add(
        self,
        target_type: str,
        content: str,
        *,
        target: int | str | None = None,
        author: str | None = None,
        mood: str | None = None,
    ) -> Reflection:
        """Keep a reflection. `target` is the number of an entity or relation, or an entity's name."""
        checked_text(content, "a reflection", most=LONGEST)
        author = checked_text(author or self._context.tuning.author, "the author", most=100)
        if mood is not None:
            checked_text(mood, "the mood", most=100)
        kind = _target_type(target_type)
        with self._context.writing() as tx:
            reflection = tx.reflections.add(
                id=self._context.new_id(),
                target_type=kind,
                target_seq=_target_seq(tx, kind, target),
                author=author,
                content=content,
                mood=mood,
            )
            tx.journal.record(
                "reflection_added", reflection.id, id=reflection.id, target_type=kind, author=author
            )
        return reflection

    def about_entities(self, seqs: list[int]) -> dict[int, list[Reflection]]:
        """By entity, oldest first."""
        found: dict[int, list[Reflection]] = {}
        with self._context.reading() as tx:
            for reflection in tx.reflections.about("entity", seqs):
                if reflection.target_seq is not None:
                    found.setdefault(reflection.target_seq, []).append(reflection)
        return found

    def search(
        self,
        query: str,
        *,
        limit: int,
        author: str | None = None,
        mood: str | None = None,
        target_type: str | None = None,
    ) -> ReflectionAnswer:
        """By meaning and words together, the recent before the old. Filters act before the limit."""
        checked_query(query, self._context.limits)
        checked_limit(limit, self._context.limits.entities)
        if target_type is not None:
            _target_type(target_type)
        meaning = Indexing(self._context).meaning(query, "reflection")
        with self._context.reading() as tx:
            allowed = tx.reflections.allowed(author=author, mood=mood, target_type=target_type)
            by_words = tx.indexes.matching("reflection", query_terms(query), allowed, limit * OVERFETCH)
            by_meaning = (
                tx.indexes.nearest("reflection", meaning.model, meaning.vector, allowed, limit * OVERFETCH)
                if isinstance(meaning, Meaning)
                else []
            )
            fits = _fits(dict(by_meaning), [seq for seq, _ in by_words])
            found = tx.reflections.fetch(fits)
            scores = {
                seq: fit * temporal_factor(found[seq].created_at, tx.at, FADING)
                for seq, fit in fits.items()
                if seq in found
            }
        best = list(best_first(scores).items())[:limit]
        mode = "hybrid" if isinstance(meaning, Meaning) else f"keyword only: {meaning.reason}"
        return ReflectionAnswer(mode, tuple(ReflectionHit(found[seq], score) for seq, score in best))


def _fits(cosines: dict[int, float], by_words: list[int]) -> dict[int, float]:
    """The fused ranks, scaled so that first in every list is 1, with the cosine where there is one."""
    lists = [ranking for ranking in (list(cosines), by_words) if ranking]
    fused = rrf(lists)
    highest = sum(rrf([[0]]).values()) * max(len(lists), 1)
    if not cosines:
        return {seq: score / highest for seq, score in fused.items()}
    return {
        seq: (score / highest + min(1.0, max(0.0, cosines.get(seq, 0.0)))) / 2 for seq, score in fused.items()
    }


def _target_type(given: str) -> ReflectionTarget:
    for target in TARGETS:
        if given == target:
            return target
    raise Invalid(f"target_type must be one of {', '.join(TARGETS)}, not {given!r}")


def _target_seq(tx: Transaction, kind: ReflectionTarget, target: int | str | None) -> int | None:
    if kind in ("session", "global"):
        if target is not None and (kind == "global" or isinstance(target, str)):
            raise Invalid(f"a reflection about a {kind} has no target: leave it out")
        return target if isinstance(target, int) else None
    if target is None:
        raise Invalid(f"say which {kind}: open_nodes with details shows the ids; an entity's name does too")
    if kind == "relation":
        if isinstance(target, str):
            raise Invalid("a relation is named by its relation_id: open_nodes with details shows it")
        return tx.relations.get_seq(target).seq
    return (tx.entities.get(target) if isinstance(target, str) else tx.entities.get_seq(target)).seq
