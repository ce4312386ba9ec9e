"""What `doctor` says about an intact database that it cannot write to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_memory import connect
from mcp_memory.inputs import NewMemory

DATA = {"integrity", "tables", "references", "rows", "texts", "numbers", "tags", "words of memories"}
"""What is said of the data itself."""

# Rights do not bind root, so root becomes somebody else. It looks once before, because that user may not be
# allowed to read the modules of the program.
LOOK = """
import os
from mcp_memory.cli import main
def look():
    try:
        main(["doctor", "--json"])
    except SystemExit:
        pass
if os.geteuid() == 0:
    look()
    os.setgid(65534)
    os.setuid(65534)
print("---", flush=True)
look()
"""


@pytest.fixture
def database() -> Iterator[Path]:
    # Not below pytest's own folder, which other users cannot enter.
    with tempfile.TemporaryDirectory(prefix="mcp-doctor-") as folder:
        path = Path(folder) / "memory.db"
        with connect(f"sqlite:///{path}", embedding_provider="none") as engine:
            engine.memories.remember(NewMemory(content="the lamp stays"))
        path.chmod(0o444)
        path.parent.chmod(0o555)
        yield path
        path.parent.chmod(0o755)


def findings(database: Path) -> dict[str, bool]:
    """By subject, whether it is well."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(database.parent),
        "DATABASE_URL": f"sqlite:///{database}",
        "EMBEDDING_PROVIDER": "none",
    }
    command = [sys.executable, "-c", LOOK]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120, check=True)
    return {one["subject"]: one["is_well"] for one in json.loads(done.stdout.split("---\n")[1])}


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
def test_an_intact_database_in_a_read_only_folder_is_not_called_damaged(database: Path) -> None:
    found = findings(database)
    assert not found["access"], "the rights are what is wrong"
    assert found.keys() >= DATA
    assert all(found[subject] for subject in DATA)
