"""Fingerprints that identify equal content."""

import hashlib

from mcp_memory.text.unicode_forms import normalised_form


def normalised(text: str) -> str:
    """The text without meaningless differences: spacing and Unicode composition.

    Case and punctuation are kept; `us` and `US`, `5.0` and `50` are different content.
    """
    return " ".join(normalised_form("NFC", text).split())


def fingerprint(text: str) -> bytes:
    """128 bits of the SHA-256 of the normalised text: enough to tell any texts apart."""
    return _hash(normalised(text)).digest()[:16]


def exact_fingerprint(text: str) -> bytes:
    """The same of the text as it is: equal to `fingerprint` where there is nothing to normalise."""
    return _hash(text).digest()[:16]


def fingerprints(text: str) -> tuple[bytes, bytes]:
    """`fingerprint` and `exact_fingerprint`, which are mostly the same."""
    exact = exact_fingerprint(text)
    return exact if normalised(text) == text else fingerprint(text), exact


def spelling_fingerprint(text: str) -> bytes:
    """Distinguishes texts that differ only in spacing, where both are stored."""
    return exact_fingerprint(_spelled(text))


def long_fingerprint(text: str) -> str:
    """The whole SHA-256 of the normalised text, in hexadecimal."""
    return _hash(normalised(text)).hexdigest()


def long_fingerprints(text: str) -> tuple[str, str, str]:
    """What earlier releases stored for a text: one of these."""
    return long_fingerprint(text), _hash(text).hexdigest(), _hash(_spelled(text)).hexdigest()


def _spelled(text: str) -> str:
    return f"spelled: {text}"


def _hash(text: str) -> "hashlib._Hash":
    # A lone surrogate is not valid Unicode, but such a text needs a fingerprint too.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass"))
