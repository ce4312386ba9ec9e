"""Key-value settings of a space or of the database."""

from typing import Any

from mcp_memory.storage.scope import Scope


class Settings:
    """Per space; a key that starts with `*` belongs to the whole database."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def get(self, key: str, default: Any = None) -> Any:
        row = self._scope.first("setting_by_key", key=self._full(key))
        return default if row is None else row["value"]["is"]

    def put(self, key: str, value: Any) -> None:
        # Wrapped: not every driver takes a bare number or text for a JSON document.
        self._scope.change("put_setting", key=self._full(key), value={"is": value})

    def _full(self, key: str) -> str:
        return key if key.startswith("*") else f"{self._scope.space_id}:{key}"
