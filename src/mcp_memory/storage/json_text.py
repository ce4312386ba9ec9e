"""Writes JSON quickly."""

import json
from collections.abc import Callable, Mapping, Sequence
from json import encoder
from typing import Any

_AS_IT_IS = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def compact_encoder() -> Callable[[Any], str]:
    """Encodes values without spaces and escapes.

    `JSONEncoder.encode` sets up an encoder for every value, which takes longer than encoding a small value,
    and a bulk write has hundreds. Where the interpreter has its encoder in C, this sets it up once.
    """
    prepare: Any = getattr(encoder, "c_make_encoder", None)
    if prepare is None:
        return _AS_IT_IS.encode
    # Without markers for cycles: values come from JSON, or are ours.
    options = (None, _AS_IT_IS.default, encoder.encode_basestring, None, ":", ",", False, False, True)
    try:
        encode = prepare(*options)
    except TypeError:  # not a documented function: another interpreter may want other arguments
        return _AS_IT_IS.encode
    return lambda value: "".join(encode(value, 0))


class JsonText(str):
    """JSON that is written already: a database stores it as it is."""

    __slots__ = ()


_encode = compact_encoder()


def object_texts(columns: Mapping[str, Sequence[Any]]) -> list[JsonText]:
    """Objects with these members, given column by column, as `compact_encoder` writes them.

    That takes a third of the time, and a bulk write has hundreds.
    """
    written = (
        map(encoder.encode_basestring if {*map(type, values)} == {str} else _encode, values)
        for values in columns.values()
    )
    form = "{" + ",".join(f"{_encode(name).replace('%', '%%')}:%s" for name in columns) + "}"
    return [JsonText(form % members) for members in zip(*written, strict=True)]
