"""Writes the few ONNX messages a sentence model needs, without the `onnx` package.

Field numbers are those of onnx.proto3. `https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3`
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence

FLOAT, INT32, INT64 = 1, 6, 7
"""Element types of a tensor."""

_IR_VERSION = 8
_OPSETS = {"": 17, "com.microsoft": 1}
_ELEMENT_SIZE = {FLOAT: 4, INT32: 4, INT64: 8}
_EXTERNAL = 1

Attribute = int | float | str | Sequence[int]


def message(*fields: tuple[int, int | float | str | bytes]) -> bytes:
    """A protobuf message of (field number, value) pairs; a nested message is bytes."""
    return b"".join(_field(number, value) for number, value in fields)


def _field(number: int, value: int | float | str | bytes) -> bytes:
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    encoded = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(encoded)) + encoded


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # negative numbers are written as their two's complement
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def model(
    nodes: Iterable[bytes], inputs: Iterable[bytes], outputs: Iterable[bytes], tensors: Iterable[bytes]
) -> bytes:
    """A whole model file."""
    graph = message(
        *((1, node) for node in nodes),
        (2, "sentence-model"),
        *((5, tensor) for tensor in tensors),
        *((11, value) for value in inputs),
        *((12, value) for value in outputs),
    )
    opsets = (message((1, domain), (2, version)) for domain, version in _OPSETS.items())
    return message((1, _IR_VERSION), (2, "mcp-memory"), (7, graph), *((8, opset) for opset in opsets))


def node(
    operator: str, inputs: Sequence[str], *outputs: str, domain: str = "", **attributes: Attribute
) -> bytes:
    return message(
        *((1, name) for name in inputs),
        *((2, name) for name in outputs),
        (3, outputs[0]),
        (4, operator),
        *((5, _attribute(name, value)) for name, value in attributes.items()),
        (7, domain),
    )


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return message((1, name), (2, value), (20, 1))
    if isinstance(value, int):
        return message((1, name), (3, value), (20, 2))
    if isinstance(value, str):
        return message((1, name), (4, value), (20, 3))
    return message((1, name), *((8, item) for item in value), (20, 7))


def value(name: str, element: int, shape: Sequence[str | int]) -> bytes:
    """An input or output; a dimension given as a name may have any size."""
    dimensions = (message((2 if isinstance(size, str) else 1, size)) for size in shape)
    tensor_type = message((1, element), (2, message(*((1, size) for size in dimensions))))
    return message((1, name), (2, message((1, tensor_type))))


def tensor(name: str, element: int, shape: Sequence[int], raw: bytes) -> bytes:
    """Weights that are kept inside the model; `raw` is little-endian."""
    return message(*((1, size) for size in shape), (2, element), (8, name), (9, raw))


def external_tensor(name: str, element: int, shape: Sequence[int], file: str, offset: int) -> bytes:
    """Weights that stay in another file, at `offset` bytes."""
    length = _ELEMENT_SIZE[element]
    for size in shape:
        length *= size
    place: Mapping[str, str] = {"location": file, "offset": str(offset), "length": str(length)}
    return message(
        *((1, size) for size in shape),
        (2, element),
        (8, name),
        *((13, message((1, key), (2, text))) for key, text in place.items()),
        (14, _EXTERNAL),
    )
