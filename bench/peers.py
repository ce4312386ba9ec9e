"""What keeping and finding facts costs as libraries: mcp-memory beside chromadb and sqlite-vec, in one run.

    python -m bench.peers [--facts 10000] [--keep docs/benchmarks]

Each is a Python of its own, made under .tools from PyPI. All get the same texts with the same vectors, which
the same model would have made (bench/stores.py), in batches of 100, and answer the same queries by vector.
What they do beside that differs: ours also keeps a journal to undo from, an index of words and one of
trigrams; chromadb an index of words; sqlite-vec the text alone.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from bench import disk, stores
from bench.results import Goal, Json, keep, machine

TOOLS = Path(__file__).parents[1] / ".tools"
PACKAGES = {"chromadb": ["chromadb"], "sqlite-vec": ["sqlite-vec", "apsw", "numpy"]}
QUERIES = 100

COMMON = """
import json, statistics, sys, time
from pathlib import Path
import numpy as np
folder, count = Path(sys.argv[1]), int(sys.argv[2])
texts = json.loads((folder / "texts.json").read_text())[:count]
vectors = np.load(folder / "vectors.npy")[:count]
queries = np.load(folder / "queries.npy")
kept = folder / "kept"
kept.mkdir()
def timed(act, items):
    times = []
    for item in items:
        begun = time.perf_counter()
        act(item)
        times.append((time.perf_counter() - begun) * 1000)
    return times
def report(added, found, close):
    close()
    size = sum(file.stat().st_size for file in kept.rglob("*") if file.is_file())
    batch, one = sum(added[:-50]), added[-50:]
    print(json.dumps({
        "add_ms": batch / (count - 50), "add_one_ms": statistics.median(one),
        "search_ms": statistics.median(found), "search_p95_ms": sorted(found)[int(len(found) * 0.95)],
        "bytes": size / count,
    }))
places = [*((first, min(first + 100, count - 50)) for first in range(0, count - 50, 100)),
          *((n, n + 1) for n in range(count - 50, count))]
"""

CHROMADB = (
    COMMON
    + """
import chromadb
from chromadb.config import Settings
client = chromadb.PersistentClient(str(kept), Settings(anonymized_telemetry=False))
facts = client.create_collection("facts", metadata={"hnsw:space": "cosine"}, embedding_function=None)
def add(place):
    first, last = place
    ids = [str(n) for n in range(first, last)]
    facts.add(ids=ids, documents=texts[first:last], embeddings=vectors[first:last])
def find(query):
    assert len(facts.query(query_embeddings=[query], n_results=10)["documents"][0]) == 10
added = timed(add, places)
report(added, timed(find, queries), lambda: None)
"""
)

SQLITE_VEC = (
    COMMON
    + """
import apsw, sqlite_vec  # not every Python's own SQLite loads extensions
db = apsw.Connection(str(kept / "facts.db"))
db.enable_load_extension(True)
db.load_extension(sqlite_vec.loadable_path())
db.execute("PRAGMA journal_mode = WAL")
db.execute("PRAGMA synchronous = FULL")
db.execute("CREATE TABLE fact (id INTEGER PRIMARY KEY, content TEXT NOT NULL)")
db.execute("CREATE VIRTUAL TABLE near USING vec0(embedding float[384] distance_metric=cosine)")
def add(place):
    with db:
        for n in range(*place):
            db.execute("INSERT INTO fact VALUES (?, ?)", (n + 1, texts[n]))
            db.execute("INSERT INTO near (rowid, embedding) VALUES (?, ?)", (n + 1, vectors[n].tobytes()))
def find(query):
    found = db.execute(
        "SELECT f.content FROM near n JOIN fact f ON f.id = n.rowid "
        "WHERE n.embedding MATCH ? AND n.k = 10 ORDER BY n.distance", (query.tobytes(),)).fetchall()
    assert len(found) == 10
added = timed(add, places)
report(added, timed(find, queries), lambda: (db.execute("PRAGMA wal_checkpoint(TRUNCATE)"), db.close()))
"""
)

OURS = (
    COMMON
    + """
from mcp_memory import wiring
from mcp_memory.config import load
from mcp_memory.inputs import NewEntity
engine = wiring.build(load({"database_url": f"sqlite:///{kept}/memory.db"}, environ={}))
context, model = engine._context, engine.indexing.model()
def add(place):
    first, last = place
    engine.graph.create_entities(
        [NewEntity(name=f"facts {first}", type="pile", observations=tuple(texts[first:last]))]
    )
    with context.noting() as tx:
        waiting = [one for one in tx.indexes.pending("memory", 1000)]
        by_seq = sorted(waiting, key=lambda one: one.seq)
        tx.indexes.settle(model, [(one, vectors[first + n].tobytes()) for n, one in enumerate(by_seq)])
def find(query):
    with context.reading() as tx:
        found = tx.indexes.nearest("memory", model, query.tobytes(), tx.memories.current_observations, 10)
        assert len(tx.memories.fetch(seq for seq, _ in found)) == 10
added = timed(add, places)
database = context.store.database
for _ in database.words.maintain(database):
    pass
for _ in database.vectors.maintain(database, model.id, model.dimensions):
    pass
