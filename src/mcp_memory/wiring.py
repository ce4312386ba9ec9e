"""Composition root: builds an engine from settings, with the clock and the id generator."""

import os
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from mcp_memory import config as settings
from mcp_memory.config import Config
from mcp_memory.embedding import Embedder, NoModel, open_embedder
from mcp_memory.engine import Context, Engine, Limits, Tuning
from mcp_memory.engine.memory_file import MemoryFile
from mcp_memory.engine.write_behind import WriteBehind
from mcp_memory.errors import Invalid, Unavailable
from mcp_memory.model import Caller
from mcp_memory.storage import Database, Store
from mcp_memory.storage.copying import check_whole
from mcp_memory.tuning import BackupPlan, PruneMode, SecretPolicy


def build(config: Config, client: str = "") -> Engine:
    """An engine on the configured database, migrated, with the configured model."""
    file = memory_file(config)
    engine = Engine(
        Context(
            store=_whole(Store(open_database(config)).open()),
            embedder=embedder(config),
            clock=now,
            new_id=new_id,
            limits=limits(config),
            tuning=_tuning(config),
            caller=Caller(config.space, client),
            read_spaces=config.further_spaces,
            memory_file=file,
            write_behind=WriteBehind() if file else None,
            import_dir=Path(config.import_dir).expanduser() if config.import_dir else None,
            # PostgreSQL has its own backup tools; ours would copy the whole database into a file each day.
            backups=backup_plan(config) if config.database_file else None,
        )
    )
    engine.transfer.take_back_unfinished()
    engine.anthropic_compat.resume()
    return engine


def backup_plan(config: Config) -> BackupPlan:
    database = (config.database_file or settings.default_database()).absolute()
    # A folder for each database: two in one folder must not remove each other's backups.
    beside = database.with_name(f"{database.name}.backups")
    return BackupPlan(
        folder=Path(config.backup_dir).expanduser() if config.backup_dir else beside,
        every=timedelta(days=config.backup_every_days),
        keep=config.backup_keep,
        limit=config.backup_limit_bytes,
        passphrase=config.passphrase,
    )


def connect(database_url: str = "", **values: Any) -> Engine:
    """An engine for use as a library: `with connect("sqlite:///notes.db") as memory`.

    Any setting of docs/settings.md can be given by its name; neither environment nor settings file is read.
    """
    return build(settings.of({"database_url": database_url, **values}), "library")


def _whole(store: Store) -> Store:
    try:
        check_whole(store)
    except BaseException:
        store.close()
        raise
    return store


def open_store(config: Config, url: str, *, must_exist: bool = False) -> Store:
    """Open and migrate a database other than the configured one."""
    database = open_database(replace(config, database_url=url, database_read_url=""))
    if must_exist and not database.exists():
        database.close()
        raise Invalid(f"there is no database of mcp-memory at {settings.masked(url)}: check the address")
    return Store(database).open()


def database_exists(config: Config) -> bool:
    """Whether the configured database is set up. Creates nothing."""
    with closing(open_database(config)) as database:
        return database.exists()


def open_database(config: Config) -> Database:
    file = config.database_file
    if file is None:
        return _open_postgres(config)
    from mcp_memory.storage.sqlite.database import SqliteDatabase

    return SqliteDatabase(file, "NORMAL" if config.durability == "normal" else "FULL")


def embedder(config: Config) -> Embedder | NoModel:
    return open_embedder(
        config.embedding_provider,
        config.embedding_model,
        config.embedding_dimensions,
        models_dir=models_dir(config),
        cache_dir=settings.default_cache_dir(),
        base_url=config.openai_base_url,
        api_key=config.openai_api_key,
    )


def _open_postgres(config: Config) -> Database:
    try:
        from mcp_memory.storage.postgres.database import PostgresDatabase
    except ImportError as error:
        raise Unavailable(
            "PostgreSQL needs a driver that is not installed: run pip install 'mcp-one-memory[postgres]'"
        ) from error
    # Each worker may hold one connection, and background work one more.
    return PostgresDatabase(config.url, config.database_read_url, connections=config.workers + 2)


def models_dir(config: Config) -> Path:
    return Path(config.models_dir).expanduser() if config.models_dir else settings.default_models_dir()


def memory_file(config: Config) -> MemoryFile | None:
    """The shared JSONL file, for the anthropic tool set only."""
    if not config.memory_file_path or "anthropic" not in config.tool_sets:
        return None
    return MemoryFile(Path(config.memory_file_path).expanduser(), now)


def now() -> datetime:
    return datetime.now(UTC)


_VARIANT = {digit: "89ab"[int(digit, 16) % 4] for digit in "0123456789abcdef"}
"""The digit that tells the variant of a UUID, with two random bits, by a random digit."""


_spare: list[str] = []
"""Random digits of ids to come."""
_SPARE = 64
if hasattr(os, "register_at_fork"):  # else a process and its child would make the same ids
    os.register_at_fork(after_in_child=_spare.clear)


def new_id() -> str:
    """A UUIDv7: ids sort by the time they were made (RFC 9562)."""
    random = _random_digits()
    begun = _begun_at(time.time_ns() // 1_000_000)
    return f"{begun}{random[:3]}-{_VARIANT[random[3]]}{random[4:7]}-{random[8:]}"


def _random_digits() -> str:
    """Twenty of them. Drawn for many ids at once: asking the system takes as long as the rest of an id."""
    try:
        return _spare.pop()
    except IndexError:
        drawn = os.urandom(10 * _SPARE).hex()
        _spare.extend(drawn[place : place + 20] for place in range(20, len(drawn), 20))
        return drawn[:20]


@lru_cache(maxsize=1)
def _begun_at(milliseconds: int) -> str:
    """How the ids of a millisecond begin, up to their version. Cached: a bulk write makes hundreds in one."""
    digits = f"{milliseconds:012x}"
    return f"{digits[:8]}-{digits[8:]}-7"


def limits(config: Config) -> Limits:
    """Limits on the input of one call, from these settings."""
    return Limits(
        entities=config.max_entities,
        observations=config.max_observations,
        observation_length=config.max_observation_length,
        query_length=config.max_query_length,
        content_bytes=config.max_content_bytes,
    )


def _tuning(config: Config) -> Tuning:
    return Tuning(
        half_life=timedelta(days=config.confidence_half_life_days),
        prune_threshold=config.confidence_prune_threshold,
        prune_limit=config.prune_limit,
        prune_mode=cast(PruneMode, config.prune_mode),
        secrets=cast(SecretPolicy, config.secrets),
        captured_secrets=cast(SecretPolicy, config.capture_secrets),
        quarantine=frozenset(config.quarantined_origins),
        consolidation_threshold=config.consolidation_threshold,
        consolidation_interval=config.consolidation_interval,
        consolidation_every=timedelta(days=config.consolidation_every),
        prune_every=timedelta(days=config.prune_every),
        search_limit=config.search_default_limit,
        min_similarity=config.search_min_similarity,
        fading="gentle" if config.search_fading == "gentle" else "strict",
        keyword_weight=config.hybrid_keyword_weight,
        trash=timedelta(days=config.trash_days),
        journal=timedelta(days=config.journal_days),
        answers=timedelta(hours=config.idempotency_hours),
        search_log_age=timedelta(days=config.search_log_days),
        search_log_size=config.search_log_size,
        ab_testing=config.use_ab_testing == "yes",
        baseline_probability=config.baseline_probability,
        author=config.reflection_author,
    )
