"""Words near in meaning: a question names a kind, `sports`, where memories name the thing, `soccer`."""

import gzip
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType

_NOTHING: Mapping[str, float] = MappingProxyType({})


@lru_cache(maxsize=512)
def near_words(stem: str) -> Mapping[str, float]:
    """English words near in meaning, as they are indexed, each with its closeness from 0 to 1."""
    line = _lines().get(stem)
    if line is None:
        return _NOTHING
    parts = line.split()
    return MappingProxyType(
        {word: int(part) / 100 for word, part in zip(parts[::2], parts[1::2], strict=True)}
    )


@lru_cache(maxsize=1)
def _lines() -> dict[str, str]:
    """The rest of each line by its first word; made by `tools/thesaurus.py`."""
    packed = files("mcp_memory.text").joinpath("thesaurus.gz").read_bytes()
    lines = gzip.decompress(packed).decode().splitlines()
    return {stem: rest for stem, _, rest in (line.partition(" ") for line in lines)}
