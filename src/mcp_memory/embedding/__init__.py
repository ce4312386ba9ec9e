"""Text to vectors, so that memories can be found by meaning."""

from mcp_memory.embedding.card import Embedder, ModelCard, NoModel, Purpose

__all__ = ["Embedder", "ModelCard", "NoModel", "Purpose"]
