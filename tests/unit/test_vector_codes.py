"""Stored vectors, read many at a time, are what each of them is alone."""

import numpy as np

from mcp_memory.storage.vector_codes import BLOCK, decode, decode_all, encode


def test_vectors_decoded_together_are_those_decoded_alone() -> None:
    dice = np.random.default_rng(1)
    floats = [dice.normal(size=16).astype(np.float32).tobytes() for _ in range(BLOCK + 10)]
    stored = [*map(encode, floats), floats[0], encode(floats[1]), bytes(16)]
    assert decode_all(stored, 16) == [decode(one, 16) for one in stored]
    assert decode_all([], 16) == []
