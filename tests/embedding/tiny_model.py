"""A real ONNX sentence model of four dimensions, small enough to be made by each test."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from mcp_memory.embedding import onnx_format as onnx

DIMENSIONS = 4
VECTORS = {
    "[PAD]": (9.0, 9.0, 9.0, 9.0),  # shows at once if padding is not masked
    "[UNK]": (1.0, 0.0, 0.0, 0.0),
    "cat": (0.0, 1.0, 0.0, 0.0),
    "dog": (0.0, 0.0, 1.0, 0.0),
    "query": (0.0, 0.0, 0.0, 2.0),
}


def onnx_model(output: str = "last_hidden_state", further_input: str = "token_type_ids") -> bytes:
    """Looks each token up in a table."""
    table = b"".join(struct.pack("<4f", *row) for row in VECTORS.values())
    inputs = ("input_ids", "attention_mask", further_input)
    return onnx.model(
        nodes=[onnx.node("Gather", ["table", "input_ids"], output, axis=0)],
        inputs=[onnx.value(name, onnx.INT64, ["batch", "tokens"]) for name in inputs],
        outputs=[onnx.value(output, onnx.FLOAT, ["batch", "tokens", DIMENSIONS])],
        tensors=[onnx.tensor("table", onnx.FLOAT, [len(VECTORS), DIMENSIONS], table)],
    )


def tokenizer() -> bytes:
    words = Tokenizer(WordLevel({word: index for index, word in enumerate(VECTORS)}, unk_token="[UNK]"))
    words.pre_tokenizer = Whitespace()
    text: str = words.to_str()
    return text.encode()


def files() -> dict[str, bytes]:
    """The model as a repository on a hub holds it."""
    return {
        "config.json": json.dumps({"hidden_size": DIMENSIONS, "max_position_embeddings": 64}).encode(),
        "tokenizer.json": tokenizer(),
        "onnx/model.onnx": onnx_model(),
    }


def write_to(folder: Path) -> None:
    """The model as it lies in its folder on this machine."""
    folder.mkdir(parents=True)
    for path, content in files().items():
        (folder / Path(path).name).write_bytes(content)
