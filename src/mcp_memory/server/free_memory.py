"""Gives memory that is free again back to the system."""

import ctypes
import sys
from functools import cache
from typing import Any


def give_back() -> None:
    """Return free blocks of the C library to the system; does nothing where there is no way to ask for it.

    After a peak, glibc keeps them in a heap for each thread, scattered: in half an hour of load they had
    become an eighth of the process.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    if sys.platform != "linux":
        return None
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):  # another C library
        return None
