"""Every failure a caller may see.

MemoryServerError
├── Invalid       the request makes no sense; the message says what would
├── NotFound      no such memory, entity or relation in this space
├── Conflict      the thing exists already, or conflicts with another
│   └── Stale     the thing changed since the caller read it
├── Forbidden     the caller may not do this here
└── Unavailable   the database or the model cannot be reached; trying again may help
    └── Unequipped  this needs a model, which the owner must install first

Anything else that escapes is a bug. It is logged with its traceback, and the
caller is told only that the server failed.
"""

from typing import ClassVar


class MemoryServerError(Exception):
    """The root of all failures that are meant to be read by a caller."""

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False


class Invalid(MemoryServerError):
    code = "invalid"


class NotFound(MemoryServerError):
    code = "not_found"


class EntityNotFound(NotFound):
    """No entity has this name or id."""

    def __init__(self, which: str, close: str = "") -> None:
        super().__init__(f"Entity not found: {which}" + (f". Did you mean {close}?" if close else ""))


class Conflict(MemoryServerError):
    code = "conflict"


class Stale(Conflict):
    code = "stale"


class Forbidden(MemoryServerError):
    code = "forbidden"


class ReadOnly(Forbidden):
    """The caller's token does not allow changes."""

    def __init__(self) -> None:
        super().__init__("this token may only read: ask for one that may write")


class Unavailable(MemoryServerError):
    code = "unavailable"
    retryable = True


class Unequipped(Unavailable):
    code = "unequipped"
    retryable = False
