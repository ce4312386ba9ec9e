"""The package as a library: its public names, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import mcp_memory
from mcp_memory.errors import Invalid


def test_every_public_name_is_there() -> None:
    for name in mcp_memory.__all__:
        assert getattr(mcp_memory, name) is not None
    assert set(mcp_memory.__all__) == set(mcp_memory._MODULES)


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'forget_everything'"):
        mcp_memory.forget_everything  # noqa: B018


def test_importing_the_package_imports_no_part_of_it() -> None:
    code = "import sys, mcp_memory; print([name for name in sys.modules if name.startswith('mcp_memory.')])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_connecting_reads_no_environment_and_refuses_unknown_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_MEMORY_SPACE", "elsewhere")
    with mcp_memory.connect(f"sqlite:///{tmp_path}/m.db", embedding_provider="none") as memory:
        assert memory.caller.space == "default"
    with pytest.raises(Invalid, match="no setting 'spce'"):
        mcp_memory.connect(f"sqlite:///{tmp_path}/m.db", spce="x")
