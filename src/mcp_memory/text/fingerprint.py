"""Fingerprints that identify equal content."""

import hashlib
from collections.abc import Sequence

from mcp_memory.text.unicode_forms import normalised_form


class ContentHash(bytes):
    """128 bits of a SHA-256: enough to tell any texts apart. The whole is what earlier releases stored."""

    whole: bytes

    def __new__(cls, whole: bytes) -> "ContentHash":
        made = bytes.__new__(cls, whole[:16])
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


def spelling_fingerprint(text: str) -> ContentHash:
    """Distinguishes texts that differ only in spacing, where both are stored."""
    return ContentHash(_spelling_hash(_encoded(text)).digest())


def fingerprints(texts: Sequence[str]) -> list[tuple[ContentHash, ContentHash, ContentHash]]:
    """Of each text: `fingerprint`, `exact_fingerprint` (mostly the same) and `spelling_fingerprint`."""
    # A bulk write asks for those of hundreds of texts: each is encoded once.
    encoded = list(map(_encoded, texts))
    exact = _content_hashes([hashlib.sha256(one).digest() for one in encoded])
    spelling = _content_hashes([_spelling_hash(one).digest() for one in encoded])
    normal = exact
    if not _is_normal(" ".join(texts)):  # else each of them is
        normal = [
            same if _is_normal(text) else fingerprint(text) for text, same in zip(texts, exact, strict=True)
        ]
    return list(zip(normal, exact, spelling, strict=True))


def _content_hashes(wholes: Sequence[bytes]) -> list[ContentHash]:
    """`ContentHash` of each; its constructor would take most of the time."""
    made = [bytes.__new__(ContentHash, whole[:16]) for whole in wholes]
    for one, whole in zip(made, wholes, strict=True):
        one.whole = whole
    return made


def _is_normal(text: str) -> bool:
    if text.isascii() and text.isprintable():
        # Its only white space is the space.
        return "  " not in text and text[:1] != " " and text[-1:] != " "
    return normalised(text) == text


def long_fingerprint(text: str) -> str:
    """The whole SHA-256 of the normalised text, in hexadecimal."""
    return _hash(normalised(text)).hexdigest()


def long_fingerprints(text: str) -> tuple[str, str, str]:
    """What earlier releases stored for a text: one of these."""
    spelling = _spelling_hash(_encoded(text)).hexdigest()
    return long_fingerprint(text), _hash(text).hexdigest(), spelling


def _hash(text: str) -> "hashlib._Hash":
    return hashlib.sha256(_encoded(text))


def _spelling_hash(encoded: bytes) -> "hashlib._Hash":
    return hashlib.sha256(b"spelled: " + encoded)


def _encoded(text: str) -> bytes:
    # A lone surrogate is not valid Unicode, but such a text needs a fingerprint too.
    return text.encode("utf-8", "surrogatepass")
