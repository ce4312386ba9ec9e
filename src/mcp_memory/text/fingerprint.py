"""Fingerprints that identify equal content."""

import hashlib

from mcp_memory.text.unicode_forms import normalised_form


def normalised(text: str) -> str:
    """The text without meaningless differences: spacing and Unicode composition.

    Case and punctuation are kept; `us` and `US`, `5.0` and `50` are different content.
    """
    return " ".join(normalised_form("NFC", text).split())


def fingerprint(text: str) -> str:
    """SHA-256 of the normalised text, in hexadecimal."""
    # A lone surrogate is not valid Unicode, but such a text needs a fingerprint too.
    return hashlib.sha256(normalised(text).encode("utf-8", "surrogatepass")).hexdigest()


def exact_fingerprint(text: str) -> str:
    """SHA-256 of the text as it is: equal to `fingerprint` where there is nothing to normalise."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def fingerprints(text: str) -> tuple[str, str]:
    """`fingerprint` and `exact_fingerprint`, which are mostly the same."""
    exact = exact_fingerprint(text)
    return exact if normalised(text) == text else fingerprint(text), exact


def spelling_fingerprint(text: str) -> str:
    """Distinguishes texts that differ only in spacing, where both are stored."""
    return exact_fingerprint(f"spelled: {text}")
