"""Spends a new user's first hour with the real programs, and writes the transcript to docs/first-hour.md.

    python -m tools.first_hour

Everything happens in a temporary home folder. A step that ends otherwise than expected ends the script,
and the page stays as it was.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.clients.fake_model import fake_model
from tools.assistants import Home, HomeWithModel, why_not
from tools.npm_tools import ROOT, installed, is_current

PAGE = ROOT / "docs" / "first-hour.md"
INSPECTOR = installed("node") / "node_modules" / "@modelcontextprotocol" / "inspector"
LONGEST = 24  # lines of output that are shown
TRIES = 5
"""A hook that a busy machine delays by more than 300 ms says nothing; the person would ask again."""
MEM0 = {
    "results": [
        {"id": "1", "memory": "Prefers window seats", "created_at": "2025-03-08T10:00:00Z"},
        {"id": "2", "memory": "Is allergic to walnuts", "created_at": "2025-03-09T10:00:00Z"},
    ]
}


@dataclass(frozen=True)
class Step:
    command: str
    expects: str = ""
    """A part of what must be printed."""
    exit_code: int = 0


CHAPTERS: dict[str, list[Step]] = {
    "Set up": [
        Step("mcp-memory --version", "mcp-memory"),
        Step("mcp-memory model install", "is ready in"),
        Step("mcp-memory info", "There is no database"),
    ],
    "Connect every assistant": [
        Step("mcp-memory install --yes", ": connected."),
        Step("claude mcp list", "Connected"),
        Step("gemini mcp list", "Connected"),
        Step("codex mcp list", "enabled"),
        Step("opencode mcp list", "connected"),
        Step("mcp-memory doctor", "Claude Code: connected"),
    ],
    "Say something once": [
        Step(
            'claude -p "From now on, write all commit messages in English." --model claude-sonnet-4-5',
            "Understood.",
        ),
        Step("mcp-memory captured", "commit messages in English"),
        Step("mcp-memory captured accept --all", "1"),
        Step("mcp-memory digest", "commit messages in English"),
    ],
    "What an assistant does": [
        Step(
            "inspector --cli mcp-memory --method tools/call --tool-name memory_save --tool-args-json "
            '\'{"content": "Ann prefers green tea", "memory_type": "preference"}\' --format json',
            'isError":false',
        ),
        Step(
            "inspector --cli mcp-memory --method tools/call --tool-name memory_recall --tool-args-json "
            '\'{"query": "what does Ann like to drink?"}\' --format json',
            "Ann prefers green tea",
        ),
    ],
    "Look at it yourself": [
        Step('mcp-memory recall "what does Ann like to drink?"', "Ann prefers green tea"),
        Step('mcp-memory remember "Ann moved to Porto" --about Ann'),
        Step("mcp-memory entities show Anne", "Did you mean 'Ann'?", 1),
        Step("mcp-memory entities show Ann", "Ann moved to Porto"),
        Step("mcp-memory history", "remembered"),
        Step("mcp-memory undo", "Undone"),
        Step("mcp-memory status", "clients"),
    ],
    "Bring what you have": [
        Step("mcp-memory import --preview mem0.json", "memories of mem0: 2 memories"),
        Step("mcp-memory import mem0.json", "Imported 2 memories"),
        Step("mcp-memory import mem0.json", "Known already: 2 memories"),
        Step('mcp-memory recall "which seat on the plane?"', "window"),
        Step("mcp-memory memories list --after yesterday", "Ann"),
    ],
    "Keep it safe": [
        Step("mcp-memory backup", "backup"),
        Step("mcp-memory export memories.jsonl", "Wrote"),
        Step("mcp-memory stats", "memories"),
    ],
    "Leave": [
        Step("mcp-memory uninstall", "disconnected"),
        Step("mcp-memory stop"),
    ],
}


def transcript(home: Home) -> Iterator[str]:
    yield "# The first hour"
    yield ""
    yield "Made by `make first-hour` with the real programs from PyPI and npm, in a fresh home folder. Here"
    yield "Claude Code talks to a model on loopback that says one word."
    for title, steps in CHAPTERS.items():
        yield ""
        yield f"## {title}"
        yield ""
        yield "```console"
        for step in steps:
            yield f"$ {step.command}"
            yield from _shown(_output(home, step), home)
        yield "```"


def _output(home: Home, step: Step) -> str:
    words = shlex.split(step.command)
    if words[0] == "inspector":
        manifest = json.loads((INSPECTOR / "package.json").read_text("utf-8"))
        words = ["node", str(INSPECTOR / manifest["bin"]["mcp-inspector"]), *words[1:]]
    done = home.run(*words)
    for _ in range(TRIES - 1):
        if step.expects in done.stdout:
            break
        done = home.run(*words)
    if done.returncode != step.exit_code or step.expects not in done.stdout:
        sys.exit(f"`{step.command}` ended with {done.returncode}:\n{done.stdout}")
    print(f"ok  {step.command[:90]}")
    return done.stdout


def _shown(output: str, home: Home) -> list[str]:
    # Ids, times and places differ from run to run.
    text = output.replace(str(home.folder), "~").replace(f"{Path(sys.executable).parent}{os.sep}", "")
    text = re.sub(r"\bprocess(\s+)\d+", r"process\g<1>4711", text)
    text = re.sub(
        r"\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{8}([0-9a-f]{4})", r"…\1", text
    )
    text = re.sub(r"-\d{8}T\d{6}Z", "-20260131T120000Z", text)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-([0-9a-f]{12})", r"…\1", text)
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d\.\d+(\+00:00|Z)?)?", "2026-01-31 12:00", text)
    text = re.sub(r"\d{4}-\d\d-\d\d", "2026-01-31", text)
    text = re.sub(r"[\d.]+ GB free", "… GB free", text)
    lines = [line.expandtabs(4) for line in text.strip("\n").splitlines()]
    return lines if len(lines) <= LONGEST else [*lines[:LONGEST], f"… ({len(lines) - LONGEST} more lines)"]


def main() -> None:
    reason = why_not() or ("" if is_current("node") else "run tools/npm_tools.py first")
    if reason:
        sys.exit(reason)
    with (
        fake_model() as (address, model),
        tempfile.TemporaryDirectory(prefix="hour", ignore_cleanup_errors=True) as folder,
    ):
        model.script = [{"text": "Understood."}]
        home = HomeWithModel(Path(folder), address)
        for name in (".claude", ".codex", ".gemini", ".config/opencode"):
            (home.folder / name).mkdir(parents=True)
        home.trust_folder()
        (home.folder / "mem0.json").write_text(json.dumps(MEM0))
        try:
            text = "\n".join(transcript(home)) + "\n"
        finally:
            home.leave()
    PAGE.write_text(text, "utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
