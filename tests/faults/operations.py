"""Long operations that a kill interrupts: run again, each is done as if nothing had happened."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

from mcp_memory.engine import Engine
from mcp_memory.engine.backups import backups_in
from mcp_memory.errors import Conflict
from mcp_memory.model import Filter
from mcp_memory.storage import Store, queries
from mcp_memory.storage.backup_file import verify_backup
from mcp_memory.storage.copying import copy
from mcp_memory.storage.sqlite.replacement import put_in_place
from mcp_memory.tuning import BackupPlan
from tests.fakes import HashEmbedder
from tests.faults import acts
from tests.faults.places import open_database
from tests.faults.released_schemas import version_of

NEWEST = queries.migrations("sqlite")[-1].number
NEWER = "newer than the backup"


@dataclass(frozen=True)
class Operation:
    """`run` takes the address of a prepared database and that of an empty one."""

    run: Callable[[str, str], None]
    finished: Callable[[str, str], bool]
    """Whether it is done, once it was run again."""
    prepare: Callable[[str, str], None] = lambda url, target: None
    databases: tuple[str, ...] = ("sqlite", "postgres")
    goes_back: bool = False
    """A kill leaves what was kept when the operation began, or what was before `prepare`."""
    samples: bool = False
    """Begins with a database of an older version, whose contents are looked at once it is done."""


def _engine(url: str, number: int = 999) -> Engine:
    return acts.engine_on(open_database(url), number)


def _reembed(url: str, target: str) -> None:
    with _engine(url) as engine:
        other = Engine(replace(engine._context, embedder=HashEmbedder(48, "another")))
        other.reembedding.run()


def _is_reembedded(url: str, target: str) -> bool:
    with _engine(url) as engine:
        other = Engine(replace(engine._context, embedder=HashEmbedder(48, "another")))
        plan = other.reembedding.plan()
        return not plan.is_change and plan.remaining == 0


def _copy(url: str, target: str) -> None:
    with (
        closing(Store(open_database(url)).open()) as source,
        closing(Store(open_database(target)).open()) as to,
        suppress(Conflict),
    ):  # done before the kill: a finished copy is refused as a target
        copy(source, to)


def _is_copied(url: str, target: str) -> bool:
    with _engine(url) as original, _engine(target) as made:
        return acts.state(original) == acts.state(made)


def _make_vectors(url: str, target: str) -> None:
    with _engine(url) as engine:
        while engine.indexing.catch_up_anywhere():
            pass


def _index(url: str, target: str) -> None:
    """Build every index there is, by thresholds that so few rows reach."""
    from mcp_memory.storage.postgres import substrings as postgres_substrings
    from mcp_memory.storage.postgres import vectors as postgres_vectors
    from mcp_memory.storage.sqlite import sketches, substrings

    with ExitStack() as few:
        # Put back afterwards: the operation also runs in the process of the tests.
        few.enter_context(patch.multiple(sketches, SKETCH_FROM=5, LEAST_BATCH=1, BATCH=5))
        few.enter_context(patch.multiple(substrings, INDEX_FROM=5, BATCH=5))
        few.enter_context(patch.object(postgres_substrings, "INDEX_FROM", 5))
        few.enter_context(patch.object(postgres_vectors, "INDEX_FROM", 5))
        engine = few.enter_context(_engine(url))
        database, model = engine._context.store.database, engine.indexing.model()
        assert model is not None
        for _ in database.vectors.maintain(database, model.id, model.dimensions):
            pass
        for _ in database.words.maintain(database):
            pass


def _is_indexed(url: str, target: str) -> bool:
    with _engine(url) as engine:
        return bool(engine.memories.find(Filter(), limit=5).memories) and bool(
            engine.recall.recall("observation of the hub").hits
        )


def _folder(url: str, target: str) -> Path:
    place = next(one for one in (url, target) if one.startswith("sqlite:///"))
    return Path(place.removeprefix("sqlite:///")).parent / "backups"


def _plan(url: str, target: str) -> BackupPlan:
    return BackupPlan(folder=_folder(url, target), every=timedelta(days=1), keep=3, limit=10**9)


def _back_up(url: str, target: str) -> None:
    plan = _plan(url, target)
    # Later than what an earlier attempt has left.
    attempts = (
        len(list(plan.folder.glob("*"))) + len(list(plan.folder.glob(".*"))) if plan.folder.exists() else 0
    )
    with _engine(url, 999 + 120 * attempts) as engine:
        if not backups_in(plan.folder):
            engine.backups.make(plan)


def _is_backed_up(url: str, target: str) -> bool:
    folder = _folder(url, target)
    for backup in backups_in(folder):
        verify_backup(backup.path)
    leftovers = [path for path in folder.iterdir() if path not in {one.path for one in backups_in(folder)}]
    return len(backups_in(folder)) == 1 and not leftovers


def _restore(url: str, target: str) -> None:
    """Put a backup in the place of the database, whose log holds a newer memory."""
    database = Path(url.removeprefix("sqlite:///"))
    plain = database.with_name("plain.db")
    shutil.copyfile(database.with_name("backup.db"), plain)
    asides = len(list(database.parent.glob("aside*.db")))
    put_in_place(plain, database, database.with_name(f"aside{asides}.db"))


def _prepare_restore(url: str, target: str) -> None:
    database = Path(url.removeprefix("sqlite:///"))
    newer = "import os, sys; from tests.faults import operations; operations.add_and_die(sys.argv[1])"
    with _engine(url) as engine:
        engine._context.store.database.back_up(database.with_name("backup.db"))
    subprocess.run([sys.executable, "-c", newer, url], check=False)


def add_and_die(url: str) -> None:
    """Leave a write in the log: a clean end would move it into the database."""
    acts.remember(_engine(url), NEWER)
    os._exit(0)


def _is_restored(url: str, target: str) -> bool:
    """It is as in the backup, and what was there before is kept beside it."""
    asides = Path(url.removeprefix("sqlite:///")).parent.glob("aside*.db")
    return not _holds_newer(url) and any(_holds_newer(f"sqlite:///{aside}") for aside in asides)


def _holds_newer(url: str) -> bool:
    with _engine(url) as engine:
        return any(memory.content == NEWER for memory in engine.memories.find(Filter(), limit=100).memories)


def _migrate(url: str, target: str) -> None:
    with closing(open_database(url)) as database:
        Store(database).open()


def _migrate_in_steps(url: str, target: str) -> None:
    """As a large database is, while it is used."""
    with closing(open_database(url, at_once_bytes=0)) as database:
        Store(database).open()
        for _ in database.migrate_further():
            pass


OPERATIONS: Mapping[str, Operation] = {
    "re-embed": Operation(_reembed, _is_reembedded),
    "copy": Operation(_copy, _is_copied),
    "build indexes": Operation(_index, _is_indexed, _make_vectors),
    "back up": Operation(_back_up, _is_backed_up),
    "migrate": Operation(_migrate, lambda url, target: version_of(url) == NEWEST, samples=True),
    "migrate in steps": Operation(
        _migrate_in_steps,
        lambda url, target: version_of(url) == NEWEST,
        samples=True,
    ),
    "restore": Operation(_restore, _is_restored, _prepare_restore, ("sqlite",), goes_back=True),
}
