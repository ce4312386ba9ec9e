"""Debounced background work: one thread, and one run for many requests."""

import logging
import threading
from collections.abc import Callable

_log = logging.getLogger(__name__)

DELAY = 0.1
"""Seconds between the first request and the work; requests in between are covered by the same run."""

AFTER_TROUBLE = 2.0
"""Backoff in seconds after failed work."""


class WriteBehind:
    """`soon` may be called by any thread. `close` finishes pending work and waits for it."""

    def __init__(self, delay: float = DELAY, after_trouble: float = AFTER_TROUBLE) -> None:
        self._delay = delay
        self._after_trouble = after_trouble
        self._wanted: dict[str, Callable[[], None]] = {}
        self._changed = threading.Condition()
        self._closing = False
        self._thread: threading.Thread | None = None

    def soon(self, key: str, work: Callable[[], None]) -> None:
        """Schedule work; of several requests with one key, only the last runs."""
        with self._changed:
            self._wanted[key] = work
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="write behind", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        pause = self._delay
        while self._await(pause):
            with self._changed:
                wanted, self._wanted = self._wanted, {}
            failed = {key: work for key, work in wanted.items() if not _succeeds(key, work)}
            pause = self._after_trouble if failed else self._delay
            with self._changed:
                if failed and self._closing:
                    return  # the store has a note of it, and the next start does it
                self._wanted = failed | self._wanted

    def _await(self, pause: float) -> bool:
        """Wait until work is due. False once closed with nothing left to do."""
        with self._changed:
            self._changed.wait_for(lambda: self._wanted or self._closing)
            self._changed.wait_for(lambda: self._closing, pause)
            return bool(self._wanted)


def _succeeds(key: str, work: Callable[[], None]) -> bool:
    try:
        work()
    except Exception:
        # The cause, such as a full disk or another program's lock, may go away.
        _log.exception("%s: failed, and is tried again", key)
        return False
    return True
