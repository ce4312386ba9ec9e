"""Counts the modules that one write and one search pass through, and the transactions they open.

python tools/walk.py [--modules]     on a new SQLite file with the default model; --modules names them
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import mcp_memory
from mcp_memory.engine import Engine
from mcp_memory.inputs import NewMemory

SOURCE = Path(mcp_memory.__file__).parent


@dataclass
class Walk:
    """What a use case passed on its way."""

    modules: set[str] = field(default_factory=set)
    transactions: Counter[str] = field(default_factory=Counter)


class Follower:
    """A profiler of all threads, which notes the modules whose functions are called during a walk."""

    def __init__(self) -> None:
        self._walk: Walk | None = None
        threading.setprofile(self._see)
        sys.setprofile(self._see)

    @contextmanager
    def walk(self, engine: Engine) -> Iterator[Walk]:
        database: Any = engine._context.store.database
        self._walk = walk = Walk()
        for name in ("read", "write"):
            setattr(database, name, _counted(getattr(database, name), walk.transactions, name))
        try:
            yield walk
        finally:
            self._walk = None
            for name in ("read", "write"):
                delattr(database, name)

    def _see(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if self._walk is None or event != "call" or code.co_name == "<module>":
            return
        if code.co_filename.startswith(str(SOURCE)):
            self._walk.modules.add(Path(code.co_filename).relative_to(SOURCE).as_posix())


def _counted(opened: Callable[..., Any], counts: Counter[str], name: str) -> Callable[..., Any]:
    def open_(*given: Any, **named: Any) -> Any:
        counts[name] += 1
        return opened(*given, **named)

    return open_


def walks(engine: Engine, follower: Follower) -> dict[str, Walk]:
    # The first of each loads the model and fills caches.
    engine.memories.remember(NewMemory(content="the first memory chooses the model"))
    engine.recall.recall("which model?")
    with follower.walk(engine) as write:
        engine.memories.remember(NewMemory(content="The door is green", entity_names=("House",)))
    with follower.walk(engine) as search:
        assert engine.recall.recall("which colour has the door?").hits
    return {"a write (memories.remember)": write, "a search (recall.recall)": search}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", action="store_true", help="name the modules")
    options = parser.parse_args()
    follower = Follower()  # before the engine starts its threads
    with tempfile.TemporaryDirectory() as folder:
        engine = mcp_memory.connect(f"sqlite:///{folder}/memory.db")
        for name, walk in walks(engine, follower).items():
            counts = " and ".join(f"{count} {kind}" for kind, count in sorted(walk.transactions.items()))
            print(f"{name}: {len(walk.modules)} modules, {counts} transactions")
            if options.modules:
                print(*(f"  {module}" for module in sorted(walk.modules)), sep="\n")
        engine.close()


if __name__ == "__main__":
    main()
