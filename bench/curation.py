"""What the report over a whole graph costs.

    python -m bench.curation [--entities 10000]

Every tenth entity is overgrown. Vectors are drawn from a pool of real ones.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from pathlib import Path

from bench.stores import fill_vectors, sentence

from mcp_memory import wiring
from mcp_memory.config import load


def lines(count: int) -> str:
    dice = random.Random(3)
    made = []
    for number in range(count):
        size = 30 if number % 10 == 0 else 4
        facts = [f"{sentence(dice)} fact {number}-{n}" for n in range(size)]
        entity = {"type": "entity", "name": f"Entity {number}", "entityType": "Note", "observations": facts}
        made.append(json.dumps(entity))
    return "\n".join(made) + "\n"


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--entities", type=int, default=10_000)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "graph.jsonl"
        file.write_text(lines(given.entities))
        url = f"sqlite:///{folder}/memory.db"
        engine = wiring.build(load({"database_url": url, "embedding_provider": "none"}, environ={}))
        engine.transfer.import_anthropic(str(file))
        engine.close()
        fill_vectors(url)
        engine = wiring.build(load({"database_url": url}, environ={}))
        begun, cpu = time.perf_counter(), time.process_time()
        report = engine.curation.report(90)
        print(
            f"{report.entity_count:,} entities, {report.observation_count:,} observations: "
            f"{len(report.split_candidates):,} to split, found in {time.perf_counter() - begun:.1f} s "
            f"({time.process_time() - cpu:.1f} s of CPU)"
        )
        engine.close()


if __name__ == "__main__":
    main()
