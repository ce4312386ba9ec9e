"""The server as a process: what goes through its pipes, what it loads and when it ends."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.shared_servers import stop_servers

HANDSHAKES = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
ALICE = {"name": "Alice", "entityType": "person", "observations": ["likes tea"]}
CREATE = {"name": "create_entities", "arguments": {"entities": [ALICE]}}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "pipe", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.fixture(params=["no", "auto"], ids=["one process", "shared server"], autouse=True)
def shared(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """What a client sees is the same in both ways."""
    monkeypatch.setenv("MCP_MEMORY_SHARED", request.param)
    yield request.param
    stop_servers(Path(os.environ["XDG_RUNTIME_DIR"]))


def environment(folder: Path) -> dict[str, str]:
    inherited = {name: os.environ[name] for name in ("MCP_MEMORY_SHARED", "XDG_RUNTIME_DIR")}
    return {**inherited, "DATABASE_URL": f"sqlite:///{folder / 'memory.db'}", "HOME": str(folder)}


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def handshake(version: str) -> list[dict[str, Any]]:
    greeting = {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "pipe", "version": "1"},
    }
    return [request(0, "initialize", **greeting), {"jsonrpc": "2.0", "method": "notifications/initialized"}]


def run(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Everything is sent at once, and the input ends: the process must answer all of it and leave."""
    return subprocess.run(
        [sys.executable, "-m", "mcp_memory", "--tools", "anthropic"],
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        env=environment(folder),
        cwd=folder,
    )


def started(folder: Path) -> subprocess.Popen[str]:
    """A server whose input stays open."""
    return subprocess.Popen(
        [sys.executable, "-m", "mcp_memory", "--tools", "graph"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment(folder), "EMBEDDING_PROVIDER": "none"},
        cwd=folder,
    )


def talk(folder: Path, messages: list[dict[str, Any]]) -> dict[int, Any]:
    """Answers by the number of their question."""
    finished = run(folder, "".join(json.dumps(message) + "\n" for message in messages))
    assert finished.returncode == 0, finished.stderr
    answers = [json.loads(line) for line in finished.stdout.splitlines()]
    return {answer["id"]: answer.get("result", answer.get("error")) for answer in answers}


@pytest.mark.parametrize("version", HANDSHAKES)
def test_every_handshake_is_answered_in_its_own_version(tmp_path: Path, version: str) -> None:
    answers = talk(
        tmp_path, [*handshake(version), request(1, "tools/list"), request(2, "tools/call", **CREATE)]
    )
    assert answers[0]["protocolVersion"] == version
    assert len(answers[1]["tools"]) == 9
    assert json.loads(answers[2]["content"][0]["text"]) == [ALICE]


def test_the_newest_era_needs_no_handshake(tmp_path: Path) -> None:
    messages = [request(1, "server/discover", _meta=MODERN), request(2, "tools/call", **CREATE, _meta=MODERN)]
    answers = talk(tmp_path, messages)
    assert "2026-07-28" in answers[1]["supportedVersions"]
    assert answers[1]["capabilities"]["resources"]["subscribe"] is True
    assert answers[2]["structuredContent"] == {"entities": [ALICE]}


def test_an_unknown_version_is_answered_with_one_that_we_speak(tmp_path: Path) -> None:
    assert talk(tmp_path, handshake("1999-01-01"))[0]["protocolVersion"] == "2025-11-25"


def test_an_input_that_ends_at_once_ends_the_process(tmp_path: Path) -> None:
    finished = run(tmp_path, "")
    assert (finished.returncode, finished.stdout) == (0, "")


def test_a_line_that_is_no_message_does_not_stop_the_server(tmp_path: Path) -> None:
    lines = ["this is not JSON", *map(json.dumps, handshake("2025-11-25")), json.dumps(request(1, "ping"))]
    finished = run(tmp_path, "\n".join(lines) + "\n")
    assert finished.returncode == 0
    assert 1 in [json.loads(line).get("id") for line in finished.stdout.splitlines()]


def test_a_text_with_half_a_surrogate_pair_is_refused_and_the_server_goes_on(tmp_path: Path) -> None:
    broken = {**ALICE, "observations": ["half of an emoji: \ud83d"]}
    broken_call = {"name": "create_entities", "arguments": {"entities": [broken]}}
    messages = [*handshake("2025-11-25"), request(1, "tools/call", **broken_call)]
    answers = talk(tmp_path, [*messages, request(2, "tools/call", name="read_graph", arguments={})])
    assert "surrogate" in answers[1]["message"]
    assert answers[2]["structuredContent"] == {"entities": [], "relations": []}


@pytest.mark.seed("004 §14.8")
def test_background_work_starts_with_the_server_and_waits_for_no_call(tmp_path: Path) -> None:
    server = started(tmp_path)
    assert server.stdin
    assert server.stdout
    try:
        server.stdin.write(json.dumps(handshake(HANDSHAKES[-1])[0]) + "\n")
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 0
        while not (tmp_path / "memory.db").exists():
            assert server.poll() is None
    finally:
        server.kill()
        server.communicate()


@pytest.mark.parametrize("tool_set", ["anthropic", "graph"])
@pytest.mark.seed("001 lazy")
def test_listing_tools_loads_neither_database_nor_model(tool_set: str) -> None:
    program = (
        "import sys; from mcp_memory.server.mcp import sets, stdio; "
        f"[tool.listed() for set in sets.tool_sets(['{tool_set}']) for tool in set.tools]; "
        "print(sorted({'numpy', 'apsw', 'psycopg', 'onnxruntime', 'tokenizers'} & sys.modules.keys()))"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such signals")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_while_its_input_is_open(
    tmp_path: Path, ending: signal.Signals, shared: str
) -> None:
    database = tmp_path / "memory.db"
    server = started(tmp_path)
    assert server.stdin
    assert server.stdout
    try:
        for message in [*handshake(HANDSHAKES[-1]), request(1, "tools/call", **CREATE)]:
            server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
        assert [json.loads(server.stdout.readline())["id"] for _ in range(2)] == [0, 1]
        server.send_signal(ending)
        assert server.wait(60) == 128 + ending
    finally:
        server.kill()
        _, said = server.communicate()
    assert "Traceback" not in said
    if shared == "no":
        assert not database.with_name("memory.db-wal").exists(), "the database was closed"
