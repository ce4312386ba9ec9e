"""What a package carries: the page, if it could be built; without it, everything else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tools import page

ROOT = Path(__file__).parents[2]
PARTS = ("src", "web", "tools", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE")
NEVER = shutil.ignore_patterns("node_modules", "page", "__pycache__", ".*")
ASK = """\
from fastapi import FastAPI
from starlette.testclient import TestClient
from mcp_memory.server import page
from mcp_memory.server.mcp.view import View
app = FastAPI()
page.install(app)
print(page.__file__, View().is_built(), TestClient(app).get("/").text)
"""

pytestmark = pytest.mark.skipif(
    not (page.NODE_MODULES / ".installed").exists(), reason="the page's packages are missing: run `make page`"
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The sources alone; what npm had installed is at hand, so that nothing is fetched."""
    folder = tmp_path / "tree"
    folder.mkdir()
    for name in PARTS:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=NEVER)
        else:
            shutil.copy(ROOT / name, folder / name)
    (folder / "web" / "node_modules").symlink_to(page.NODE_MODULES, target_is_directory=True)
    return folder


def built(tree: Path, **environ: str) -> Path:
    """The package's files, as an installer would lay them out."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run(
        [*command, "--wheel-dir", str(tree / "dist"), str(tree)], check=True, env={**os.environ, **environ}
    )
    [wheel] = (tree / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tree / "installed")
    return tree / "installed"


def said(installed: Path) -> str:
    """The start page of what was installed."""
    environ = {**os.environ, "PYTHONPATH": str(installed)}
    answer = subprocess.run(
        [sys.executable, "-c", ASK], env=environ, cwd=installed, capture_output=True, text=True, check=True
    )
    assert answer.stdout.startswith(str(installed))
    return answer.stdout


def test_a_package_that_is_built_with_npm_carries_the_page_and_the_view(tree: Path) -> None:
    text = said(built(tree))
    assert " True " in text
    assert '<div id="page">' in text


def test_a_package_that_is_built_without_the_page_works_and_says_how_to_build_it(tree: Path) -> None:
    text = said(built(tree, SKIP_PAGE_BUILD="1"))
    assert " False " in text
    assert "make page" in text
