"""Writes down what the server says about itself, so that a thin client's very first start need not wait.

The files go into the package (`thin/descriptions/`), for each choice of tool sets that people make. The
answers are those of a real server to a real thin client. What is missing there, or no longer right, the thin
client learns from the server that it starts.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mcp_memory.config import Config
from mcp_memory.thin.handshake_cache import folder_name
from mcp_memory.thin.settings import cache_folder

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "src" / "mcp_memory" / "thin" / "descriptions"
CHOICES = (Config().tools, "anthropic")
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")


def conversations() -> list[list[dict[str, Any]]]:
    """All that clients of each era ask at their start."""
    me = {"name": "description", "version": "1"}
    old = [
        [
            {
                "method": "initialize",
                "params": {"protocolVersion": version, "capabilities": {}, "clientInfo": me},
            },
            *({"method": method, "params": {}} for method in LISTS),
        ]
        for version in VERSIONS
    ]
    prefix = "io.modelcontextprotocol/"
    meta = {f"{prefix}protocolVersion": MODERN, f"{prefix}clientInfo": me, f"{prefix}clientCapabilities": {}}
    modern = [{"method": method, "params": {"_meta": meta}} for method in ("server/discover", *LISTS)]
    return [*old, modern]


def describe(tools: str, home: Path) -> None:
    """Let a thin client learn from a server of its own, and keep what it has learned."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_RUNTIME_DIR": str(home),
        "MCP_MEMORY_SHARED_IDLE": "5",
        "EMBEDDING_PROVIDER": "none",
    }
    for conversation in conversations():
        lines = [json.dumps({"jsonrpc": "2.0", "id": id, **one}) for id, one in enumerate(conversation)]
        subprocess.run(
            [sys.executable, "-m", "mcp_memory", "--tools", tools],
            input="\n".join(lines) + "\n",
            env=environ,
            cwd=home,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=120,
            check=True,
        )


def main() -> int:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    for tools in CHOICES:
        with tempfile.TemporaryDirectory() as folder:
            describe(tools, Path(folder))
            [learned] = (Path(cache_folder({"HOME": folder})) / "descriptions").iterdir()
            shutil.copytree(learned, FOLDER / folder_name(tools))
    return 0


if __name__ == "__main__":
    sys.exit(main())
