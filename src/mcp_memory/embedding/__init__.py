"""Text to vectors, so that memories can be found by meaning."""

from mcp_memory.embedding.card import Embedder, LocalModel, ModelCard, NoModel, Purpose, RemoteModel
from mcp_memory.embedding.choice import open_embedder

__all__ = ["Embedder", "LocalModel", "ModelCard", "NoModel", "Purpose", "RemoteModel", "open_embedder"]
