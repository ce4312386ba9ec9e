"""The servers: MCP, REST and the event stream."""
