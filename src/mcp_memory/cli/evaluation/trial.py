"""Loads a dataset into its own database, and measures what recall finds in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path

from mcp_memory.cli.evaluation.dataset import Dataset, EvalQuestion, Line
from mcp_memory.embedding import Embedder, NoModel
from mcp_memory.engine import Context, Engine, Tuning
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.recall import Answer
from mcp_memory.model import Caller
from mcp_memory.ranking.decay import STRICT_FLOOR
from mcp_memory.ranking.metrics import ndcg_at, recall_at, reciprocal_rank
from mcp_memory.storage import Store
from mcp_memory.wiring import new_id

DEEPEST = 20
NO_TIME = timedelta(0)
FROZEN = datetime(2026, 1, 1, tzinfo=UTC)

Way = Callable[[Engine, str], Answer]
Progress = Callable[[int, int], None]

WAYS: dict[str, Way] = {
    "keyword": lambda engine, text: engine.recall.recall(
        text, mode="keyword", limit=DEEPEST, fading="gentle"
    ),
    "semantic": lambda engine, text: engine.recall.recall(
        text, mode="semantic", limit=DEEPEST, fading="gentle"
    ),
    "hybrid": lambda engine, text: engine.recall.recall(text, limit=DEEPEST, fading="gentle"),
    "recall_memories": lambda engine, text: engine.recall.recall(
        text, limit=DEEPEST, fading="strict", strict_floor=STRICT_FLOOR
    ),
    "memory_recall": lambda engine, text: engine.recall.recall_for_agent(text, limit=DEEPEST),
}
"""`recall_memories` uses strict fading, as its contract asks; all others use gentle fading."""


@dataclass(frozen=True, slots=True)
class Score:
    """The measures of one question, or their mean over several; 0 to 1."""

    recall_5: float
    recall_10: float
    recall_20: float
    any_5: float
    all_5: float
    mrr: float
    ndcg_10: float


@dataclass
class Clock:
    now: datetime = FROZEN

    def __call__(self) -> datetime:
        return self.now


@dataclass(frozen=True)
class EvalTrial:
    """A loaded dataset. With true dates its clock follows the memories' dates; otherwise it is fixed."""

    dataset: Dataset
    context: Context
    clock: Clock
    kept: dict[str, str]
    """Memory ids by line ids."""
    true_dates: bool

    def scores(self, way: str, *, after: timedelta = NO_TIME, without: Sequence[str] = ()) -> list[Score]:
        """Answers to every question, each asked this long after its own time or after the last memory."""
        tuning = replace(self.context.tuning, without=frozenset(without))
        engine = Engine(replace(self.context, tuning=tuning))
        return [self._score(engine, question, WAYS[way], after) for question in self.dataset.questions]

    def _score(self, engine: Engine, question: EvalQuestion, way: Way, after: timedelta) -> Score:
        if self.true_dates:
            self.clock.now = (question.as_of or self._last) + after
        answer = way(engine.acting_for(Caller(question.group)), question.text)
        found = [hit.memory.id for hit in answer.hits]
        relevant = {self.kept[id] for id in question.relevant if id in self.kept}
        return Score(
            recall_at(5, found, relevant),
            recall_at(10, found, relevant),
            recall_at(20, found, relevant),
            float(bool(relevant & set(found[:5]))),
            float(relevant <= set(found[:5])),
            reciprocal_rank(found, relevant),
            ndcg_at(10, found, dict.fromkeys(relevant, 1.0)),
        )

    @property
    def _last(self) -> datetime:
        return max((line.created_at or FROZEN for line in self.dataset.memories), default=FROZEN)


def load(
    dataset: Dataset,
    embedder: Embedder | NoModel,
    open_store: Callable[[Path], Store],
    cache: Path,
    *,
    true_dates: bool,
    progress: Progress,
) -> EvalTrial:
    """Load a dataset, or reuse the database of an earlier run; loading takes most of the time."""
    clock = Clock()
    name = _name(dataset, embedder, true_dates)
    note = cache / f"{name}.json"
    known = json.loads(note.read_text()) if note.exists() else None
    # Two runs may load the same data at once: each into its own file, named in the note once it is whole.
    database = cache / (known["database"] if known else f"{name}-{new_id()}.db")
    context = Context(
        store=open_store(database), embedder=embedder, clock=clock, new_id=new_id, tuning=Tuning(),
        records_use=False,
    )  # fmt: skip
    if known is None:
        kept = dict(_load(Engine(context), dataset, clock, progress, true_dates=true_dates))
        known = {"database": database.name, "ids": kept}
        written = database.with_suffix(".json")
        written.write_text(json.dumps(known))
        written.replace(note)
    clock.now = FROZEN
    return EvalTrial(dataset, context, clock, known["ids"], true_dates)


def _load(
    engine: Engine, dataset: Dataset, clock: Clock, progress: Progress, *, true_dates: bool
) -> Iterator[tuple[str, str]]:
    def moment(line: Line) -> datetime:
        return (line.created_at or FROZEN) if true_dates else FROZEN

    done = 0
    for group, lines in groupby(
        sorted(dataset.memories, key=lambda line: line.group), lambda line: line.group
    ):
        space = engine.acting_for(Caller(group))
        for line in sorted(lines, key=moment):
            clock.now = moment(line)
            yield line.id, space.memories.remember(NewMemory(content=line.text, tags=line.tags)).memory.id
            done += 1
            progress(done, len(dataset.memories))


def _name(dataset: Dataset, embedder: Embedder | NoModel, true_dates: bool) -> str:
    """Cache key: another model, other data or another tokenizer needs a new load."""
    from mcp_memory.text import function_words, stems, words

    model = "" if isinstance(embedder, NoModel) else embedder.card.fingerprint
    lines = [[line.id, line.text, line.group, str(line.created_at)] for line in dataset.memories]
    cut = [Path(str(module.__file__)).read_text("utf-8") for module in (words, stems, function_words)]
    return hashlib.sha256(json.dumps([model, true_dates, cut, lines]).encode()).hexdigest()[:20]


def mean(scores: Sequence[Score]) -> Score:
    means = (sum(getattr(one, name) for one in scores) / max(1, len(scores)) for name in Score.__slots__)
    return Score(*means)
