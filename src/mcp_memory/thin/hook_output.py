"""The output of a hook, in the format of each client."""

from __future__ import annotations

import json


def rendered(client: str, event: str, text: str) -> str:
    """Gemini CLI expects JSON even without content."""
    if not text:
        return "{}" if client == "gemini" else ""
    if client == "opencode":
        return text
    if client == "cursor":
        return json.dumps({"additional_context": text}, ensure_ascii=False)
    told = {"hookEventName": event, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": told}, ensure_ascii=False)
