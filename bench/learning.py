"""Whether the ranking learns what its users want, and what remembering searches costs.

    python bench/learning.py [--seeds 3] [--entities 10000] [--write]

Simulated users live with a graph for some weeks: they open entities, search, and open what they wanted if the
search showed it. They know what they want; the program does not, and is tuned once a week from what it has
noted. Then they ask what nobody has asked before, on one unchanging state of the database, once with the
weights it began with and once with those it learnt. `--write` puts the figures into docs/learning.md.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
import statistics
import tempfile
import time
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mcp_memory.embedding import Embedder, ModelCard, NoModel, Purpose, open_embedder
from mcp_memory.engine import Context, Engine, Limits, Tuning
from mcp_memory.errors import Invalid, Unavailable
from mcp_memory.inputs import NewEntity
from mcp_memory.model import Caller
from mcp_memory.ranking.limbic import LimbicWeights
from mcp_memory.ranking.metrics import ndcg_at, reciprocal_rank
from mcp_memory.storage import Store, Transaction
from mcp_memory.storage.sqlite.database import SqliteDatabase
from mcp_memory.wiring import new_id

PAGE = Path(__file__).parents[1] / "docs/learning.md"
TOPICS = (
    "harbour", "kitchen", "garden", "engine", "budget", "holiday", "school", "hospital", "museum", "forest",
    "bakery", "railway", "theatre", "airport", "library", "vineyard", "factory", "stadium", "market", "tower",
)  # fmt: skip
ASPECTS = ("plan", "cost", "team", "risk", "history", "schedule", "supplies", "permits")
COLOURS = ("red", "blue", "green", "amber", "violet", "white", "black", "silver")
PER_TOPIC = 8
WEEKS = 12
SEARCHES_A_DAY = 4
LIMIT = 5
UNSEEN = 8
"""Questions about each topic, of 28, that are asked in the examination only."""

Name = str


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 5, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        self.now += timedelta(**by)


class Unchanging(Store):
    """Examining must not count as use."""

    def write(  # type: ignore[override]  # never entered, so any context will do
        self, caller: Caller, at: datetime, act: str, *, durable: bool = True
    ) -> AbstractContextManager[Transaction]:
        raise Unavailable("nothing is written during an examination")


@dataclass(frozen=True)
class Question:
    text: str
    wanted: tuple[Name, ...]


class Users:
    """People who know what they want."""

    title: ClassVar[str]

    def __init__(self, context: Context, clock: Clock, chance: random.Random) -> None:
        self.engine = Engine(context)
        self.examined = Engine(replace(context, store=Unchanging(context.store.database)))
        self.clock = clock
        self.chance = chance
        self.aspects: dict[Name, tuple[str, ...]] = {}
        self.pairs = {topic: chance.sample(list(combinations(ASPECTS, 2)), 28) for topic in TOPICS}
        for topic in TOPICS:
            self.engine.graph.create_entities([self._entity(topic, number) for number in range(PER_TOPIC)])
        self.engine.indexing.catch_up("entity", 10_000)

    @abstractmethod
    def work_on(self, topic: str) -> None:
        """What happens on an ordinary day, apart from searching."""

    @abstractmethod
    def wanted(self, topic: str, aspects: Sequence[str]) -> tuple[Name, ...]: ...

    def live(self) -> None:
        """Work, search, and tune once a week."""
        for day in range(WEEKS * 7):
            self.clock.now = self.clock.now.replace(hour=9, minute=0) + timedelta(days=1)
            for topic in self.chance.sample(TOPICS, 8):
                self.work_on(topic)
            for _ in range(SEARCHES_A_DAY):
                self.clock.advance(minutes=40)
                topic = self.chance.choice(TOPICS)
                self._search(self._question(topic, self.chance.choice(self.pairs[topic][UNSEEN:])))
            if day % 7 == 6:
                self._tune()

    def unseen(self) -> list[Question]:
        return [self._question(topic, pair) for topic in TOPICS for pair in self.pairs[topic][:UNSEEN]]

    def satisfaction(self, questions: Sequence[Question]) -> list[tuple[float, float]]:
        """NDCG@5 and reciprocal rank of each search, as the users see it."""
        found = []
        for question in questions:
            hits = self.examined.entities.search(question.text, LIMIT).hits
            names = [hit.node.entity.name for hit in hits]
            grades = dict.fromkeys(question.wanted, 1.0)
            found.append((ndcg_at(LIMIT, names, grades), reciprocal_rank(names, question.wanted)))
        return found

    def _question(self, topic: str, aspects: tuple[str, str]) -> Question:
        text = f"notes on the {topic} {aspects[0]} and {aspects[1]}"
        return Question(text, self.wanted(topic, aspects))

    def _search(self, question: Question) -> None:
        shown = [hit.node.entity.name for hit in self.engine.entities.search(question.text, LIMIT).hits]
        opened = [name for name in question.wanted if name in shown]
        self.clock.advance(minutes=2)
        for name in opened:
            self.engine.graph.open_nodes([name])

    def _tune(self) -> None:
        with suppress(Invalid):  # too little to learn from, in the first weeks
            self.engine.learning.tune()

    def _entity(self, topic: str, number: int) -> NewEntity:
        name = f"{topic.title()} {COLOURS[number]}"
        self.aspects[name] = tuple(self.chance.sample(ASPECTS, 5))
        facts = tuple(f"The {COLOURS[number]} {topic} file has notes on the {a}" for a in self.aspects[name])
        return NewEntity(name=name, type="File", observations=facts)


def names(topic: str, numbers: Sequence[int]) -> tuple[Name, ...]:
    return tuple(f"{topic.title()} {COLOURS[number]}" for number in numbers)


class Regulars(Users):
    title = "regulars, who want the two files of a topic that they use daily"

    def work_on(self, topic: str) -> None:
        self.engine.graph.open_nodes([self.chance.choice(names(topic, (1, 4)))])

    def wanted(self, topic: str, aspects: Sequence[str]) -> tuple[Name, ...]:
        return names(topic, (1, 4))


class Explorers(Users):
    title = "explorers, who want what fits the question, and never the files that everybody uses"

    def work_on(self, topic: str) -> None:
        self.engine.graph.open_nodes([self.chance.choice(names(topic, (1, 4)))])

    def wanted(self, topic: str, aspects: Sequence[str]) -> tuple[Name, ...]:
        others = names(topic, (0, 2, 3, 5, 6, 7))
        fitting = [name for name in others if set(aspects) <= set(self.aspects[name])]
        return tuple(fitting) or others[:1]


class Teams(Users):
    title = (
        "teams, who want the three files that they always open together; others are opened as often, alone"
    )

    def work_on(self, topic: str) -> None:
        if self.chance.random() < 0.5:
            self.engine.graph.open_nodes(list(names(topic, (1, 4, 6))))
        else:
            for name in names(topic, (0, 2, 3)):
                self.engine.graph.open_nodes([name])

    def wanted(self, topic: str, aspects: Sequence[str]) -> tuple[Name, ...]:
        return names(topic, (1, 4, 6))


@dataclass(frozen=True)
class Examined:
    gamma: float
    beta: float
    before: list[tuple[float, float]]
    after: list[tuple[float, float]]


def examine(kind: type[Users], embedder: Embedder, seed: int) -> Examined:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(SqliteDatabase(Path(folder) / "memory.db", "NORMAL")).open()
        clock = Clock()
        context = Context(
            store=store, embedder=embedder, clock=clock, new_id=new_id, caller=Caller(client="users")
        )
        users = kind(context, clock, random.Random(seed))
        users.live()
        learning = users.engine.learning
        learnt = learning.weights()
        questions = users.unseen()
        after = users.satisfaction(questions)
        defaults = LimbicWeights()
        learning.set_weights(gamma=defaults.gamma, beta_sal=defaults.beta_sal)
        before = users.satisfaction(questions)
        store.close()
        return Examined(learnt.gamma, learnt.beta_sal, before, after)


def learning_figures(embedder: Embedder, seeds: int) -> Iterator[str]:
    yield f"After {WEEKS} weeks, over {seeds} runs with {len(TOPICS) * UNSEEN} unseen searches each:\n"
    yield "| users | gamma | beta | NDCG@5 untuned | tuned | MRR untuned | tuned | better / worse |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for kind in (Regulars, Explorers, Teams):
        runs = [examine(kind, embedder, seed) for seed in range(seeds)]
        pairs = [pair for run in runs for pair in zip(run.before, run.after, strict=True)]
        gamma = statistics.mean(run.gamma for run in runs)
        beta = statistics.mean(run.beta for run in runs)
        (ndcg, tuned_ndcg), (mrr, tuned_mrr) = (
            [statistics.mean(side[metric] for side in sides) for sides in zip(*pairs, strict=True)]
            for metric in (0, 1)
        )
        better = sum(after[0] > before[0] for before, after in pairs)
        worse = sum(after[0] < before[0] for before, after in pairs)
        yield (
            f"| {kind.title} | {gamma:.3f} | {beta:.2f} | {ndcg:.3f} | **{tuned_ndcg:.3f}** "
            f"| {mrr:.3f} | **{tuned_mrr:.3f}** | {better} / {worse} |"
        )
    yield "\nUntuned: gamma 0.01, beta 0.5."


class RandomVectors:
    """What a search costs does not depend on what vectors mean."""

    card = ModelCard(name="random", dimensions=384, fingerprint="random")

    def embed(self, texts: Sequence[str], purpose: Purpose) -> NDArray[np.float32]:
        rows = np.stack([self._row(text) for text in texts])
        unit: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def _row(self, text: str) -> NDArray[np.float64]:
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
        return np.random.default_rng(seed).standard_normal(384)


VOCABULARY = ["".join(random.Random(i).choices("abcdefghijklmnop", k=6)) for i in range(2000)]


def cost_figures(entities: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(SqliteDatabase(Path(folder) / "memory.db")).open()
        context = Context(
            store=store,
            embedder=RandomVectors(),
            clock=lambda: datetime.now(UTC),
            new_id=new_id,
            limits=Limits(entities=500),
        )
        chance = random.Random(7)
        fill(Engine(context), entities, chance)
        costs = search_costs(context, [" ".join(chance.choices(VOCABULARY, k=4)) for _ in range(60)])
        store.close()
    yield f"One search for 10 results among {entities:,} entities with three observations each, on SQLite:\n"
    yield "| what is noted | CPU ms, median |"
    yield "|---|--:|"
    yield from (f"| {what} | {milliseconds:.1f} |" for what, milliseconds in costs.items())


def fill(engine: Engine, entities: int, chance: random.Random) -> None:
    for start in range(0, entities, 500):
        engine.graph.create_entities(
            [
                NewEntity(
                    name=f"Entity {number}",
                    type=chance.choice(VOCABULARY),
                    observations=tuple(" ".join(chance.choices(VOCABULARY, k=9)) for _ in range(3)),
                )
                for number in range(start, start + 500)
            ]
        )
    engine.indexing.catch_up("entity", entities)


def search_costs(context: Context, queries: Sequence[str]) -> dict[str, float]:
    """In rounds, so that a busy machine is as unfair to each."""
    engines = {
        "nothing": Engine(replace(context, store=Unchanging(context.store.database))),
        "use, but no log": Engine(replace(context, tuning=Tuning(search_log_size=0))),
        "use, and both rankings in the log": Engine(context),
    }
    spent: dict[str, list[float]] = {what: [] for what in engines}
    for _ in range(5):
        for what, engine in engines.items():
            for query in queries:
                began = time.process_time()
                engine.entities.search(query, 10)
                spent[what].append((time.process_time() - began) * 1000)
    return {what: statistics.median(costs) for what, costs in spent.items()}


def put(page: Path, mark: str, figures: str) -> None:
    text = page.read_text("utf-8")
    pattern = rf"(<!-- {mark} -->\n).*?(\n<!-- end of {mark} -->)"
    page.write_text(re.sub(pattern, lambda m: f"{m[1]}\n{figures}\n{m[2]}", text, flags=re.DOTALL), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--entities", type=int, default=10_000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        embedder = open_embedder(
            "local", "all-MiniLM-L6-v2", 0, models_dir=Path(cache), cache_dir=Path(cache)
        )
        if isinstance(embedder, NoModel):
            raise SystemExit(embedder.reason)
        learnt = "\n".join(learning_figures(embedder, options.seeds))
    print(learnt, flush=True)
    cost = "\n".join(cost_figures(options.entities))
    print(cost)
    if options.write:
        put(PAGE, "what was learnt", learnt)
        put(PAGE, "what it costs", cost)


if __name__ == "__main__":
    main()
