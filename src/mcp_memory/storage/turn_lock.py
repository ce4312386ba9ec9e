"""A lock that threads get in the order in which they asked for it."""

import threading
from collections import deque


class TurnLock:
    """`threading.Lock` lets a thread that writes piece after piece take it again before those who wait."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._is_held = False
        self._turns: deque[threading.Lock] = deque()

    def acquire(self, timeout: float = -1) -> bool:
        """Whether it was got in time; -1 waits as long as it takes."""
        with self._guard:
            if not self._is_held:
                self._is_held = True
                return True
            turn = threading.Lock()
            turn.acquire()
            self._turns.append(turn)
        if turn.acquire(timeout=timeout):
            return True
        with self._guard:
            if turn not in self._turns:  # handed over at the last moment
                return True
            self._turns.remove(turn)
            return False

    def release(self) -> None:
        with self._guard:
            if self._turns:
                self._turns.popleft().release()
            else:
                self._is_held = False

    def is_awaited(self) -> bool:
        return bool(self._turns)

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()
