"""One of several processes that write to a database at once; told when to begin."""

import sys
import time

from mcp_memory import wiring
from mcp_memory.config import load
from mcp_memory.engine.drafts import NewMemory


def main(url: str, space: str, writer: str, writes: int) -> None:
    engine = wiring.build(
        load({"database_url": url, "space": space, "embedding_provider": "none"}, environ={}), "bench"
    )
    print("ready", flush=True)
    sys.stdin.readline()
    times = []
    for number in range(writes):
        start = time.perf_counter()
        engine.memories.remember(NewMemory(content=f"memory {number} of writer {writer} in {space}"))
        times.append(time.perf_counter() - start)
    print(*times, sep="\n")
    engine.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
