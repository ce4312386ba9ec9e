"""Sends whatever can be thought of to imports, tools and routes, guided by coverage or by their schemas.

    python -m tests.faults.fuzz --minutes 15
    python -m tests.faults.fuzz --minutes 5 --targets import

Nothing may end in a traceback or a server error, nothing may hang, and the store stays sound. Files of every
format are changed at random, and by atheris, which follows the coverage of our code, where it is installed
(Linux); for tools and routes, hypothesis makes inputs from their schemas. A failing input is printed.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib.util
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from mcp_memory.engine import Engine, import_source
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.errors import MemoryServerError
from mcp_memory.inputs import NewEntity
from mcp_memory.model import Caller
from tests.consistency import troubles
from tests.faults.acts import engine_on
from tests.faults.places import open_database

HANGS_AFTER = 60.0
"""Seconds that one input may take."""
CHECKED_EVERY = 200
"""Inputs between two looks at the whole store."""
FORMATS = (*import_source.FORMATS, None)
SAMPLES = Path(__file__).parents[1] / "data" / "imports"


class Failed(AssertionError):
    """An input was not answered as every input must be."""


class Guarded:
    """An engine that inputs are tried on, and counts of what became of them."""

    def __init__(self, folder: Path) -> None:
        self.engine = engine_on(open_database(f"sqlite:///{folder / 'memory.db'}"))
        self.folder = folder
        self.counts: Counter[str] = Counter()
        self.engine.memories.remember(NewMemory(content="likes tea", tags=("drink",)))
        person = NewEntity(name="Ana", type="person", observations=("works on port 8080", "likes tea"))
        self.engine.graph.create_entities([person])

    def attempt(self, target: str, act: Callable[[], Any], shown: object) -> None:
        """Refused in words or answered; anything else is a defect."""
        faulthandler.dump_traceback_later(HANGS_AFTER, exit=True)
        try:
            act()
        except MemoryServerError as error:
            str(error).encode()
            self.counts[f"{target}: refused"] += 1
        except Exception as error:
            raise Failed(f"{target} failed with {error!r} for {str(shown)[:2000]}") from error
        else:
            self.counts[f"{target}: answered"] += 1
        finally:
            faulthandler.cancel_dump_traceback_later()
        if sum(self.counts.values()) % CHECKED_EVERY == 0:
            self.check()

    def check(self) -> None:
        """The store fits together, and everything in it can be read."""
        if wrong := troubles(self.engine._context.store):
            raise Failed(f"the store is not sound: {wrong[:5]}")
        for space in self.engine._context.store.spaces():
            for line in self.engine.acting_for(Caller(space)).transfer.export_full():
                json.loads(line)

    def import_file(self, data: bytes, format: str | None, suffix: str) -> None:
        path = self.folder / f"input{suffix}"
        path.write_bytes(data)
        transfer = self.engine.transfer
        self.attempt(f"import {format or 'of any format'}", lambda: transfer.import_from(path, format), data)
        self.attempt("import preview", lambda: transfer.preview(path, format), data)


def archive(engine: Engine) -> bytes:
    return "\n".join(engine.transfer.export_full()).encode()


def beginnings(here: Guarded) -> list[tuple[bytes, str | None, str]]:
    """Files of every format that are as they should be."""
    line = {"type": "entity", "name": "Ana", "entityType": "person", "observations": ["likes tea"]}
    relation = {"type": "relation", "from": "Ana", "to": "Borg", "relationType": "knows"}
    found: list[tuple[bytes, str | None, str]] = [
        (archive(here.engine), "full", ".jsonl"),
        ("\n".join(map(json.dumps, (line, relation))).encode(), "anthropic", ".jsonl"),
    ]
    files = [path for path in sorted(SAMPLES.rglob("*.*")) if path.suffix in (".json", ".md")]
    return [*found, *((path.read_bytes(), None, path.suffix) for path in files if path.is_file())]


SPOILS: tuple[bytes, ...] = (
    b"\x00", b"\xff\xfe", b'"', b"null", b"[]", b"{}", b"-1", b"1e999", b"NaN", b"[" * 3000, b"\n",
    b"\xef\xbb\xbf",
    "\u0301".encode() * 500, b"9" * 400, b"true", b'"\\ud800"', b"2026-13-45", b"x" * 70_000,
)  # fmt: skip


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The same with some bytes removed, doubled, replaced or moved."""
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice((0, 1, 4, 30)))
        piece = chance.choice(
            (b"", data[start:end] * 2, chance.choice(SPOILS), bytes([chance.randrange(256)]))
        )
        data = data[:start] + piece + data[end:]
    return data


