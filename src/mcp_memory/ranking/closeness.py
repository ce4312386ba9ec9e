"""Finds the vectors that lie close to each other, many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]
    Numbers = NDArray[np.int64]


def close_to_each(rows: Matrix, others: Matrix, least: float, most: int) -> tuple[Numbers, Numbers, Matrix]:
    """Pairs of rows with at least this cosine: the index in each set, and the cosine.

    Of one row at most the `most` closest. All vectors are of unit length.
    """
    import numpy as np

    cosines = rows @ others.T
    a, b = np.nonzero(cosines >= least)
    found = cosines[a, b]
    if len(a) > most:
        closest = np.lexsort((b, -found, a))
        a, b, found = a[closest], b[closest], found[closest]
        place = np.arange(len(a)) - np.searchsorted(a, a)
        kept = place < most
        a, b, found = a[kept], b[kept], found[kept]
    return a, b, found
