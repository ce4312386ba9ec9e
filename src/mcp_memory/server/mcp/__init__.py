"""The Model Context Protocol: tools for assistants."""
