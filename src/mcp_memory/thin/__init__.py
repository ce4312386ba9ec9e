"""The thin client of the shared server: standard library only, so that it starts in moments.

One server per person holds the model, the caches and the database. What an assistant, a shell or a hook
starts is this package, which finds that server (`endpoint`), starts it when none runs (`launch`) and
carries bytes to it:

- `forwarding.forward`: an MCP session on standard input and output, kept whole when the server is replaced;
- `request.ask`: one question, one answer, both JSON, within a time limit. For commands and hooks.

Nothing here imports another part of mcp_memory.
"""

from mcp_memory.thin.request import Refused, ask

__all__ = ["Refused", "ask"]
