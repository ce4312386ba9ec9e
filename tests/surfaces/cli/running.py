"""Runs the program as a shell would, on a database of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from mcp_memory.cli import main


@dataclass
class Program:
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def run(self, *arguments: str, answer: str | None = None) -> Result:
        """What came of it; `answer` is what somebody types, or pipes in."""
        environment = {
            "DATABASE_URL": f"sqlite:///{self.folder / 'memory.db'}",
            "HOME": str(self.folder),
            "EMBEDDING_PROVIDER": "none",
            **self.environment,
        }
        return CliRunner(env=environment).invoke(main, arguments, input=answer)

    def said(self, *arguments: str, answer: str | None = None) -> str:
        """What it printed, if it succeeded."""
        result = self.run(*arguments, answer=answer)
        assert result.exit_code == 0, result.output
        return result.stdout.strip()

    def json(self, *arguments: str, answer: str | None = None) -> Any:
        return json.loads(self.said(*arguments, "--json", answer=answer))

    def refusal(self, *arguments: str, answer: str | None = None) -> str:
        """What it complained of."""
        result = self.run(*arguments, answer=answer)
        assert result.exit_code != 0, result.output
        assert "Traceback" not in result.output
        assert "unexpectedly" not in result.output
        return result.stderr
