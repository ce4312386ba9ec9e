"""Agglomerative clustering of vectors by average linkage on cosine distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def average_linkage(vectors: NDArray[np.float32], cut: float) -> list[list[int]]:
    """Positions in groups whose average distance is at most `cut`, in the order of their first member.

    The vectors have unit length. SciPy is used if it is installed.
    """
    import numpy as np

    if len(vectors) < 2:
        return [[i] for i in range(len(vectors))]
    distances = np.clip(1.0 - (vectors @ vectors.T).astype(np.float64), 0.0, 2.0)
    try:
        labels = _with_scipy(distances, cut)
    except ImportError:
        labels = plain_average_linkage(distances, cut)
    groups: dict[int, list[int]] = {}
    for position, label in enumerate(labels):
        groups.setdefault(label, []).append(position)
    return list(groups.values())


def plain_average_linkage(distances: NDArray[np.float64], cut: float) -> list[int]:
    """A label for each position, from the matrix of distances; cubic in time, meant for hundreds."""
    import numpy as np

    apart = distances.copy()
    np.fill_diagonal(apart, np.inf)
    labels = np.arange(len(apart))
    sizes = np.ones(len(apart))
    while True:
        a, b = divmod(int(apart.argmin()), len(apart))
        if not apart[a, b] <= cut:
            return [int(label) for label in labels]
        # Lance and Williams: the average distance to a union is the weighted mean of its parts'.
        merged = (sizes[a] * apart[a] + sizes[b] * apart[b]) / (sizes[a] + sizes[b])
        apart[a], apart[:, a] = merged, merged
        apart[a, a] = np.inf
        apart[b], apart[:, b] = np.inf, np.inf
        sizes[a] += sizes[b]
        labels[labels == labels[b]] = labels[a]


def _with_scipy(distances: NDArray[np.float64], cut: float) -> list[int]:
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    tree = linkage(squareform(distances, checks=False), method="average")
    return [int(label) for label in fcluster(tree, t=cut, criterion="distance")]
