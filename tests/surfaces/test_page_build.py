"""What the page is built from, and what comes out: types of the API, the lock file, the size."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tools import page

from mcp_memory.server.app import openapi_document

BUNDLE_LIMIT = 400_000
"""Bytes of the page, compressed, with its font; the API reference is a page of its own."""


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """The page's sources and the OpenAPI document, beside the packages that are installed already."""
    if not (page.NODE_MODULES / ".installed").exists():
        pytest.skip("the page's packages are not installed: run `make page`")
    copy = tmp_path / "web"
    shutil.copytree(page.WEB, copy, ignore=shutil.ignore_patterns("node_modules", "api"))
    (copy / "node_modules").symlink_to(page.NODE_MODULES, target_is_directory=True)
    return copy


def test_a_field_that_the_api_renames_breaks_the_build(web: Path, capfd: pytest.CaptureFixture[str]) -> None:
    document = json.dumps(openapi_document())
    assert '"effective_confidence"' in document
    renamed = document.replace('"effective_confidence"', '"certainty"')
    (web / "openapi.json").write_text(renamed, encoding="utf-8")
    page.npm("run", "types", sources=web)
    with pytest.raises(subprocess.CalledProcessError):
        page.npm("run", "check", sources=web)
    assert "Property 'effective_confidence' does not exist" in capfd.readouterr().out


def test_the_lock_file_names_no_host() -> None:
    packages = json.loads((page.WEB / "package-lock.json").read_text("utf-8"))["packages"]
    assert len(packages) > 50
    hosts = {urlsplit(one.get("resolved", "")).netloc for one in packages.values()}
    assert hosts == {""}
    assert all("integrity" in one for name, one in packages.items() if name and not one.get("link"))


def test_the_page_stays_small() -> None:
    if not (page.BUILT / "index.html").exists():
        pytest.skip("the page is not built: run `make page`")
    scripts = [file for file in page.BUILT.rglob("*.gz") if not file.name.startswith("docs")]
    fonts = page.BUILT.rglob("inter-latin-wght*.woff2")
    assert scripts
    assert sum(file.stat().st_size for file in [*scripts, *fonts]) < BUNDLE_LIMIT
