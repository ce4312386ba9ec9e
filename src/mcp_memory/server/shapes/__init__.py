"""How values look outside: one declaration for each, which REST, MCP and `--json` name in their own words."""
