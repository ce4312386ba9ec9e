"""The locks of writers are given in turns."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from mcp_memory.storage.file_lock import FileLock, TurnFileLock
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


def test_its_holder_can_ask_whether_somebody_waits() -> None:
    lock = TurnLock()
    assert lock.acquire()
    assert not lock.is_awaited()
    thread = threading.Thread(target=lock.acquire)
    thread.start()
    while not waiting(lock, 1):
        pass
    assert lock.is_awaited()
    lock.release()
    thread.join()
    assert not lock.is_awaited()


def test_who_gives_up_is_passed_over() -> None:
    lock = TurnLock()
    assert lock.acquire()
    assert not lock.acquire(timeout=0)
    lock.release()
    with lock:
        assert not lock.acquire(timeout=0)
    assert lock.acquire(timeout=0)


def test_a_process_that_takes_it_again_at_once_lets_the_other_go_first(tmp_path: Path) -> None:
    order: list[str] = []
    mine, theirs = (TurnFileLock(tmp_path / "lock", tmp_path / "turn") for _ in range(2))

    def other() -> None:
        with theirs.held(60):
            order.append("other")

    thread = threading.Thread(target=other)
    assert not mine.is_awaited()
    with mine.held(60):
        assert not mine.is_awaited()
        thread.start()
        while not is_held(tmp_path / "turn"):
            pass
        assert mine.is_awaited()
    with mine.held(60):
        order.append("again")
    thread.join()
    assert order == ["other", "again"]
    mine.close()
    theirs.close()


def is_held(path: Path) -> bool:
    lock = FileLock(path)
    taken = lock.take()
    lock.close()
    return not taken
