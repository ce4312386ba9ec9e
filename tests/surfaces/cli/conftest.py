"""Programs that find memories by words alone, and ones that have a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_memory.embedding import Embedder
from tests.surfaces.cli.running import Program
from tests.surfaces.cli.shell import Shell


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.fixture
def program_with_model(tmp_path: Path, minilm: Embedder) -> Program:
    """`minilm` is asked for only because it says why, where the model cannot be had."""
    return Program(tmp_path, {"EMBEDDING_PROVIDER": "local"})


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)
