"""Fingerprints that identify equal content."""

import hashlib

from mcp_memory.text.unicode_forms import normalised_form


class ContentHash(bytes):
    """128 bits of a SHA-256: enough to tell any texts apart. The whole is what earlier releases stored."""

    whole: bytes

    def __new__(cls, whole: bytes) -> "ContentHash":
        made = super().__new__(cls, whole[:16])
        made.whole = whole
        return made


def normalised(text: str) -> str:
    """The text without meaningless differences: spacing and Unicode composition.

    Case and punctuation are kept; `us` and `US`, `5.0` and `50` are different content.
    """
    return " ".join(normalised_form("NFC", text).split())


def fingerprint(text: str) -> ContentHash:
    """Of the normalised text."""
    return ContentHash(_hash(normalised(text)).digest())


def exact_fingerprint(text: str) -> ContentHash:
    """Of the text as it is: equal to `fingerprint` where there is nothing to normalise."""
    return ContentHash(_hash(text).digest())


def fingerprints(text: str) -> tuple[ContentHash, ContentHash]:
    """`fingerprint` and `exact_fingerprint`, which are mostly the same."""
    exact = exact_fingerprint(text)
    return exact if normalised(text) == text else fingerprint(text), exact


def spelling_fingerprint(text: str) -> ContentHash:
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
