"""The search pipeline: candidates → fusion → re-rank → hydrate → remember.

Every search runs through `search`. What differs between tools is the `Plan` they plug in.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from mcp_memory.engine.context import Context, checked_query
from mcp_memory.engine.indexing import ByWordsOnly, Indexing, Meaning, Soon
from mcp_memory.errors import Invalid
from mcp_memory.model import Owner
from mcp_memory.storage import Transaction
from mcp_memory.text.dates import Period, asked_for
from mcp_memory.text.preview import ends_of
from mcp_memory.text.questions import asks_for_overview, asks_for_several
from mcp_memory.text.stems import function_words, language_of, stems
from mcp_memory.text.thesaurus import near_words
from mcp_memory.text.words import MOST_TERMS, query_terms, tokens

_QUOTED = re.compile('["\u201c\u00ab]([^"\u201c\u201d\u00ab\u00bb]+)["\u201d\u00bb]')

MOST_EMBEDDED = 1200
"""Characters of a query that are embedded; small models read no more."""

MOST_SEARCHED = 800
"""Characters of a query that are split into keywords: about as many as a search takes."""

C = TypeVar("C")
F = TypeVar("F")
R = TypeVar("R")

Note = Callable[[Transaction], None]
"""Records how results were used."""


@dataclass(frozen=True)
class Question:
    """A query, and its vector or the reason why there is none."""

    text: str
    soon: Soon
    """The vector, which may be computed while words are searched."""
    by_meaning_only: bool = False
    now: datetime | None = None
    """The time of the query, from which `last week` counts."""
    by_language: bool = True
    """Whether stems and function words of the query's own language are known; see `text.stems`."""

    @cached_property
    def meaning(self) -> Meaning | ByWordsOnly:
        return self.soon.wait()

    @cached_property
    def terms(self) -> list[str]:
        """The words to search for, stemmed."""
        if self.by_meaning_only:
            return []
        text = ends_of(self.text, MOST_SEARCHED)
        return query_terms(text, without=function_words(text) if self.by_language else ())

    @cached_property
    def sought(self) -> list[str]:
        """The words to search for, and their stems in the language of the query if it is not English."""
        if self.by_meaning_only or not self.by_language:
            return self.terms
        text = ends_of(self.text, MOST_SEARCHED)
        return list(dict.fromkeys([*self.terms, *stems(text, language_of(text))]))[:MOST_TERMS]

    @cached_property
    def phrases(self) -> list[list[str]]:
        """Quoted phrases, as they are indexed."""
        return [cut for quoted in _QUOTED.findall(self.text) if len(cut := tokens(quoted)) > 1]

    @cached_property
    def names(self) -> frozenset[str]:
        """Capitalised words within the query, as they are indexed."""
        words = self.text.split()[1:]
        return frozenset(
            token for word in words if word[:1].isupper() and not word.isupper() for token in tokens(word)[:1]
        )

    @cached_property
    def asks_for_several(self) -> bool:
        """Whether the answer is spread over several memories: a list, a count, a conclusion."""
        return asks_for_several(ends_of(self.text, MOST_SEARCHED))

    @cached_property
    def asks_for_overview(self) -> bool:
        """Whether a summary is asked for, or the order in which things came up."""
        return asks_for_overview(ends_of(self.text, MOST_SEARCHED))

    @cached_property
    def near_words(self) -> list[Mapping[str, float]]:
        """For each word to search for, those near in meaning; none for names and in other languages."""
        if len(self.sought) > len(self.terms):
            return [{} for _ in self.sought]
        return [{} if term in self.names else near_words(term) for term in self.terms]

    @cached_property
    def dates(self) -> tuple[Period, ...]:
        """The period that the query names; empty if none."""
        return asked_for(ends_of(self.text, MOST_SEARCHED), self.now) if self.now else ()

    def without_words(self) -> "Question":
        return replace(self, by_meaning_only=True)


def _unexplained(seq: int) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class Ranking(Generic[C, F]):
    """Scored candidates, best first."""

    candidates: C
    scores: Mapping[int, float]
    """By the numbers of what was found, best first."""
    factors: Mapping[int, F]
    """What re-ranking used besides the match."""
    explained: Callable[[int], Mapping[str, Any]] = _unexplained


class Plan(Protocol[C, F, R]):
    """The steps that a tool plugs into the pipeline."""

    def candidates(self, tx: Transaction, question: Question) -> C:
        """The candidates, with their scores by keywords, vectors or the graph."""

    def fuse(self, question: Question, candidates: C) -> Mapping[int, float]:
        """One match score for each candidate."""

    def rerank(self, tx: Transaction, candidates: C, matches: Mapping[int, float]) -> Ranking[C, F]:
        """Final scores, from the match and the other facts about each candidate."""

    def hydrate(self, tx: Transaction, question: Question, ranking: Ranking[C, F]) -> R:
        """The answer: rows of the best candidates."""

    def remember(self, question: Question, ranking: Ranking[C, F], answer: R) -> Note | None:
        """The usage to record for the results."""


def ask(context: Context, query: str, owner: Owner, *, by_words: ByWordsOnly | None = None) -> Question:
    """A checked query with its vector; `by_words` gives the reason to search without one."""
    limits = context.limits
    most = limits.recall_length if owner == "memory" else limits.query_length
    if not checked_query(query, most).strip():
        raise Invalid("the query is empty: say what to look for, in words that memories may contain")
    now = context.clock()
    if by_words is not None:
        return Question(query, Soon(lambda: by_words), now=now)
    return Question(query, Indexing(context).meaning(ends_of(query, MOST_EMBEDDED), owner), now=now)


def search(context: Context, question: Question, plan: Plan[C, F, R], *, as_of: datetime | None = None) -> R:
    """Run a plan in one read transaction; use is recorded afterwards, so results are as they were before.

    A search as of an earlier moment is no use.
    """
    with context.reading(as_of=as_of) as tx:
        candidates = plan.candidates(tx, question)
        matches = plan.fuse(question, candidates)
        ranking = plan.rerank(tx, candidates, matches)
        answer = plan.hydrate(tx, question, ranking)
    note = plan.remember(question, ranking, answer) if as_of is None else None
    if note is not None:
        context.note_in_passing(note)
    return answer
