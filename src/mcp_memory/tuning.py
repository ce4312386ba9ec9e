"""The numbers the engine works with, and their defaults. Settings take their defaults from here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Literal

Fading = Literal["strict", "gentle"]
"""How far faded confidence lowers a result: `strict` multiplies by it, `gentle` by 0.9 to 1."""

PruneMode = Literal["archive", "delete"]
"""What pruning does to a faded memory: archive it (restorable), or delete it (undoable for a while)."""

SecretPolicy = Literal["allow", "redact", "refuse"]
QUARANTINED_ORIGINS = ("import", "web", "tool")

SIGNALS = (
    "words",
    "meaning",
    "neighbours",
    "conversation",
    "thread",
    "turns",
    "feedback",
    "proximity",
    "names",
    "thesaurus",
    "several",
    "language",
    "stems",
    "dates",
    "instructions",
    "overview",
)
"""Ranking signals: BM25, vectors, the score and the text of neighbours, the meaning of a turn in its thread,
dialogue turns, rare words of the best results, word order, names, near words and a named person's turns for
questions that ask for several things, language, stems by language, the period that a query names,
standing instructions, and words before vectors for requests for an overview.
"""

SPLIT_THRESHOLDS: Mapping[str, int] = {"Sesion": 15, "Proyecto": 25, "Session": 15, "Project": 25}
SPLIT_THRESHOLD = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Limits on the input of one call. Beyond them the call is refused and nothing is written."""

    entities: int = 50
    observations: int = 100
    observation_length: int = 2000
    query_length: int = 500
    """Of the graph tool set's three searches."""
    recall_length: int = 20_000
    """Of a query for memories, which may be a whole prompt."""
    names: int = 1000
    """Of entities or relations that a call reads, extends or connects."""
    content_bytes: int = 50_000
    name_length: int = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Tuning:
    """How memories are found, how they fade, and how long the past is kept."""

    half_life: timedelta = timedelta(days=30)
    prune_threshold: float = 0.05
    prune_limit: int = 1000
    prune_mode: PruneMode = "archive"
    important: float = 0.8
    """From this importance on, a memory is never pruned by time."""
    secrets: SecretPolicy = "allow"
    """What happens to credentials in explicit writes; `allow` warns about them."""
    captured_secrets: SecretPolicy = "redact"
    """The same for what is captured from conversations."""
    quarantine: frozenset[str] = frozenset()
    """Origins whose memories are kept apart: `import`, `web`, `tool`."""
    consolidation_threshold: float = 0.85
    consolidation_interval: int = 50
    """New memories after which a consolidation runs; 0: none runs because of new memories."""
    consolidation_every: timedelta = timedelta(days=1)
    """Between two scheduled consolidations; zero: none is scheduled."""
    prune_every: timedelta = timedelta(days=1)
    search_limit: int = 20
    min_similarity: float = 0.5
    fading: Fading = "strict"
    """Of searches that follow the memory tool set's contract and name no fading themselves."""
    keyword_weight: float = 0.4
    without: frozenset[str] = frozenset()
    """Ranking signals that an ablation leaves out; see SIGNALS."""
    answers: timedelta = timedelta(days=1)
    """How long answers are kept for idempotent replay."""
    trash: timedelta = timedelta(days=30)
    journal: timedelta = timedelta(days=365)
    """How long the journal keeps events after their undo data is gone."""
    search_log_age: timedelta = timedelta(days=90)
    search_log_size: int = 10_000
    """Searches kept for learning, per space; 0 keeps none."""
    ab_testing: bool = False
    baseline_probability: float = 0.1
    """The share of queries that an A/B test answers by cosine alone."""
    split_thresholds: Mapping[str, int] = field(default_factory=lambda: SPLIT_THRESHOLDS)
    """Observations an entity of a type may have before it should be split; the graph tool set's values."""
    split_threshold: int = SPLIT_THRESHOLD
    """The same for all other types."""
    author: str = ""
    """Author of a reflection that names none; empty means the client's name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BackupPlan:
    """Where backups go, how often one is made, and how many are kept."""

    folder: Path
    every: timedelta = timedelta(days=1)
    """Zero: no automatic backups."""
    keep: int = 7
    limit: int = 4_000_000_000
    """Total size in bytes; the oldest are removed first, the newest stays."""
    passphrase: str = field(default="", repr=False)
    """Encrypts them, when given."""
