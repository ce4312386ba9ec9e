"""The idempotency key of a request that a thin client carries."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RequestKey:
    key: str
    """Names the request: what it changes is changed once, however often it is received."""
    again: bool
    """It may have been received before, by a server that is gone."""
