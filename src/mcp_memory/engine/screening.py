"""Screening of new texts: credentials, and untrusted origins."""

import re
from dataclasses import replace

from mcp_memory.engine.drafts import NewMemory
from mcp_memory.errors import Invalid
from mcp_memory.model import Caller
from mcp_memory.text.secrets import find_secrets, redacted
from mcp_memory.tuning import SecretPolicy, Tuning

_WEB = re.compile(r"(?i)\s*(?:https?://|web\b|www\.)")
_TOOL = re.compile(r"(?i)\s*tool\b")


def screened(new: NewMemory, tuning: Tuning, caller: Caller) -> tuple[NewMemory, tuple[str, ...]]:
    """The memory as the settings allow it to be stored, and warnings for the writer. Raises `Invalid`."""
    policy = tuning.captured_secrets if new.captured else tuning.secrets
    content, warnings = screened_text(new.content, policy)
    context = screened_text(new.context, policy)[0] if new.context else new.context
    return replace(
        new,
        content=content,
        context=context,
        quarantined=new.quarantined or origin_of(new.source, caller) in tuning.quarantine,
    ), warnings


def screened_text(text: str, policy: SecretPolicy) -> tuple[str, tuple[str, ...]]:
    """The text as the policy allows it to be stored, and warnings."""
    kinds = list(dict.fromkeys(secret.kind for secret in find_secrets(text)))
    if not kinds:
        return text, ()
    what = " and ".join(kinds)
    if policy == "refuse":
        raise Invalid(
            f"the text seems to hold a credential ({what}), and SECRETS is set to refuse: leave it out"
        )
    if policy == "redact":
        return redacted(text), (f"a credential ({what}) was replaced by [redacted]",)
    return text, (f"the text seems to hold a credential ({what}): every client of this memory can read it",)


def origin_of(source: str | None, caller: Caller) -> str:
    """The kind of untrusted origin of a memory; empty if it is trusted."""
    if caller.via == "import":
        return "import"
    if source and _WEB.match(source):
        return "web"
    return "tool" if source and _TOOL.match(source) else ""
