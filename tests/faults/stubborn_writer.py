"""A process that writes, tries again what could not be done, and says line by line what was acknowledged."""

import sys

from mcp_memory import wiring
from mcp_memory.config import load
from mcp_memory.engine import Engine
from mcp_memory.errors import Unavailable
from mcp_memory.inputs import NewEntity


def main(url: str, name: str, count: int) -> None:
    engine = wiring.build(load({"database_url": url, "embedding_provider": "none"}, environ={}))
    for number in range(count):
        entity = NewEntity(name=f"{name}-{number}", observations=(f"fact {number} of {name}",))
        while not kept(engine, entity):
            print("again", flush=True)
        print(entity.name, flush=True)
    engine.close()


def kept(engine: Engine, entity: NewEntity) -> bool:
    try:
        engine.graph.create_entities([entity])
    except Unavailable:
        return False
    return True


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
