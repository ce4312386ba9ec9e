"""The help that `mcp-memory` prints at a terminal without a command."""

from __future__ import annotations

import click

from mcp_memory import __version__
from mcp_memory.config import Config, masked

TEXT = """\
mcp-memory {version}: one long-term memory for every AI assistant.

Without a command it is an MCP server: an assistant starts it and talks to it on standard input and output.
You are at a terminal, so here is how to connect one.

  mcp-memory install          finds your assistants and connects them, or one at a time:

  Claude Code   claude mcp add --scope user memory -- mcp-memory
  Codex         codex mcp add memory -- mcp-memory
  Gemini CLI    gemini mcp add --scope user memory mcp-memory
  others        {{"mcpServers": {{"memory": {{"command": "mcp-memory"}}}}}}  (see the README)

Use it yourself:

  mcp-memory remember "Ann prefers tea"
  mcp-memory recall "what does Ann drink?"
  mcp-memory import FILE      memories of other programs
  mcp-memory serve            REST, MCP over HTTP and a page to look at
  mcp-memory doctor           is everything well?
  mcp-memory --help           all commands

Memories are kept in {database}.
"""


def welcome(config: Config) -> None:
    click.echo(TEXT.format(version=__version__, database=masked(config.url)), nl=False)
