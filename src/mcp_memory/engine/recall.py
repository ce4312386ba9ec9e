"""Recalls memories, for a query or without one, best first."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from mcp_memory.engine.archived_memories import search_archived
from mcp_memory.engine.association_recall import AssociationSearch
from mcp_memory.engine.context import Topic, checked_limit, checked_offset
from mcp_memory.engine.drafts import checked_filter
from mcp_memory.engine.graph_recall import GraphSearch
from mcp_memory.engine.indexing import ByWordsOnly
from mcp_memory.engine.memories import entity_names
from mcp_memory.engine.memory_search import Answer, Hit, TextSearch, Wanted
from mcp_memory.engine.pipeline import Question, ask, search
from mcp_memory.errors import Invalid
from mcp_memory.model import AgentMode, Filter, Memory, SearchMode, SortOrder
from mcp_memory.ranking.decay import effective_confidence
from mcp_memory.tuning import Fading

__all__ = ["MOST_FOR_AGENT", "MOST_RESULTS", "Answer", "Hit", "Recall"]

MOST_RESULTS = 100
MOST_FOR_AGENT = 50
MOST_HOPS = 5

ARCHIVED_SCORE = 0.05
"""Score of an archived memory that contains every keyword: below all others."""

EVERYTHING = Filter()
_BY_CHOICE = ByWordsOnly("asked for")

_OWN_ORDER: Mapping[AgentMode, SortOrder] = {
    "recent": "recent",
    "important": "importance",
    "typed": "recent",
}


class Recall(Topic):
    def recall(
        self,
        query: str,
        *,
        mode: SearchMode = "hybrid",
        filter: Filter = EVERYTHING,
        entity_name: str | None = None,
        hops: int = 1,
        limit: int | None = None,
        offset: int = 0,
        explain: bool = False,
        fading: Fading | None = None,
        strict_floor: float | None = None,
        as_of: datetime | None = None,
        include_archived: bool = False,
        max_tokens: int | None = None,
    ) -> Answer:
        """Memories for a query, scored by how well they match and by how far they have faded.

        `fading` defaults to the setting. Under strict fading, memories below `strict_floor` are hidden
        unless the filter names a confidence of its own; gentle fading hides nothing.

        `entity_name` restricts the search to memories about that entity. In graph mode the search starts
        there and follows up to `hops` relations. Returned memories are reinforced after scoring.
        With `as_of`, what was known at that moment is searched, and nothing is reinforced.
        `include_archived` adds archived memories that hold words of the query, after all others.
        `max_tokens` is a budget: as many results as fit, then what was said around the best of them.
        """
        context = self._context
        fading = fading or context.tuning.fading
        if fading == "strict" and filter.min_confidence is None:
            filter = replace(filter, min_confidence=strict_floor)
        wanted = Wanted(
            filter=checked_filter(filter),
            limit=checked_limit(context.tuning.search_limit if limit is None else limit, MOST_RESULTS),
            offset=checked_offset(offset),
            explain=explain,
            fading=fading,
            max_tokens=_checked_budget(max_tokens),
        )
        hops = _checked_hops(hops)
        question = ask(context, query, "memory", by_words=_BY_CHOICE if mode == "keyword" else None)
        if mode == "graph":
            return search(
                context, question, GraphSearch(context.tuning, wanted, entity_name, hops), as_of=as_of
            )
        plan = TextSearch(context.tuning, wanted, mode, entity_name)
        answer = search(context, question, plan, as_of=as_of)
        if entity_name is None and as_of is None:
            answer = self._with_further_spaces(answer, question, plan)
        return self._with_archived(answer, query, wanted) if include_archived else answer

    def recall_for_agent(
        self,
        query: str | None = None,
        *,
        mode: AgentMode = "hybrid",
        filter: Filter = EVERYTHING,
        sort_by: SortOrder | None = None,
        limit: int = 10,
        explain: bool = False,
        include_archived: bool = False,
        max_tokens: int | None = None,
    ) -> Answer:
        """Memories for an agent: for a query, or the newest, the most important, those of one type.

        `sort_by` orders what is chosen without a query; each mode has an order of its own. With `max_tokens`
        a hybrid search answers with as much as fits, and shows what was said around the best results.
        """
        max_tokens = _checked_budget(max_tokens)
        checked_limit(limit, MOST_FOR_AGENT)
        filter = checked_filter(filter)
        if mode == "hybrid":
            wanted = Wanted(filter=filter, limit=limit, explain=explain, max_tokens=max_tokens)
            plan = AssociationSearch(self._context.tuning, wanted)
            question = ask(self._context, query or "", "memory")
            answer = self._with_further_spaces(search(self._context, question, plan), question, plan)
            return self._with_archived(answer, query or "", wanted) if include_archived else answer
        if mode == "typed" and not filter.types:
            raise Invalid("typed mode needs a type: say which type to list")
        answer = self._choose(mode, filter, sort_by, limit)
        self._context.reinforce([hit.memory.seq for hit in answer.hits])
        return answer

    def _with_archived(self, answer: Answer, query: str, wanted: Wanted) -> Answer:
        room = wanted.limit - len(answer.hits)
        if room <= 0:
            return answer
        half_life = self._context.tuning.half_life
        with self._context.reading() as tx:
            found = search_archived(tx, query, wanted.filter, limit=room, half_life=half_life)
            names = entity_names(tx, [memory for memory, _ in found])
        hits = [
            Hit(
                memory=memory,
                score=share * ARCHIVED_SCORE,
                effective_confidence=0.0,
                entities=names[memory.id],
            )
            for memory, share in found
        ]
        return replace(answer, hits=(*answer.hits, *hits), total=answer.total + len(hits))

    def _with_further_spaces(
        self, answer: Answer, question: Question, plan: TextSearch | AssociationSearch
    ) -> Answer:
        """The best results of all spaces that the caller reads; further pages are of its own space."""
        further = [] if plan.wanted.offset else self._context.further
        if not further:
            return answer
        others = [search(one, question, plan) for one in further]
        hits = [
            *answer.hits,
            *(
                replace(hit, space=context.caller.space)
                for context, other in zip(further, others, strict=True)
                for hit in other.hits
            ),
        ]
        best = sorted(hits, key=lambda hit: -hit.score)[: plan.wanted.limit]
        return replace(answer, hits=tuple(best), total=answer.total + sum(one.total for one in others))

    def _choose(self, mode: AgentMode, filter: Filter, sort_by: SortOrder | None, limit: int) -> Answer:
        """The first memories in the mode's order, superseded ones last, then sorted for display."""
        order = _OWN_ORDER[mode] if mode != "typed" else sort_by or _OWN_ORDER[mode]
        half_life = self._context.tuning.half_life
        with self._context.reading() as tx:
            total = tx.memories.count(filter, half_life=half_life)
            memories: list[Memory] = []
            for superseded in (False, True):
                if len(memories) == limit:
                    break
                wanted = replace(filter, superseded=superseded)
                memories += tx.memories.find(
                    wanted, order=order, limit=limit - len(memories), half_life=half_life
                )
            names = entity_names(tx, memories)
            now = tx.at
        shown = sorted(memories, key=_SORTING[sort_by]) if sort_by else memories
        hits = tuple(
            Hit(
                memory=memory,
                score=1 - rank / len(shown),
                effective_confidence=effective_confidence(
                    memory.confidence,
                    memory.last_used_at,
                    now,
                    half_life,
                    memory.pinned_at is not None,
                    memory.captured_at is not None,
                ),
                entities=names[memory.id],
            )
            for rank, memory in enumerate(shown)
        )
        return Answer(mode=mode, hits=hits, total=total)


_SORTING: Mapping[SortOrder, Callable[[Memory], tuple[float, float, int]]] = {
    "recent": lambda memory: (0, -memory.created_at.timestamp(), -memory.seq),
    "importance": lambda memory: (-memory.importance, -memory.created_at.timestamp(), -memory.seq),
    "most_accessed": lambda memory: (-memory.access_count, -memory.created_at.timestamp(), -memory.seq),
}


def _checked_budget(max_tokens: int | None) -> int | None:
    if max_tokens is not None and max_tokens < 1:
        raise Invalid(f"max_tokens must be 1 or more, not {max_tokens}")
    return max_tokens


def _checked_hops(hops: int) -> int:
    if not 1 <= hops <= MOST_HOPS:
        raise Invalid(f"hops must be between 1 and {MOST_HOPS}, not {hops}")
    return hops
