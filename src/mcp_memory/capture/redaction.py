"""Takes secrets out of text before it is kept."""

from __future__ import annotations

import re

HIDDEN = "[redacted]"

_WHOLE = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\b(?:sk|pk|rk)-(?:[A-Za-z]+-)*[A-Za-z0-9_-]{16,}"
    r"|\b(?:ghp|gho|ghu|ghs|ghr|glpat|xox[abposr]|npm|pypi|hf|shpat|dop_v1)[_-][A-Za-z0-9_-]{16,}"
    r"|\bgithub_pat_\w{20,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\bAIza[A-Za-z0-9_-]{30,}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    re.DOTALL,
)
_IN_URL = re.compile(r"(?<=://)([^\s/:@]+):([^\s/@]+)(?=@)")
_NAMED = re.compile(
    r"(?i)\b((?:[\w-]*(?:password|passwd|passphrase|secret|api[ _-]?key|access[ _-]?key|auth[ _-]?token"
    r"|token|contraseña|clave|pin)"
    r"[\w-]*)\s*(?:=|:|\bis\b|\bes\b)\s*[\"'`]?)([^\s\"'`,;]{4,})"
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{12,}")
_ORDINARY = re.compile(
    r"^[A-Za-zÀ-ÿ]{1,9}[.!]?$|^(?:rotated|stored|required|expired|optional|invalid|missing)\b"
)


def redact(text: str) -> str:
    """The text with every key, token and password replaced by `[redacted]`."""
    text = _WHOLE.sub(HIDDEN, text)
    text = _IN_URL.sub(rf"\1:{HIDDEN}", text)
    text = _BEARER.sub(rf"\1 {HIDDEN}", text)
    return _NAMED.sub(_hidden_value, text)


def _hidden_value(match: re.Match[str]) -> str:
    # "the token is rotated every 90 days" names no secret: a plain short word is no value.
    return match[0] if _ORDINARY.match(match[2]) else f"{match[1]}{HIDDEN}"
