"""Shapes of values on the wire: one declaration each, which REST, MCP and `--json` rename."""
