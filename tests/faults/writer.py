"""A process that writes to a database and says, line by line, what was acknowledged."""

import sys

from mcp_memory import wiring
from mcp_memory.config import load
from mcp_memory.inputs import NewEntity, NewRelation


def main(url: str, name: str, count: int) -> None:
    engine = wiring.build(load({"database_url": url, "embedding_provider": "none"}, environ={}))
    graph = engine.graph
    graph.create_entities([NewEntity(name="shared"), NewEntity(name=name)])
    for number in range(count):
        entity = f"{name}-{number}"
        graph.create_entities([NewEntity(name=entity, observations=(f"fact {number} of {name}",))])
        graph.create_relations([NewRelation(source=name, target=entity, type="wrote")])
        graph.add_observations("shared", [f"{name} was here for the {number}. time"])
        print(entity, flush=True)
    engine.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
