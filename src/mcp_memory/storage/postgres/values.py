"""Adapters between our values and PostgreSQL: JSON as JSON, vectors and words in binary."""

import json
import struct
from array import array
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import psycopg
from psycopg import postgres
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.types.json import JsonDumper, set_json_dumps
from psycopg.types.numeric import NumericBinaryLoader

from mcp_memory.storage.json_text import JsonText

_HEADER = struct.Struct(">HH")  # pgvector's binary format: dimensions, two unused bytes, then the floats


class Embedding(bytes):
    """A vector: float32, little endian."""


class Lexemes(dict[str, int]):
    """A tsvector: the number of positions of each lexeme, counted from 1."""


def register_values(raw: psycopg.Connection[Any], vector_oid: int | None) -> None:
    set_json_dumps(_json_of, raw)  # for COPY, which knows the types of columns
    for kind in (dict, list, JsonText):
        raw.adapters.register_dumper(kind, _JsonDumper)
    raw.adapters.register_dumper(Lexemes, _LexemesDumper)
    raw.adapters.register_loader("numeric", _NumberLoader)
    if vector_oid is not None:  # else pgvector is not installed yet
        raw.adapters.register_dumper(Embedding, type("_Vector", (_EmbeddingDumper,), {"oid": vector_oid}))
        raw.adapters.register_loader(vector_oid, _EmbeddingLoader)


def _json_of(value: Any) -> str:
    return value if isinstance(value, JsonText) else json.dumps(value)


class _JsonDumper(JsonDumper):
    _dumps = staticmethod(_json_of)


class _NumberLoader(NumericBinaryLoader):
    """Sums and means as int or float, as on SQLite, never as Decimal."""

    def load(self, data: Any) -> Any:
        number = super().load(data)
        return int(number) if number.as_tuple().exponent == 0 else float(number)


class _EmbeddingDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: bytes) -> bytes:
        return _HEADER.pack(len(obj) // 4, 0) + _swapped(obj)


class _LexemesDumper(Dumper):
    format = Format.BINARY
    oid = postgres.types["tsvector"].oid

    def dump(self, obj: Mapping[str, int]) -> bytes:
        lexemes = (word.encode() + b"\0" + _positions(count) for word, count in obj.items())
        return struct.pack(">i", len(obj)) + b"".join(lexemes)


@lru_cache(maxsize=256)
def _positions(count: int) -> bytes:
    return struct.pack(f">{count + 1}H", count, *range(1, count + 1))


class _EmbeddingLoader(Loader):
    format = Format.BINARY

    def load(self, data: Any) -> bytes:
        return _swapped(bytes(data[_HEADER.size :]))


def _swapped(floats: bytes) -> bytes:
    """Swaps between little and big endian."""
    swapped = array("f", floats)
    swapped.byteswap()
    return swapped.tobytes()
