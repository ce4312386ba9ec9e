"""`mcp-memory`, also as `python -m mcp_memory`. The thin client is tried first: it loads in moments."""

import os
import sys

from mcp_memory.thin.main import run


def main() -> None:
    # A shell asks for completions.
    code = None if "_MCP_MEMORY_COMPLETE" in os.environ else run(sys.argv[1:], os.environ)
    if code is not None:
        sys.stdout.flush()
        # Nothing is left to clean up, and the interpreter's shutdown takes time.
        os._exit(code)
    from mcp_memory.cli import main as whole_program

    whole_program(prog_name="mcp-memory")


if __name__ == "__main__":
    main()
