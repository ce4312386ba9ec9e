"""Metadata of well-known sentence models, before they are downloaded."""

from __future__ import annotations

import re
from typing import Literal, TypedDict

from mcp_memory.errors import Invalid


class Traits(TypedDict, total=False):
    """The part of a card that does not follow from the weights."""

    dimensions: int
    query_prefix: str
    passage_prefix: str
    pooling: Literal["mean", "cls"]
    max_tokens: int
    unrelated_cosine: float
    same_cosine: float


def _e5(dimensions: int) -> Traits:
    return Traits(
        dimensions=dimensions,
        query_prefix="query: ",
        passage_prefix="passage: ",
        max_tokens=512,
        unrelated_cosine=0.75,
        same_cosine=0.95,
    )


def _retrieval(dimensions: int) -> Traits:
    return Traits(
        dimensions=dimensions,
        query_prefix="Represent this sentence for searching relevant passages: ",
        pooling="cls",
        max_tokens=512,
    )


# Dimensions, prefixes and pooling are those of the models' own pages. Where no cosines are
# given, they are measured once when the model is pulled.
KNOWN: dict[str, Traits] = {
    "sentence-transformers/all-MiniLM-L6-v2": Traits(
        dimensions=384, max_tokens=256, unrelated_cosine=0.2, same_cosine=0.95
    ),
    "sentence-transformers/all-MiniLM-L12-v2": Traits(dimensions=384, max_tokens=128),
    "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2": Traits(dimensions=384, max_tokens=128),
    "sentence-transformers/paraphrase-multilingual-mpnet-base-v2": Traits(dimensions=768, max_tokens=128),
    "intfloat/multilingual-e5-small": _e5(384),
    "intfloat/multilingual-e5-base": _e5(768),
    "intfloat/e5-small-v2": _e5(384),
    "BAAI/bge-small-en-v1.5": _retrieval(384),
    "BAAI/bge-base-en-v1.5": _retrieval(768),
    "Snowflake/snowflake-arctic-embed-xs": _retrieval(384),
    "Snowflake/snowflake-arctic-embed-s": _retrieval(384),
}

REMOTE: dict[str, Traits] = {
    "text-embedding-3-small": Traits(dimensions=1536, unrelated_cosine=0.2, same_cosine=0.93),
    "text-embedding-3-large": Traits(dimensions=3072, unrelated_cosine=0.2, same_cosine=0.93),
    "text-embedding-ada-002": Traits(dimensions=1536, unrelated_cosine=0.75, same_cosine=0.96),
}

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)


def repository(name: str) -> str:
    """`organisation/name` on the hub, of a model that may be called by its name alone."""
    for known in KNOWN:
        if name.lower() in (known.lower(), known.lower().partition("/")[2]):
            return known
    if not _REPOSITORY.fullmatch(name):
        raise Invalid(
            f"{name!r} is not a known model: give it as ORGANISATION/NAME, "
            "also to `mcp-memory model pull ORGANISATION/NAME`"
        )
    return name
