"""Answers the hooks of assistants' clients: what to inject, and what to capture afterwards."""

from mcp_memory.server.hooks.answering import Hooks

__all__ = ["Hooks"]
