"""Work that is done a moment later: once for many wishes, again if it fails, and all of it before the end."""

import threading

from mcp_memory.engine.write_behind import WriteBehind


def test_many_wishes_are_one_piece_of_work() -> None:
    done: list[int] = []
    later = WriteBehind(delay=3600)
    for number in range(5):
        later.soon("file", lambda number=number: done.append(number))  # type: ignore[misc]
    assert done == []
    later.close()
    assert done == [4]


def test_work_under_different_keys_is_all_done() -> None:
    done: list[str] = []
    later = WriteBehind(delay=3600)
    later.soon("one", lambda: done.append("one"))
    later.soon("other", lambda: done.append("other"))
    later.close()
    assert sorted(done) == ["one", "other"]


def test_work_is_done_without_being_closed() -> None:
    done = threading.Event()
    later = WriteBehind(delay=0)
    later.soon("file", done.set)
    assert done.wait(60)
    later.close()


def test_work_that_fails_is_tried_again() -> None:
    attempts, done = [], threading.Event()

    def work() -> None:
        attempts.append(1)
        if len(attempts) < 3:
            raise OSError("the disk is full")
        done.set()

    later = WriteBehind(delay=0, after_trouble=0)
    later.soon("file", work)
    assert done.wait(60)
    later.close()
    assert len(attempts) == 3


def test_closing_does_not_wait_for_work_that_keeps_failing() -> None:
    def work() -> None:
        raise OSError("the disk is full")

    later = WriteBehind(delay=0, after_trouble=3600)
    later.soon("file", work)
    later.close()


def test_what_is_wished_for_while_working_is_done_as_well() -> None:
    done: list[str] = []
    later = WriteBehind(delay=0)
    again = threading.Event()

    def second() -> None:
        done.append("second")
        again.set()

    def first() -> None:
        done.append("first")
        later.soon("file", second)

    later.soon("file", first)
    assert again.wait(60)
    later.close()
    assert done == ["first", "second"]
