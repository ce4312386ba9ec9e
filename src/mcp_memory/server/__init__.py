"""Programs and assistants come in here: MCP, REST, the event stream."""
