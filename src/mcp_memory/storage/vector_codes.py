"""Compact codes of unit vectors: one byte per dimension to store them, one bit to find candidates.

A byte code keeps the direction of a vector, and the cosine needs no more. Measured on real text,
docs/vector-index.md: recall@10 against float32 is 0.99, at a quarter of the size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

BLOCK = 1_000
"""Vectors compared at a time: small enough to stay in the processor's cache, and on one thread."""


def encode(vector: bytes) -> bytes:
    """The byte code of a float32 vector."""
    import numpy as np

    floats = np.frombuffer(vector, "<f4")
    largest = float(np.abs(floats).max(initial=0.0))
    if not np.isfinite(largest):
        raise ValueError("a vector must hold finite numbers")
    return np.rint(floats * (127 / largest if largest else 0.0)).astype(np.int8).tobytes()


def decode(stored: bytes, dimensions: int) -> bytes:
    """The float32 unit vector of a stored one, which may be float32 already."""
    return bytes(stored) if len(stored) == 4 * dimensions else unit(_floats([stored])).tobytes()


def decode_all(stored: Sequence[bytes], dimensions: int) -> list[bytes]:
    """The float32 unit vector of each."""
    found: list[bytes] = []
    for block in _equally_stored(stored):
        if len(block[0]) == 4 * dimensions:
            found += map(bytes, block)
        else:
            found += [row.tobytes() for row in unit(_floats(block))]
    return found


def cosines(stored: Sequence[bytes], query: bytes) -> list[float]:
    """The cosine of each stored vector with a float32 unit vector."""
    found: list[float] = []
    for block in _blocks(stored, len(query) // 4):
        found += cosines_of(block, lengths(block), query).tolist()
    return found


def floats(stored: Sequence[bytes], dimensions: int) -> Floats:
    """The directions of stored vectors, one row each; not of unit length."""
    import numpy as np

    return np.concatenate([np.empty((0, dimensions), np.float32), *_blocks(stored, dimensions)])


def lengths(rows: Floats) -> Floats:
    """The length of each row to divide it by: 1 for a zero vector, which stays one."""
    import numpy as np

    found: Floats = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    found[found == 0] = 1
    return found


def cosines_of(rows: Floats, lengths: Floats, query: bytes) -> Floats:
    """The cosine of each row with a float32 unit vector; of a zero vector nothing is near."""
    import numpy as np

    products = products_of(rows, np.frombuffer(query, "<f4"))
    products /= lengths
    return products


def products_of(rows: Floats, wanted: Floats) -> Floats:
    import numpy as np

    products = np.empty(len(rows), np.float32)
    for place in range(0, len(rows), BLOCK):
        products[place : place + BLOCK] = rows[place : place + BLOCK] @ wanted
    return products


def rest_of_unit(heads: Floats) -> Floats:
    """The length of what is left of each vector of length one behind its first dimensions."""
    import numpy as np

    rest: Floats = np.sqrt(np.maximum(1 - np.einsum("ij,ij->i", heads, heads), 0))
    return rest


def cosines_with(vectors: Mapping[int, bytes], query: bytes) -> dict[int, float]:
    """The cosine of each float32 unit vector with another one."""
    if not vectors:
        return {}
    import numpy as np

    rows = np.frombuffer(b"".join(vectors.values()), "<f4").reshape(len(vectors), -1)
    return dict(zip(vectors, (rows @ np.frombuffer(query, "<f4")).tolist(), strict=True))


def rows_of(vectors: Sequence[bytes], dimensions: int) -> Floats:
    """Float32 vectors as rows."""
    import numpy as np

    return np.frombuffer(b"".join(vectors), "<f4").reshape(-1, dimensions)


def signs(stored: Sequence[bytes], dimensions: int) -> bytes:
    """The bit codes of stored vectors, one after another."""
    import numpy as np

    return b"".join(np.packbits(block > 0, axis=1).tobytes() for block in _blocks(stored, dimensions))


def distances(codes: Sequence[bytes], query: bytes) -> npt.NDArray[np.uint16]:
    """The number of bits in which each of the bit codes differs from that of a float32 vector."""
    import numpy as np

    wanted = np.packbits(np.frombuffer(query, "<f4") > 0)
    length = len(wanted)
    if length % 8 == 0:  # eight bytes at a time
        wanted = wanted.view(np.uint64)
    found = np.empty(sum(map(len, codes)) // length, np.uint16)
    place = 0
    for code in codes:
        block = np.frombuffer(code, wanted.dtype).reshape(-1, len(wanted))
        differing = np.bitwise_count(block ^ wanted)
        part = found[place : place + len(block)]
        # Column by column: numpy's sum over so few columns is mostly overhead.
        part[:] = differing[:, 0]
        for column in range(1, differing.shape[1]):
            part += differing[:, column]
        place += len(block)
    return found


def smallest(distances: npt.NDArray[np.uint16], count: int) -> npt.NDArray[np.intp]:
    """Positions of the `count` smallest distances, in order of position; earlier ones win ties."""
    import numpy as np

    if len(distances) <= count:
        return np.arange(len(distances))
    # Few distinct distances exist, so counting them is faster than sorting.
    up_to = np.cumsum(np.bincount(distances))
    limit = int(np.searchsorted(up_to, count))
    places = np.flatnonzero(distances <= limit)
    if len(places) == count:
        return places
    equal = np.flatnonzero(distances[places] == limit)
    return np.delete(places, equal[len(equal) - (len(places) - count) :])


def _blocks(stored: Sequence[bytes], dimensions: int) -> Iterator[Floats]:
    """Blocks of equally stored vectors, in order, as floats."""
    for block in _equally_stored(stored):
        yield _float32(block) if len(block[0]) == 4 * dimensions else _floats(block)


def _equally_stored(stored: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    for _, alike in groupby(stored, len):
        while block := list(islice(alike, BLOCK)):
            yield block


def _floats(codes: Sequence[bytes]) -> Floats:
    import numpy as np

    return np.frombuffer(b"".join(codes), np.int8).reshape(len(codes), -1).astype(np.float32)


def _float32(vectors: Sequence[bytes]) -> Floats:
    import numpy as np

    return np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)


def unit(vectors: Floats) -> Floats:
    """The vectors at length one; zero vectors as they are."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return found
