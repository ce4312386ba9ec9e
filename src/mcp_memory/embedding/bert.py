"""An ONNX graph for BERT encoders whose weights stay in their safetensors file.

No conversion, no second copy on disk: each tensor of the graph points into the file by offset.
The operators of domain `com.microsoft` are onnxruntime's own fused ones.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_memory.embedding import onnx_format as onnx
from mcp_memory.errors import Unavailable

_HEADER_LIMIT = 10_000_000  # bytes; a header is some kilobytes, a broken length may be anything


@dataclass(frozen=True)
class EncoderShape:
    """An encoder's dimensions, from config.json."""

    layer_count: int
    head_count: int
    hidden_size: int
    epsilon: float

    @classmethod
    def read(cls, config: Path) -> EncoderShape:
        settings = json.loads(config.read_text("utf-8"))
        return cls(
            layer_count=settings["num_hidden_layers"],
            head_count=settings["num_attention_heads"],
            hidden_size=settings["hidden_size"],
            epsilon=settings["layer_norm_eps"],
        )


def graph(weights: Path, shape: EncoderShape) -> bytes:
    """The model as ONNX bytes: input_ids and attention_mask in, last_hidden_state out.

    To be run with `weights.parent` as the folder of external data.
    """
    nodes = [_embeddings(shape)]
    for layer in range(shape.layer_count):
        nodes += _layer(layer, shape)
    nodes.append(onnx.node("Identity", [f"layer_{shape.layer_count}"], "last_hidden_state"))
    ids = [onnx.value(name, onnx.INT32, ["batch", "tokens"]) for name in ("input_ids", "attention_mask")]
    hidden = onnx.value("last_hidden_state", onnx.FLOAT, ["batch", "tokens", shape.hidden_size])
    return onnx.model(nodes, ids, [hidden], _tensors(weights))


def _tensors(weights: Path) -> list[bytes]:
    header, start = _safetensors_header(weights)
    return [
        onnx.external_tensor(name, onnx.FLOAT, entry["shape"], weights.name, start + entry["data_offsets"][0])
        for name, entry in header.items()
        if name.startswith(("embeddings.", "encoder.")) and entry["dtype"] == "F32"
    ]


def _safetensors_header(weights: Path) -> tuple[dict[str, Any], int]:
    """The table of tensors, and where the bytes it counts from begin."""
    with weights.open("rb") as file:
        [length] = struct.unpack("<Q", file.read(8))
        if length > _HEADER_LIMIT:
            raise Unavailable(f"{weights} is not a safetensors file")
        return json.loads(file.read(length)), 8 + length


def _fused(operator: str, inputs: list[str], *outputs: str, **attributes: onnx.Attribute) -> bytes:
    return onnx.node(operator, inputs, *outputs, domain="com.microsoft", **attributes)


def _embeddings(shape: EncoderShape) -> bytes:
    """Word, position and segment embeddings, summed; no segment ids means the first segment."""
    tables = ("word_embeddings", "position_embeddings", "token_type_embeddings", "LayerNorm")
    weights = [f"embeddings.{table}.weight" for table in tables]
    return _fused(
        "EmbedLayerNormalization",
        ["input_ids", "", *weights, "embeddings.LayerNorm.bias"],
        "layer_0",
        "mask_index",  # unused, but the operator demands a name for it
        epsilon=shape.epsilon,
    )


def _layer(number: int, shape: EncoderShape) -> list[bytes]:
    prefix, entering = f"encoder.layer.{number}", f"layer_{number}"
    attention, attended = f"{prefix}.attention", f"attended_{number}"
    return [
        *_self_attention(number, entering, shape),
        _linear(f"context_{number}", f"{attention}.output.dense"),
        _add_and_norm(entering, f"{attention}.output", attended, shape),
        _linear(attended, f"{prefix}.intermediate.dense"),
        _fused(
            "BiasGelu",
            [f"{prefix}.intermediate.dense", f"{prefix}.intermediate.dense.bias"],
            f"wide_{number}",
        ),
        _linear(f"wide_{number}", f"{prefix}.output.dense"),
        _add_and_norm(attended, f"{prefix}.output", f"layer_{number + 1}", shape),
    ]


def _self_attention(number: int, entering: str, shape: EncoderShape) -> list[bytes]:
    heads = [f"encoder.layer.{number}.attention.self.{part}" for part in ("query", "key", "value")]
    return [
        *(_linear(entering, head) for head in heads),
        onnx.node("Concat", [f"{head}.bias" for head in heads], f"bias_{number}", axis=0),
        _fused(
            "MultiHeadAttention",
            [*heads, f"bias_{number}", "attention_mask"],
            f"context_{number}",
            num_heads=shape.head_count,
        ),
    ]


def _linear(entering: str, name: str) -> bytes:
    """A product with the weights as PyTorch keeps them: one row per output."""
    return _fused("FusedMatMul", [entering, f"{name}.weight"], name, transB=1)


def _add_and_norm(skip: str, name: str, output: str, shape: EncoderShape) -> bytes:
    norm = f"{name}.LayerNorm"
    return _fused(
        "SkipLayerNormalization",
        [f"{name}.dense", skip, f"{norm}.weight", f"{norm}.bias", f"{name}.dense.bias"],
        output,
        epsilon=shape.epsilon,
    )
