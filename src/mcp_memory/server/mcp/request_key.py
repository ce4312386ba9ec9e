"""The idempotency key of a request that a thin client carries."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RequestKey:
    key: str
    """Identifies the request, whose changes are made once, however often it is received."""
    again: bool
    """A retry: a server that has ended may have received it before."""
