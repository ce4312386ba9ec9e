"""Reads a passphrase from a file, the environment or a prompt, never from an argument."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from mcp_memory.cli.session import Session
from mcp_memory.errors import Invalid

passphrase_file_option = click.option(
    "--passphrase-file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="File whose first line is the passphrase; else MCP_MEMORY_PASSPHRASE, else it is asked for.",
)


def passphrase(session: Session, file: Path | None, *, new: bool = False) -> str:
    """The passphrase; a `new` one is asked for twice."""
    if file is not None:
        lines = file.read_text(encoding="utf-8").splitlines()
        found = lines[0] if lines else ""
    elif session.config.passphrase:
        found = session.config.passphrase
    elif sys.stdin.isatty():
        found = click.prompt("Passphrase", hide_input=True, confirmation_prompt=new, err=True)
    else:
        raise Invalid("a passphrase is needed: set MCP_MEMORY_PASSPHRASE, or give --passphrase-file")
    if not found:
        raise Invalid("the passphrase is empty: give one")
    return str(found)
