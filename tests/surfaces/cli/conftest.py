"""Shells whose program finds memories by words alone, and ones whose program has a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_memory.embedding import Embedder
from tests.surfaces.cli.shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def shell_with_model(tmp_path: Path, minilm: Embedder) -> Shell:
    """`minilm` is asked for only because it says why, where the model cannot be had."""
    return Shell(tmp_path, provider="local")
