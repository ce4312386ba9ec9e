"""The package registry shows the README without the files beside it, so its links must be absolute."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(!?)\[[^\]]*\]\(([^)]+)\)")


def test_every_link_of_the_registry_s_readme_is_absolute_and_leads_to_a_file_of_ours() -> None:
    core = ProjectMetadata(str(ROOT), PluginManager()).core
    source = core.urls["Source"]
    links = LINK.findall(core.readme)
    assert any(mark for mark, _ in links), "the README has pictures"
    for mark, target in links:
        assert target.startswith("https://")
        if target.startswith(source):
            kind, name = target.removeprefix(f"{source}/").split("/main/")
            assert kind == ("raw" if mark else "blob")
            assert (ROOT / name.split("#")[0]).exists()


def test_the_rest_of_the_readme_is_as_it_is() -> None:
    core = ProjectMetadata(str(ROOT), PluginManager()).core
    text = (ROOT / "README.md").read_text("utf-8")
    assert LINK.sub("", core.readme) == LINK.sub("", text)
