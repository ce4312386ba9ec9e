"""Sentence models from a Hugging Face hub, each kept in a folder of its own."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp_memory.embedding import calibration
from mcp_memory.embedding.card import ModelCard, NoModel
from mcp_memory.embedding.digest import remembered_sha256, sha256_of
from mcp_memory.embedding.known import KNOWN, Traits, repository
from mcp_memory.embedding.runtime import ModelWeights, OnnxEmbedder
from mcp_memory.errors import Invalid, NotFound, Unavailable
from mcp_memory.model import Progress

HUB = "https://huggingface.co"

_MODEL, _TOKENIZER, _CONFIG, _CARD = "model.onnx", "tokenizer.json", "config.json", "card.json"
_MODEL_PATHS = ("onnx/model.onnx", "model.onnx")
# What sentence-transformers keeps beside a model; any of them may be missing.
_POOLING, _LENGTH = "1_Pooling/config.json", "sentence_bert_config.json"
_PROMPTS, _MODULES = "config_sentence_transformers.json", "modules.json"


def open_pulled(name: str, models_dir: Path, cache_dir: Path) -> OnnxEmbedder | NoModel:
    """A model that was pulled, or copied by hand, into its folder under `models_dir`."""
    folder = _folder(name, models_dir)
    missing = [file for file in (_MODEL, _TOKENIZER, _CONFIG) if not (folder / file).is_file()]
    if missing:
        return NoModel(
            f"the model {name} is not here: run `mcp-memory model pull {repository(name)}`, "
            f"or copy its {', '.join(missing)} into {folder}"
        )
    try:
        card = _read_card(folder, repository(name), cache_dir)
    except (OSError, ValueError, KeyError, TypeError) as error:
        return NoModel(
            f"the files of {name} in {folder} cannot be read ({error}): "
            f"run `mcp-memory model pull {repository(name)}` again"
        )
    return _embedder(card, folder, lambda: remembered_sha256(folder / _MODEL, cache_dir))


def pulled_models(models_dir: Path) -> list[str]:
    """The names of the models under `models_dir`."""
    found = sorted(models_dir.glob(f"*--*/{_MODEL}")) if models_dir.is_dir() else []
    return [file.parent.name.replace("--", "/", 1) for file in found]


def _folder(name: str, models_dir: Path) -> Path:
    return models_dir / repository(name).replace("/", "--")


def _embedder(card: ModelCard, folder: Path, fingerprint: Callable[[], str]) -> OnnxEmbedder:
    def weights() -> ModelWeights:
        if fingerprint() != card.fingerprint:
            raise Unavailable(
                f"{folder / _MODEL} has changed since its card was written: "
                f"run `mcp-memory model pull {card.name}` again"
            )
        return ModelWeights(str(folder / _MODEL), folder)

    return OnnxEmbedder(card, folder / _TOKENIZER, weights)


def _read_card(folder: Path, name: str, cache_dir: Path) -> ModelCard:
    """The card that a pull wrote, or one built from the files in the folder."""
    if not (folder / _CARD).is_file():
        return _card(folder, name, remembered_sha256(folder / _MODEL, cache_dir))
    fields = {field.name for field in dataclasses.fields(ModelCard)}
    return ModelCard(**{key: entry for key, entry in _json(folder / _CARD).items() if key in fields})


def _card(folder: Path, name: str, fingerprint: str) -> ModelCard:
    traits: Traits = {**_own_traits(folder), **KNOWN.get(name, {})}
    return ModelCard(name=name, fingerprint=fingerprint, **traits)


def _own_traits(folder: Path) -> Traits:
    """Traits from the model's own configuration files."""
    config = _json(folder / _CONFIG)
    lengths = (_json(folder / _LENGTH).get("max_seq_length"), config.get("max_position_embeddings"), 512)
    prompts = _json(folder / _PROMPTS).get("prompts") or {}
    return Traits(
        dimensions=int(config["hidden_size"]),
        pooling="cls" if _json(folder / _POOLING).get("pooling_mode_cls_token") else "mean",
        max_tokens=min(512, *(int(length) for length in lengths if length)),
        query_prefix=prompts.get("query") or "",
        passage_prefix=prompts.get("passage") or prompts.get("document") or "",
    )


