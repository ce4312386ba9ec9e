"""A process of its own that writes memories: python -m tests.surfaces.rest.writer DATABASE SPACE TEXT..."""

from __future__ import annotations

import sys
from pathlib import Path

from mcp_memory.engine.drafts import NewMemory
from mcp_memory.model import Caller
from tests.surfaces.rest.conftest import engine_on


def main(path: str, space: str, *texts: str) -> None:
    engine = engine_on(Path(path))
    here = engine.acting_for(Caller(space, "another process"))
    for text in texts:
        here.memories.remember(NewMemory(content=text))
    engine.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
