"""Fingerprints that identify equal content."""

import hashlib

from mcp_memory.text.unicode_forms import normalised_form


def normalised(text: str) -> str:
    """The text without what nobody means: spacing, and how its characters were composed.

    Case and punctuation are kept; `us` and `US`, `5.0` and `50` are different content.
    """
    return " ".join(normalised_form("NFC", text).split())


def fingerprint(text: str) -> str:
    """SHA-256 of the normalised text, in hexadecimal."""
    # A lone surrogate is no valid Unicode, but must not keep a memory from having a fingerprint.
    return hashlib.sha256(normalised(text).encode("utf-8", "surrogatepass")).hexdigest()


def exact_fingerprint(text: str) -> str:
    """SHA-256 of the text as it is: equal to `fingerprint` where there is nothing to normalise."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def spelling_fingerprint(text: str) -> str:
    """Tells a text from one that differs only in spacing, where both are kept."""
    return exact_fingerprint(f"spelled: {text}")
