"""Counts the modules that one write and one search pass through, and the transactions they open.

python tools/walk.py [--modules]     on a new SQLite file with the default model; --modules names them
"""

from __future__ import annotations

import argparse
import sys
import tempfile
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

    def see(self, frame: FrameType, event: str, _: object) -> None:
        """A profiler: notes the module of every function of ours that is called."""
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(str(SOURCE)):
            self.modules.add(Path(code.co_filename).relative_to(SOURCE).as_posix())


@contextmanager
def watched(engine: Engine) -> Iterator[Walk]:
    walk = Walk()
    database: Any = engine._context.store.database
    for name in ("read", "write"):
        setattr(database, name, _counted(getattr(database, name), walk.transactions, name))
    sys.setprofile(walk.see)
    try:
        yield walk
    finally:
        sys.setprofile(None)
        for name in ("read", "write"):
            delattr(database, name)


def _counted(opened: Callable[..., Any], counts: Counter[str], name: str) -> Callable[..., Any]:
    def open_(*given: Any, **named: Any) -> Any:
        counts[name] += 1
        return opened(*given, **named)

    return open_


def walks(engine: Engine) -> dict[str, Walk]:
    # The first of each loads the model and fills caches.
    engine.memories.remember(NewMemory(content="the first memory chooses the model"))
    engine.recall.recall("which model?")
    with watched(engine) as write:
        engine.memories.remember(NewMemory(content="The door is green", entity_names=("House",)))
    with watched(engine) as search:
        assert engine.recall.recall("which colour has the door?").hits
    return {"a write (memories.remember)": write, "a search (recall.recall)": search}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", action="store_true", help="name the modules")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        engine = mcp_memory.connect(f"sqlite:///{folder}/memory.db")
        for name, walk in walks(engine).items():
            counts = " and ".join(f"{count} {kind}" for kind, count in sorted(walk.transactions.items()))
            print(f"{name}: {len(walk.modules)} modules, {counts} transactions")
            if options.modules:
                print(*(f"  {module}" for module in sorted(walk.modules)), sep="\n")
        engine.close()


if __name__ == "__main__":
    main()
