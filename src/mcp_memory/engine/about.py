"""Facts about the memory as a whole: its location, its decay settings, its clients."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from mcp_memory.engine.context import Topic
from mcp_memory.fields import Help

MOST_CLIENTS = 50


@dataclass(frozen=True, slots=True)
class ActiveClient:
    """A client that changed something recently, by its name in the journal."""

    name: str
    change_count: int
    last_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class About:
    database: str
    size_bytes: Annotated[int, Help("Of the whole database, on disk.")]
    half_life_days: Annotated[float, Help("Days until the confidence of an unused memory halves.")]
    prune_threshold: Annotated[float, Help("A memory below this effective confidence has faded.")]
    clients: tuple[ActiveClient, ...]
    """The most recent first."""


class Overseeing(Topic):
    def about(self) -> About:
        database, tuning = self._context.store.database, self._context.tuning
        with self._context.reading() as tx:
            clients = tuple(ActiveClient(*one) for one in tx.journal.clients(MOST_CLIENTS))
        return About(
            database=database.name,
            size_bytes=database.size(),
            half_life_days=tuning.half_life / timedelta(days=1),
            prune_threshold=tuning.prune_threshold,
            clients=clients,
        )
