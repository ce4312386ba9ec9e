"""Prints a completion script for commands, options and names of entities."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

VARIABLE = "_MCP_MEMORY_COMPLETE"
"""The shell sets it when it asks for completions."""


@click.command(short_help="Print a completion script for a shell.")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Print a completion script for SHELL; names of entities are completed too.

    \b
    bash:  echo 'eval "$(mcp-memory completion bash)"' >> ~/.bashrc
    zsh:   echo 'eval "$(mcp-memory completion zsh)"' >> ~/.zshrc
    fish:  mcp-memory completion fish > ~/.config/fish/completions/mcp-memory.fish
    """
    from mcp_memory.cli import main

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(main, {}, "mcp-memory", VARIABLE).source())
