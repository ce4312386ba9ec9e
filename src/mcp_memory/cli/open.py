"""Opens the page in a browser, logged in."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
import webbrowser
from dataclasses import replace

import click

from mcp_memory.cli.session import Session

PATIENCE = 2.0
"""Seconds a running server has to answer; one that starts has thirty."""

STARTING = 30.0


@click.command(name="open")
@click.option("--port", type=click.IntRange(1, 65535), help="The port of the server, if not the usual one.")
@click.option("--no-browser", is_flag=True, help="Only print the address, which logs in once and soon.")
@click.pass_obj
def open_(session: Session, port: int | None, no_browser: bool) -> None:
    """Open the page that shows the memory, logged in.

    Uses the server that runs; where none does, serves until Ctrl-C.
    """
    config = session.config
    config = replace(config, api_port=config.api_port if port is None else port)
    base = f"http://{_reachable(config.api_host)}:{config.api_port}"
    if _answers(base):
        _show(session, base, no_browser)
        return
    from mcp_memory.cli.serve import run

    stopped = threading.Event()
    threading.Thread(target=_show_when_up, args=(session, base, no_browser, stopped), daemon=True).start()
    try:
        run(session, config)
    finally:
        stopped.set()


def _show_when_up(session: Session, base: str, no_browser: bool, stopped: threading.Event) -> None:
    waited = 0.0
    while not stopped.is_set() and waited < STARTING:
        if _answers(base):
            _show(session, base, no_browser)
            return
        stopped.wait(0.1)
        waited += 0.1


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
