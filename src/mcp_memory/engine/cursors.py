"""Cursors: opaque positions in an ordered list, from which the next page continues."""

import base64
import binascii
import json
import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from mcp_memory.errors import Invalid
from mcp_memory.storage.orders import ORDERS, Key, ListPosition

LONGEST = 400
STORED = "stored"
"""The order of entities and relations: as they were stored."""
ONE_OF_THEM = "a page begins at an offset or at a cursor: give one of them"
_NOT_OURS = "this cursor is not one of ours: take it from `next` of the page before"
_BROKEN = (ValueError, TypeError, OverflowError, RecursionError, binascii.Error)


def cursor_of(order: str, place: ListPosition) -> str:
    keys = [key.isoformat() if isinstance(key, datetime) else key for key in place.keys]
    return _encoded([order, place.begun_at.isoformat(), keys])


def place_in(cursor: str, order: str, now: datetime, *, past: bool) -> ListPosition:
    """The place that a cursor of this order names. `past`: of a read as of an earlier moment."""
    try:
        told_order, begun_at, keys = json.loads(_decoded(cursor))
        if told_order == order:
            kinds = [float] * len(keys) if past else list(ORDERS[order].keys.values())
            return ListPosition(_checked(keys, kinds), min(_moment(begun_at), now))
    except _BROKEN:
        raise Invalid(_NOT_OURS) from None
    raise Invalid(f"this cursor belongs to a list in the order {told_order!r}, not {order!r}: begin again")


def cursor_after(seq: int) -> str:
    """A place in a list in stored order: after the row of this number."""
    return _encoded([STORED, seq])


def seq_in(cursor: str | None, offset: int) -> int:
    """The number after which a list in stored order goes on; without a cursor, from its beginning."""
    if cursor is None:
        return 0
    if offset:
        raise Invalid(ONE_OF_THEM)
    try:
        order, seq = json.loads(_decoded(cursor))
        if order == STORED:
            return int(_number(seq))
    except _BROKEN:
        pass
    raise Invalid(_NOT_OURS)


def _encoded(told: Sequence[Any]) -> str:
    text = json.dumps(told, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decoded(cursor: str) -> bytes:
    if len(cursor) > LONGEST:
        raise ValueError("too long")
    return base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)


def _checked(keys: Sequence[Any], kinds: Sequence[type]) -> tuple[Key, ...]:
    return tuple(
        _moment(key) if kind is datetime else _number(key) for key, kind in zip(keys, kinds, strict=True)
    )


def _number(key: Any) -> float:
    if isinstance(key, bool) or not isinstance(key, int | float) or not abs(key) < 2**63 or math.isnan(key):
        raise ValueError("not a number that a row could have")
    return key


def _moment(text: Any) -> datetime:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError("without a time zone")
    return at
