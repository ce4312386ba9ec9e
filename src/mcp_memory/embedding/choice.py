"""Chooses the embedder of the settings, or explains why there is none."""

from __future__ import annotations

from pathlib import Path

from mcp_memory.embedding.card import Embedder, NoModel
from mcp_memory.errors import Invalid

DEFAULT_MODELS = {"local": "all-MiniLM-L6-v2", "openai": "text-embedding-3-small", "none": ""}
PROVIDERS = tuple(DEFAULT_MODELS)


def open_embedder(
    provider: str,
    model: str,
    dimensions: int,
    *,
    models_dir: Path,
    cache_dir: Path,
    base_url: str = "",
    api_key: str = "",
) -> Embedder | NoModel:
    """The embedder of a provider; an empty `model` is the provider's default.

    Cheap: a model is loaded, an endpoint asked, only for the first text.

    `dimensions` 0 takes what the model makes. Raises `Invalid` for unknown names; a model that is not
    installed is returned as `NoModel`.
    """
    model = model or DEFAULT_MODELS.get(provider, "")
    match provider:
        case "local":
            try:
                return _of_size(dimensions, _open_local(model, models_dir, cache_dir))
            except Invalid as error:
                return NoModel(str(error))
        case "openai":
            from mcp_memory.embedding.remote import OPENAI, open_remote

            return open_remote(model, dimensions, base_url or OPENAI, api_key)
        case "none":
            return NoModel(
                "EMBEDDING_PROVIDER is none: memories are found by their words only; set it to local for more"
            )
    raise Invalid(f"there is no embedding provider {provider!r}: choose one of {', '.join(PROVIDERS)}")


def _open_local(model: str, models_dir: Path, cache_dir: Path) -> Embedder | NoModel:
    """The default model is an installed one; any model may have been pulled."""
    from mcp_memory.embedding.hub import open_pulled
    from mcp_memory.embedding.known import repository
    from mcp_memory.embedding.minilm import REPOSITORY, model_folder, open_minilm

    if repository(model) != REPOSITORY:
        return open_pulled(model, models_dir, cache_dir)
    installed = open_minilm(model_folder(models_dir), cache_dir)
    if not isinstance(installed, NoModel):
        return installed
    pulled = open_pulled(model, models_dir, cache_dir)
    return installed if isinstance(pulled, NoModel) else pulled


def _of_size(dimensions: int, found: Embedder | NoModel) -> Embedder | NoModel:
    if isinstance(found, NoModel) or dimensions in (0, found.card.dimensions):
        return found
    card = found.card
    return NoModel(
        f"{card.name} makes vectors of {card.dimensions} dimensions, not {dimensions}: "
        f"set EMBEDDING_DIMENSIONS={card.dimensions}"
    )
