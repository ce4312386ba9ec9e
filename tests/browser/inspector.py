"""The protocol's own inspector as a host: a program of others that shows views inside a sandbox."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import FrameLocator, Page
from tools import npm_tools

from tests.faults.free_port import free_port
from tests.surfaces.rest.serving import Running

PROGRAM = npm_tools.installed("node") / "node_modules/@modelcontextprotocol/inspector"
PATIENCE = 60.0
"""Seconds until a host that never answers is a failure."""


@contextmanager
def inspecting(server: Running, folder: Path) -> Iterator[str]:
    """The address of a host that is connected to this server."""
    port = free_port()
    launcher = PROGRAM / json.loads((PROGRAM / "package.json").read_text())["bin"]["mcp-inspector"]
    node = npm_tools.node_folder() / ("node.exe" if os.name == "nt" else "node")
    with subprocess.Popen(
        [str(node), str(launcher), "--web", "--transport", "http", "--server-url", f"{server.url}/mcp"],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "MCP_STORAGE_DIR": str(folder),
            "MCP_INSPECTOR_SECRET_STORE": "memory",
            "MCP_AUTO_OPEN_ENABLED": "false",
            "DANGEROUSLY_OMIT_AUTH": "true",
            "CLIENT_PORT": str(port),
            "MCP_SANDBOX_PORT": str(free_port()),
            "MCP_APP_ORIGIN_PORT": str(free_port()),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as child:
        try:
            _wait_for(f"http://127.0.0.1:{port}/", child)
            yield f"http://127.0.0.1:{port}/"
        finally:
            child.terminate()


def _wait_for(url: str, child: subprocess.Popen[bytes]) -> None:
    given_up = time.monotonic() + PATIENCE
    while True:
        assert child.poll() is None, "the inspector ended"
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            assert time.monotonic() < given_up, "the inspector did not come up"
            time.sleep(0.1)


class Host:
    """What a person does in the host."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        page.goto(url)
        page.get_by_role("switch").first.click(force=True)
        page.get_by_text("Apps", exact=True).first.click()

    @property
    def view(self) -> FrameLocator:
        """Our document, in the sandbox in the host."""
        return self.page.frame_locator("iframe").frame_locator("iframe")

    def open(self, title: str, field: str, value: str) -> None:
        self.page.get_by_role("button", name=title).first.click()
        self.page.get_by_label(field).first.fill(value)
        self.page.get_by_role("button", name="Open App").click()