def fuzz_imports(here: Guarded, until: float, chance: random.Random) -> None:
    files = beginnings(here)
    while time.monotonic() < until:
        data, format, suffix = chance.choice(files)
        wanted = format if chance.random() < 0.8 else chance.choice(FORMATS)
        here.import_file(mutated(data, chance), wanted, suffix)


def fuzz_tools(here: Guarded, until: float, chance: random.Random) -> None:
    from tests.surfaces.mcp.test_any_arguments import TOOLS, anything, calls

    def run(several: list[tuple[str, dict[str, Any]]]) -> None:
        for name, arguments in several:
            checked = partial(_checked, TOOLS[name], here.engine, arguments)
            here.attempt(f"tool {name}", checked, (name, arguments))

    wild = st.tuples(
        st.sampled_from(sorted(TOOLS)), st.dictionaries(st.text(max_size=20), anything, max_size=3)
    )
    several = st.lists(calls() | wild, min_size=1, max_size=5)
    while time.monotonic() < until:
        _explore(several, run, chance.randrange(2**32), 30)


def _checked(tool: Any, engine: Engine, arguments: dict[str, Any]) -> None:
    import jsonschema

    structured = tool.run(engine, arguments).structured_content
    json.dumps(structured, ensure_ascii=False, allow_nan=False).encode()
    jsonschema.validate(structured, tool.output_schema)


def _explore(inputs: st.SearchStrategy[Any], run: Callable[[Any], None], number: int, count: int) -> None:
    """Try some inputs of a kind."""

    @seed(number)
    @settings(max_examples=count, deadline=None, database=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(inputs)
    def explore(value: Any) -> None:
        run(value)

    explore()


def fuzz_routes(here: Guarded, until: float, chance: random.Random) -> None:
    """Every operation of the OpenAPI document, with requests that fit it and requests that do not."""
    import schemathesis
    from hypothesis.errors import Unsatisfiable
    from schemathesis import GenerationMode
    from schemathesis.checks import not_a_server_error

    from tests.surfaces.rest.serving import running

    with running(here.engine) as server:
        document: Any = schemathesis.openapi.from_url(f"{server.url}/openapi.json", timeout=HANGS_AFTER)
        operations = [one.ok() for one in document.get_all_operations()]
        operations = [one for one in operations if one.path != "/api/events"]
        while True:
            operation = chance.choice(operations)
            mode = chance.choice((GenerationMode.POSITIVE, GenerationMode.NEGATIVE))

            def send(case: Any, name: str = operation.label) -> None:
                asked = partial(case.call_and_validate, checks=[not_a_server_error], timeout=HANGS_AFTER)
                here.attempt("route", asked, name)

            with suppress(Unsatisfiable):
                _explore(operation.as_strategy(generation_mode=mode), send, chance.randrange(2**32), 6)
            if time.monotonic() > until and here.counts:
                break
        here.check()  # while its database is open: the server closes it


TARGETS: Mapping[str, Callable[[Guarded, float, random.Random], None]] = {
    "import": fuzz_imports,
    "tools": fuzz_tools,
    "routes": fuzz_routes,
}


@contextmanager
def guarded() -> Iterator[Guarded]:
    with tempfile.TemporaryDirectory(prefix="mcp-fuzz-") as folder:
        here = Guarded(Path(folder))
        yield here
        here.engine.close()


def run(target: str, seconds: float, number: int) -> Counter[str]:
    """Raises `Failed` for the first input that is not answered as it must be."""
    with guarded() as here:
        TARGETS[target](here, time.monotonic() + seconds, random.Random(number))
        if target != "routes":
            here.check()
        return here.counts


def guided_by_coverage(seconds: float) -> str:
    """Let atheris look for ways through the importers, in a process of its own. What it did."""
    command = [sys.executable, "-m", "tests.faults.fuzz_guided", str(int(seconds))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"atheris found: {done.stderr[-3000:]}")
    return done.stderr.strip().splitlines()[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=15, help="for all targets together")
    parser.add_argument("--targets", nargs="+", choices=sorted(TARGETS), default=sorted(TARGETS))
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    options = parser.parse_args()
    print(f"seed {options.seed}", file=sys.stderr)
    has_atheris = importlib.util.find_spec("atheris") is not None and "import" in options.targets
    each = options.minutes * 60 / (len(options.targets) + has_atheris)
    for target in options.targets:
        counts = run(target, each, options.seed)
        print(
            f"{target}: {counts.total():,} inputs in {each:.0f} s, no traceback, the store sound", flush=True
        )
        for what, count in sorted(counts.items()):
            print(f"  {what}: {count:,}")
    if has_atheris:
        print(f"import, guided by coverage for {each:.0f} s: {guided_by_coverage(each)}")
    elif "import" in options.targets:
        print("atheris is not installed: imports were fuzzed without coverage")


if __name__ == "__main__":
    main()
