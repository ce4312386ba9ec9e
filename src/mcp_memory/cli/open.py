"""Opens the page in a browser, logged in."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
import webbrowser
from dataclasses import replace
from itertools import chain
from typing import Any, BinaryIO

import click

from mcp_memory.cli.session import Session
from mcp_memory.config import Config, default_cache_dir

PATIENCE = 15.0
"""Timeout in seconds for a running server, which may be busy; where none runs, the answer comes at once."""

STARTING = 60.0
"""Timeout in seconds for a server that was just started."""

LOOK_EVERY = 0.05
FLAGS = {"database_url": "--database", "space": "--space", "tools": "--tools", "log_level": "--log-level"}
LONGEST_LOG = 1_000_000
"""Bytes."""


@click.command(name="open")
@click.option("--port", type=click.IntRange(1, 65535), help="The port of the server, if not the usual one.")
@click.option(
    "--no-browser", is_flag=True, help="Only print the address, which logs in once, within two minutes."
)
@click.pass_obj
def open_(session: Session, port: int | None, no_browser: bool) -> None:
    """Open the page that shows the memory, logged in.

    Uses the running server, or starts one in the background, which ends some minutes after the page is
    closed.
    """
    config = session.config
    config = replace(config, api_port=config.api_port if port is None else port)
    base = f"http://{_reachable(config.api_host)}:{config.api_port}"
    if not _answers(base):
        _start(session, config, base)
    _show(session, base, no_browser)


def _start(session: Session, config: Config, base: str) -> None:
    """Wait until the server answers. Raises `ClickException`, with its output, if it does not."""
    with _log() as log:
        began = log.tell()
        started = subprocess.Popen(
            [*_program(session), "serve", "--port", str(config.api_port), "--until-idle"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            **_detached(),
        )
        deadline = time.monotonic() + STARTING
        while not _answers(base):
            if started.poll() is not None or time.monotonic() > deadline:
                log.seek(began)
                raise click.ClickException(log.read().decode(errors="replace").strip() or "no server started")
            time.sleep(LOOK_EVERY)
    click.echo("Started a server in the background; it ends when nobody uses it.", err=True)


def _program(session: Session) -> list[str]:
    """The command of this program with these settings. Environment variables are inherited."""
    file = ["--config", str(session.file)] if session.file is not None else []
    given = [(flag, str(session.flags[name])) for name, flag in FLAGS.items() if name in session.flags]
    return [sys.executable, "-P", "-m", "mcp_memory", *file, *chain.from_iterable(given)]


def _detached() -> dict[str, Any]:
    if sys.platform == "win32":
        return {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def _log() -> BinaryIO:
    """The log of earlier starts, emptied once it has become long."""
    file = default_cache_dir() / "page-server.log"
    file.parent.mkdir(parents=True, exist_ok=True)
    is_long = file.exists() and file.stat().st_size > LONGEST_LOG
    log = file.open("w+b" if is_long else "a+b")
    log.seek(0, os.SEEK_END)
    return log


def _show(session: Session, base: str, no_browser: bool) -> None:
    # After the `#`, so that it reaches neither a log nor another server; it works once, for two minutes.
    address = f"{base}/#code={session.engine.page_sessions.invite()}"
    if no_browser or not webbrowser.open(address):
        click.echo(address)
    else:
        click.echo(f"Opened {base} in your browser.", err=True)


def _answers(base: str) -> bool:
    try:
        with urllib.request.urlopen(f"{base}/api/session", timeout=PATIENCE) as answer:
            return b'"login_needed"' in (body := answer.read()) or b'"rights"' in body
    except urllib.error.HTTPError as error:
        raise click.ClickException(
            f"{base} is taken by another program (it answers {error.code}): choose another --port"
        ) from None
    except (OSError, ValueError):
        return False


def _reachable(host: str) -> str:
    """The address to call a server by that listens on `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
