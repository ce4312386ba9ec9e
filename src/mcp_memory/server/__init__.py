"""What the outside world speaks to: MCP, REST and server-sent events."""
