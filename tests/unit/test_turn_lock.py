"""The lock of writers is given in turns."""

from __future__ import annotations

import threading

import pytest

from mcp_memory.storage.turn_lock import TurnLock

pytestmark = pytest.mark.unit


def waiting(lock: TurnLock, count: int) -> bool:
    return len(lock._turns) == count


def test_a_thread_that_takes_it_again_at_once_lets_those_who_wait_go_first() -> None:
    lock = TurnLock()
    order: list[str] = []

    def other(name: str) -> None:
        assert lock.acquire()
        order.append(name)
        lock.release()

    assert lock.acquire()
    threads = []
    for number, name in enumerate(("first", "second"), 1):
        threads.append(threading.Thread(target=other, args=(name,)))
        threads[-1].start()
        while not waiting(lock, number):
            pass
    lock.release()
    assert lock.acquire()
    order.append("again")
    lock.release()
    for thread in threads:
        thread.join()
    assert order == ["first", "second", "again"]


def test_who_gives_up_is_passed_over() -> None:
    lock = TurnLock()
    assert lock.acquire()
    assert not lock.acquire(timeout=0)
    lock.release()
    with lock:
        assert not lock.acquire(timeout=0)
    assert lock.acquire(timeout=0)
