"""The program on a database of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surfaces.cli.shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)
