"""The thin client of the shared server: standard library only, so that it starts quickly.

One server per person holds the model, the caches and the database. Assistants, shells and hooks start this
package, which finds that server (`endpoint`), starts it if none runs (`launch`) and forwards bytes to it:

- `forwarding.forward`: an MCP session on standard input and output, which survives a change of server;
- `request.ask`: one request and its answer as JSON, with a timeout. For commands and hooks.

Nothing here imports another part of mcp_memory.
"""

from mcp_memory.thin.request import Refused, ask

__all__ = ["Refused", "ask"]