report(added, timed(find, queries), engine.close)
"""
)

PEERS = {"mcp-memory": OURS, "chromadb": CHROMADB, "sqlite-vec": SQLITE_VEC}


def python(name: str) -> Path:
    """A Python with the library, in an environment of its own."""
    if name not in PACKAGES:
        return Path(sys.executable)
    folder = TOOLS / name
    found = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(found), "-m", "pip", "install", "--quiet", *PACKAGES[name]], check=True)
        (folder / "ready").touch()
    return found


def version(name: str) -> str:
    code = f"from importlib.metadata import version; print(version({name!r}))"
    return subprocess.run(
        [python(name), "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def measured(count: int) -> Json:
    texts = [text for one in stores.entities(count // 3 + 1) for text in one["observations"]][:count]
    found: Json = {}
    for name, program in PEERS.items():
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "texts.json").write_text(json.dumps(texts))
            np.save(Path(folder, "vectors.npy"), stores.vectors(count))
            np.save(Path(folder, "queries.npy"), stores.vectors(QUERIES, seed=2))
            command = [str(python(name)), "-c", program, folder, str(count)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"{name}: {done.stderr[-2000:]}")
            found[name] = json.loads(done.stdout.splitlines()[-1])
            if name not in PACKAGES:
                parts = disk.parts_of(Path(folder, "kept", "memory.db"))
                found[name]["parts"] = {part: taken / count for part, taken in parts.items()}
            print(name, found[name], flush=True)
    return found


def goals(found: Json) -> list[Goal]:
    largest = found[max(found, key=int)]
    mine = largest["mcp-memory"]["bytes"]
    others = {name: largest[name]["bytes"] for name in PACKAGES}
    said = ", ".join(f"{name} {size / 1000:.2f} kB" for name, size in others.items())
    return [
        Goal(
            "disk per fact, beside libraries with the same vectors",
            f"{mine / 1000:.2f} kB ({said})",
            "below chromadb and sqlite-vec",
            mine < min(others.values()),
            ""
            if mine < min(others.values())
            else f"the journal alone takes {journal(largest):.0f} bytes of a fact; sqlite-vec keeps text and "
            "vector, without journal, words, ids and times",
        )
    ]


def journal(found: Json) -> float:
    """Its bytes per fact."""
    parts: dict[str, float] = found["mcp-memory"].get("parts", {})
    return next((taken for part, taken in parts.items() if part.startswith("the journal")), 0.0)


WHAT_THE_REST_IS = """
Text and vector alone would take about 480 bytes here, a vector having one byte a dimension. Most of the
rest is how a fact can be undone, found and traced. Times are eight bytes, the digest of a content and the
ids of changes 16. Up to schema 13 they were 32, 64 and 36 characters of text, each in a row and in an index,
and one of 5,000 facts took 1.97 kB. Ids of memories still are 36 characters: 16 bytes would save about 40.
"""


def page(found: Json) -> str:
    lines = [
        "# Beside chromadb and sqlite-vec",
        "",
        f"Made by `python -m bench.peers`: {machine()} chromadb {version('chromadb')}, sqlite-vec "
        f"{version('sqlite-vec')}, each in an environment of its own, with the same texts (about 65 "
        "characters) and the same vectors (384 dimensions, all-MiniLM-L6-v2). The time of the model is "
        "in none of the figures.",
        "",
        "A fact of ours is a memory of an entity with its journal, words and trigrams, synced to the disk. "
        "sqlite-vec keeps text and vector, four bytes a dimension, and compares all of them, exactly. "
        "chromadb keeps text and words in SQLite and vectors in an HNSW index; it does not sync each write.",
    ]
    for count in sorted(found, key=int):
        lines += ["", f"## {int(count):,} facts", ""]
        lines += ["| | add, in batches of 100 | add one | ten nearest, p50 | p95 | disk per fact |"]
        lines += ["|---|--:|--:|--:|--:|--:|"]
        for name, each in found[count].items():
            cells = [f"{each['add_ms']:.2f} ms"]
            cells += [f"{each[part]:.1f} ms" for part in ("add_one_ms", "search_ms", "search_p95_ms")]
            lines.append(f"| {name} | {' | '.join(cells)} | {each['bytes'] / 1000:.2f} kB |")
        if parts := found[count]["mcp-memory"].get("parts"):
            lines += ["", "Where the bytes of a fact of ours are:", "", "| | bytes per fact |", "|---|--:|"]
            ordered = sorted(parts.items(), key=lambda part: -part[1])
            lines += [f"| {part} | {taken:.0f} |" for part, taken in ordered]
    return "\n".join([*lines, WHAT_THE_REST_IS.rstrip(), "", "![disk](disk-per-fact.svg)"]) + "\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--facts", type=int, nargs="+", default=[10_000])
    options.add_argument("--keep", type=Path, help="the folder of pages")
    given = options.parse_args()
    found = {str(count): measured(count) for count in given.facts}
    if given.keep:
        from bench import plot

        found = keep(given.keep, "peers", found, goals, page)
        largest = found[max(found, key=int)]
        sizes = {name: each["bytes"] for name, each in largest.items()}
        (given.keep / "disk-per-fact.svg").write_text(plot.bars("disk per fact, bytes", sizes), "utf-8")


if __name__ == "__main__":
    main()
