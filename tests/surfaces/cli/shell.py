"""Runs the command line as a person or a program would, on a database of the test's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from mcp_memory.cli import main

# No setting of the developer's environment may leak in.
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("MCP_MEMORY_")}


@dataclass(frozen=True)
class Shell:
    folder: Path
    provider: str = "none"
    """What makes vectors; `none` leaves words to find by."""

    @property
    def file(self) -> Path:
        return self.folder / "memory.db"

    @property
    def environment(self) -> dict[str, str]:
        settings = self.folder / "config.toml"
        settings.touch()
        return {
            "DATABASE_URL": f"sqlite:///{self.file}",
            "EMBEDDING_PROVIDER": self.provider,
            "MCP_MEMORY_CONFIG": str(settings),
        }

    def run(
        self,
        *words: str,
        exit_code: int = 0,
        input: str | bytes | None = None,
        environment: dict[str, str] | None = None,
    ) -> Result:
        runner = CliRunner(env={**self.environment, **(environment or {})})
        result = runner.invoke(main, words, input=input)
        assert result.exit_code == exit_code, result.output
        return result

    def json(self, *words: str, exit_code: int = 0, environment: dict[str, str] | None = None) -> Any:
        return json.loads(self.run(*words, "--json", exit_code=exit_code, environment=environment).stdout)

    def said(self, *words: str, input: str | None = None) -> str:
        return self.run(*words, input=input).stdout.strip()

    def complaint(self, *words: str, input: str | None = None) -> str:
        """Everything it says, with whatever exit code, when it does not do what was asked."""
        result = CliRunner(env=self.environment).invoke(main, words, input=input)
        assert result.exit_code != 0, result.output
        assert "Traceback" not in result.output
        assert "unexpectedly" not in result.output
        return result.stderr

    def refused(self, *words: str, exit_code: int) -> str:
        """The one sentence that says why."""
        result = self.run(*words, exit_code=exit_code)
        assert "Traceback" not in result.output
        [line] = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
        return line.removeprefix("Error: ")

    def start(
        self, *words: str, python: tuple[str, ...] = (), **options: Any
    ) -> subprocess.CompletedProcess[bytes]:
        """As a process of its own, which ends by itself."""
        return subprocess.run(
            [sys.executable, *python, "-m", "mcp_memory", *words],
            env={**CLEAN, **self.environment},
            capture_output=True,
            check=False,
            **options,
        )
