"""The assistants that npm carries, each in a home of its own, so that nobody's settings are touched."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.npm_tools import installed, is_current, node_folder

MODULES = installed("clients") / "node_modules"
# Some packages fetch their program after installing; it is in an optional package for each platform.
PROGRAMS = {
    "claude": ("@anthropic-ai/claude-code-*/claude*",),
    "opencode": ("opencode-*-*/bin/opencode*",),
    "codex": ("@openai/codex/bin/codex.js",),
    "gemini": ("@google/gemini-cli/bundle/gemini.js",),
}
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|[\x00-\x08\x0b-\x1f]")


def why_not() -> str | None:
    """Why the assistants cannot be run, or nothing."""
    if not is_current("clients"):
        return "the assistants are not installed (1.1 GB): run `make clients`"
    missing = [name for name in PROGRAMS if not _program(name)]
    return f"npm has no {missing[0]} for this platform" if missing else None


def _program(name: str) -> Path | None:
    found = [file for pattern in PROGRAMS[name] for file in sorted(MODULES.glob(pattern)) if file.is_file()]
    return next(iter(found), None)


@dataclass(frozen=True)
class Home:
    """A person with a fresh home folder, and so with a fresh database."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        path = [str(Path(sys.executable).parent), str(node_folder()), os.environ.get("PATH", os.defpath)]
        return {
            "HOME": str(self.folder),
            "USERPROFILE": str(self.folder),
            "PATH": os.pathsep.join(path),
            "DISABLE_AUTOUPDATER": "1",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "LANG": "C.UTF-8",
        }

    def run(self, *words: str, input: str = "") -> subprocess.CompletedProcess[str]:
        """Run an assistant or any other program; its output comes without colours."""
        name, *rest = words
        program = _program(name) if name in PROGRAMS else shutil.which(name, path=self.environment["PATH"])
        by_node = [str(node_folder() / "node")] if str(program).endswith(".js") else []
        done = subprocess.run(
            [*by_node, str(program), *rest],
            cwd=self.folder,
            env=self.environment,
            input=input,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=400,
            check=False,
        )
        lines = _CONTROL.sub("", done.stdout).splitlines()
        done.stdout = "\n".join(line.rstrip() for line in lines if "PATH aliases" not in line) + "\n"
        return done

    def run_until(self, expected: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program up to three times, until it prints this.

        Gemini CLI gives a server five seconds, which the first start on a busy machine can exceed.
        """
        for _ in range(2):
            done = self.run(*words)
            if expected in done.stdout:
                return done
        return self.run(*words)

    def leave(self) -> None:
        """Stop the server that the assistants shared."""
        self.run("mcp-memory", "stop")

    def trust_folder(self) -> None:
        """Gemini CLI starts no server in a folder that the person has not called trusted."""
        settings = self.folder / ".gemini"
        settings.mkdir(exist_ok=True)
        (settings / "trustedFolders.json").write_text(json.dumps({str(self.folder): "TRUST_FOLDER"}))

    def configure_opencode(self, settings: str) -> None:
        file = self.folder / ".config" / "opencode" / "opencode.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(settings)


@dataclass(frozen=True)
class HomeWithModel(Home):
    """A home whose assistants talk to a model at an address on loopback."""

    address: str

    @property
    def environment(self) -> dict[str, str]:
        return {
            **super().environment,
            "ANTHROPIC_BASE_URL": self.address,
            "ANTHROPIC_API_KEY": "x",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",
            "GOOGLE_GEMINI_BASE_URL": self.address,
            "GEMINI_API_KEY": "x",
        }
