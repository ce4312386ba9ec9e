"""A process whose files may not grow beyond a limit: it writes on, and says what was kept or refused."""

import resource
import sys

from mcp_memory import wiring
from mcp_memory.config import load
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.errors import Unavailable

REFUSED = 20


def main(url: str, limit: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    refused = 0
    with wiring.build(load({"database_url": url, "embedding_provider": "none"}, environ={})) as engine:
        while refused < REFUSED:
            content = f"memory {refused} " + sys.stdin.readline().strip()
            try:
                engine.memories.remember(NewMemory(content=content))
            except Unavailable as error:
                refused += 1
                print("refused", error, flush=True)
            else:
                print("kept", content, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