def _json(file: Path) -> dict[str, Any]:
    """The object in a file, empty where there is no file."""
    if not file.is_file():
        return {}
    content = json.loads(file.read_text("utf-8"))
    if not isinstance(content, dict):
        raise ValueError(f"{file.name} is not an object")
    return content


def pull(name: str, models_dir: Path, base_url: str, progress: Progress) -> ModelCard:
    """Download a model, try it, and write its card. An interrupted pull resumes."""
    wanted = repository(name)
    folder = _folder(name, models_dir)
    try:
        _Repository(base_url, wanted, folder, progress).bring()
    except Unavailable as error:
        raise Unavailable(
            f"{error}. The partial download is kept: the same command resumes it. Without a network, "
            f"copy {_MODEL}, {_TOKENIZER} and {_CONFIG} of {wanted} into {folder}, "
            f"or use all-MiniLM-L6-v2 (`mcp-memory model install`)"
        ) from error
    except OSError as error:
        raise Unavailable(
            f"{folder} cannot be written ({error}): make room, or choose another folder"
        ) from error
    card = _tried(_card(folder, wanted, sha256_of(folder / _MODEL)), folder)
    (folder / _CARD).write_text(json.dumps(dataclasses.asdict(card), indent=2), "utf-8")
    return card


def _tried(card: ModelCard, folder: Path) -> ModelCard:
    """The card, with cosines as measured unless they are known. A model that cannot run fails here."""
    embedder = _embedder(card, folder, lambda: card.fingerprint)
    embedder.embed(["word " * card.max_tokens], "passage")  # as long as texts may get
    cosines = calibration.measure(embedder)
    known = KNOWN.get(card.name, Traits())
    return card if "same_cosine" in known else dataclasses.replace(card, **cosines)


class _Repository:
    """The files of one model on a hub, all taken from one revision."""

    def __init__(self, base_url: str, name: str, folder: Path, progress: Progress) -> None:
        self._root = f"{base_url.rstrip('/')}/{name}/resolve"
        self._name = name
        self._folder = folder
        self._progress = progress
        self._revision = "main"

    def bring(self) -> None:
        """Downloads the model last, so a present model means a complete folder."""
        self._bring_config()
        self._bring_required(_TOKENIZER)
        for path in (_POOLING, _LENGTH, _PROMPTS, _MODULES):
            self._bring(path, path)
        self._refuse_what_the_graph_would_miss()
        if not any(self._bring_model(path) for path in _MODEL_PATHS):
            raise NotFound(f"{self._name} offers no {' or '.join(_MODEL_PATHS)}: choose a model that does")

    def _bring_config(self) -> None:
        from mcp_memory.embedding.download import look_up

        try:
            self._revision = look_up(self._url(_CONFIG)).revision or self._revision
        except NotFound as error:
            raise NotFound(f"there is no model {self._name} here: {error}") from error
        self._bring_required(_CONFIG)

    def _bring_required(self, path: str) -> None:
        if not self._bring(path, path):
            raise NotFound(f"{self._name} has no {path}: choose a model that does")

    def _bring_model(self, path: str) -> bool:
        self._bring(f"{path}_data", f"{_MODEL}_data")  # weights beyond protobuf's 2 GB
        return self._bring(path, _MODEL)

    def _bring(self, path: str, target: str) -> bool:
        """Whether the hub has the file."""
        from mcp_memory.embedding.download import download, look_up

        try:
            file = look_up(self._url(path))
        except NotFound:
            return False
        download(file, self._folder / target, self._progress)
        return True

    def _url(self, path: str) -> str:
        return f"{self._root}/{self._revision}/{path}"

    def _refuse_what_the_graph_would_miss(self) -> None:
        file = self._folder / _MODULES
        kinds = [module["type"] for module in json.loads(file.read_text("utf-8"))] if file.is_file() else []
        if any(kind.endswith(".Dense") for kind in kinds):
            raise Invalid(f"{self._name} adds a layer to its ONNX model, which is not supported")
