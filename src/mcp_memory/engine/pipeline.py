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
from mcp_memory.engine.indexing import ByWordsOnly, Indexing, Meaning
from mcp_memory.errors import Invalid
from mcp_memory.model import Owner
from mcp_memory.storage import Transaction
from mcp_memory.text.dates import Period, asked_for
from mcp_memory.text.preview import ends_of
from mcp_memory.text.words import query_terms, tokens

_QUOTED = re.compile('["\u201c\u00ab]([^"\u201c\u201d\u00ab\u00bb]+)["\u201d\u00bb]')

MOST_EMBEDDED = 1200
"""Characters of a query that are embedded: small models read no more."""

MOST_SEARCHED = 800
"""Characters whose words are searched for: about as many words as a search takes."""

C = TypeVar("C")
F = TypeVar("F")
R = TypeVar("R")

Note = Callable[[Transaction], None]
"""Records how results were used."""


@dataclass(frozen=True)
class Question:
    """A query, and its vector or the reason why there is none."""

    text: str
    meaning: Meaning | ByWordsOnly
    by_meaning_only: bool = False
    now: datetime | None = None
    """When it is asked: what `last week` counts from."""

    @cached_property
    def terms(self) -> list[str]:
        """The words to search for, stemmed."""
        return [] if self.by_meaning_only else query_terms(ends_of(self.text, MOST_SEARCHED))

    @cached_property
    def phrases(self) -> list[list[str]]:
        """Quoted phrases, as they are indexed."""
        return [cut for quoted in _QUOTED.findall(self.text) if len(cut := tokens(quoted)) > 1]

    @cached_property
    def names(self) -> frozenset[str]:
        """Words with a capital inside the query, as they are indexed."""
        words = self.text.split()[1:]
        return frozenset(
            token for word in words if word[:1].isupper() and not word.isupper() for token in tokens(word)[:1]
        )

    @cached_property
    def dates(self) -> tuple[Period, ...]:
        """The time that is asked for; empty if none is."""
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
        """Everything that may be meant, with what words, vectors or the graph say about it."""

    def fuse(self, question: Question, candidates: C) -> Mapping[int, float]:
        """One match score for each candidate."""

    def rerank(self, tx: Transaction, candidates: C, matches: Mapping[int, float]) -> Ranking[C, F]:
        """Final scores, from the match and from what else is known of each candidate."""

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
    meaning = by_words or Indexing(context).meaning(ends_of(query, MOST_EMBEDDED), owner)
    return Question(query, meaning, now=context.clock())


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
