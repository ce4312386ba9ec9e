"""The real model, loaded once."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_memory.embedding import Embedder, NoModel, open_embedder


@pytest.fixture(scope="session")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    cache_dir: Path = tmp_path_factory.mktemp("cache")
    opened = open_embedder("local", "all-MiniLM-L6-v2", 384, models_dir=cache_dir, cache_dir=cache_dir)
    if isinstance(opened, NoModel):
        pytest.skip(opened.reason)
    return opened
