"""Overwrites what deleted rows have left in a database file, while others read and write it.

A reader that began when the write-ahead log was empty keeps every process from moving pages of the log into
the file. As long as it lasts, the file stays as it is, and bytes that are not in use can be overwritten in
place: nobody needs them, and nobody waits. What others write meanwhile is in the log; those pages are looked
at again, the last few of them while nobody writes.

Two things would bring deleted bytes back, and so are part of the last turn. Frames in the log: it is emptied
first. And pages that other connections hold in memory and may write again: a commit of a new connection
makes all of them read anew.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path

import apsw

from mcp_memory.storage import queries
from mcp_memory.storage.sqlite.page_layout import (
    CHAINED,
    FILE_HEADER,
    FileHeader,
    FreeList,
    Overflow,
    Trees,
    UnknownLayout,
    chain_end,
    free_list,
    link,
    wipe,
)

AT_ONCE = 256
"""Pages that are read and looked at together."""
PIECE = 65_536
"""Bytes that SQLite is asked to read or write: of 128 kB and more it would take a part only."""
FEW = 1000
"""Changed pages that are looked at while others wait: some milliseconds."""
PATIENCE = 10.0
"""Seconds to wait for others who read."""
PAUSE = 0.02
SYNC_EVERY = 2000
"""Pages after which the disk is asked to keep what was overwritten: others who sync wait for all of it."""

_SQL = queries.load("sqlite")
_log = logging.getLogger(__name__)
_LOG_HEADER, _FRAME_HEADER = 32, 24


class Eraser:
    """The unused bytes of one file, which must not change during a call."""

    def __init__(self, path: Path) -> None:
        flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE
        # By SQLite's own hands: closing a file of ours would end the locks that this process holds on it.
        self._file = apsw.VFSFile("", str(path), [flags, 0])
        self._overflows: dict[int, list[Overflow]] = {}
        """By page of a b-tree."""
        self._onward: dict[int, int] = {}
        """By overflow page: the next one of its chain."""
        self._used: dict[int, int] = {}
        """By last page of a chain: how many of its bytes are in use."""
        self._unsynced = 0

    def close(self) -> None:
        self._file.xClose()

    def erase(self, numbers: Collection[int] | None = None) -> None:
        """Overwrite what is unused on these pages, or on all."""
        header = self._header()
        numbers = range(1, header.page_count + 1) if numbers is None else numbers
        free = free_list(header, lambda number: self._read(header, number, 1))
        for first, count in _runs(numbers, header):
            self._erase_run(header, free, first, count)
        self._erase_ends(header, numbers)
        self._sync()

    def _header(self) -> FileHeader:
        header = FileHeader.of(self._file.xRead(FILE_HEADER, 0), self._file.xFileSize())
        if not header.is_plain:
            raise UnknownLayout("its pages are used in a way of their own")
        return header

    def _erase_run(self, header: FileHeader, free: FreeList, first: int, count: int) -> None:
        import numpy as np

        size = header.page_size
        image = bytearray(self._read(header, first, count))
        pages = np.frombuffer(image, np.uint8).reshape(count, size)
        changed, trees = set(), []
        for row in range(count):
            number, page = first + row, memoryview(image)[row * size : (row + 1) * size]
            self._forget(number)
            if number in free.unused or number in free.trunks:
                if wipe(page, free.trunks.get(number, 0)):
                    changed.add(row)
            elif page[0] == CHAINED and number > 1:
                self._onward[number] = link(page)
            else:
                trees.append(row)
        if trees:
            found = Trees(own := pages[trees], np.array([first + row for row in trees]))
            blanked = found.blank()
            pages[[trees[place] for place in blanked]] = own[blanked]
            changed.update(trees[place] for place in blanked)
            for number, overflow in found.overflows():
                self._overflows.setdefault(number, []).append(overflow)
        self._write(header, image, first, changed)

    def _forget(self, number: int) -> None:
        """It may serve another purpose now."""
        self._overflows.pop(number, None)
        self._onward.pop(number, None)

    def _erase_ends(self, header: FileHeader, numbers: Collection[int]) -> None:
        """Overwrite what comes behind the ends of chains that begin or end on these pages."""
        known = {page: used for page, used in self._used.items() if self._onward.get(page) == 0}
        begun = (one for number, found in self._overflows.items() if number in numbers for one in found)
        ends = dict(chain_end(overflow, self._next, header.page_size) for overflow in begun)
        self._used = known | ends
        # A chain may change without the page it belongs to.
        ends |= {page: used for page, used in known.items() if page in numbers and page not in ends}
        for number, used in ends.items():
            page = bytearray(self._read(header, number, 1))
            if wipe(memoryview(page), used):
                self._write(header, page, number, {0})

    def _next(self, number: int) -> int:
        if number not in self._onward:
            raise UnknownLayout(f"page {number} is in a chain, and is no page of one")
        return self._onward[number]

    def _read(self, header: FileHeader, first: int, count: int) -> bytes:
        begin, end = (first - 1) * header.page_size, (first - 1 + count) * header.page_size
        return b"".join(
            self._file.xRead(min(PIECE, end - place), place) for place in range(begin, end, PIECE)
        )

    def _write(self, header: FileHeader, image: bytearray, first: int, rows: set[int]) -> None:
        size = header.page_size
        for begin, count in _consecutive(sorted(rows)):
            for place in range(begin * size, (begin + count) * size, PIECE):
                part = memoryview(image)[place : min(place + PIECE, (begin + count) * size)]
                self._file.xWrite(bytes(part), (first - 1) * size + place)
        self._unsynced += len(rows)
        if self._unsynced >= SYNC_EVERY:
            self._sync()

    def _sync(self) -> None:
        if self._unsynced:
            self._file.xSync(apsw.SQLITE_SYNC_NORMAL)
            self._unsynced = 0


class Log:
    """The write-ahead log as a file: which pages were written since it was empty."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def is_empty(self) -> bool:
        return not self._path.exists() or self._path.stat().st_size == 0

    def pages(self) -> set[int]:
        """Also those of transactions that were given up: at worst they are looked at in vain."""
        found = set()
        with suppress(FileNotFoundError), self._path.open("rb", buffering=0) as log:
            beginning = log.read(_LOG_HEADER)
            if len(beginning) == _LOG_HEADER:
                frame = _FRAME_HEADER + int.from_bytes(beginning[8:12], "big")
                for place in range(_LOG_HEADER, os.fstat(log.fileno()).st_size, frame):
                    log.seek(place)
                    found.add(int.from_bytes(log.read(4), "big"))
        return found


class Erasing:
    """One run over a file that others use."""

    def __init__(
        self,
        path: Path,
        connect: Callable[[], apsw.Connection],
        turn: Callable[[], AbstractContextManager[apsw.Connection]],
        empty_log: Callable[[apsw.Connection], bool],
    ) -> None:
        """In a `turn` nobody else writes; `empty_log` returns whether nobody's reading was in the way."""
        self._path = path
        self._written = Log(path.with_name(path.name + "-wal"))
        self._connect = connect
        self._turn = turn
        self._empty_log = empty_log

    def run(self) -> bool:
        """Whether it is done; False if somebody else went on reading for too long."""
        try:
            with closing(Eraser(self._path)) as eraser, closing(self._connect()) as reader:
                with suppress(apsw.BusyError):  # somebody else is at it
                    # What is in the file already need not be moved there in a turn.
                    reader.wal_checkpoint("main", apsw.SQLITE_CHECKPOINT_PASSIVE)
                return self._run(eraser, reader)
        except UnknownLayout as error:
            # Of a file that another program has made, or that is damaged.
            _log.info("the file is rewritten as a whole: %s", error)
            return self._rewrite()

    def _rewrite(self) -> bool:
        with self._turn() as writer:
            writer.execute("VACUUM")
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with self._turn() as writer:
                if self._empty_log(writer):
                    return True
            time.sleep(PAUSE)
        return False

    def _run(self, eraser: Eraser, reader: apsw.Connection) -> bool:
        left: set[int] | None = None  # all pages
        until = time.monotonic() + PATIENCE
        while True:
            with self._turn() as writer:
                left = None if left is None else left | self._written.pages()
                is_still = self._hold_still(reader, writer)
                if is_still and left is not None and len(left) <= FEW and self._finish(eraser, left):
                    _let_go(reader)
                    self._empty_log(writer)
                    return True
            if is_still:
                eraser.erase(left)
                left = set()
                until = time.monotonic() + PATIENCE
            elif time.monotonic() > until:
                return False
            else:
                time.sleep(PAUSE)

    def _hold_still(self, reader: apsw.Connection, writer: apsw.Connection) -> bool:
        """Begin to read. Whether the file now stays as it is, for nothing was in the log.

        In any case what others write stays in the log.
        """
        _let_go(reader)
        emptied = self._empty_log(writer)
        reader.execute("BEGIN")
        reader.execute(_SQL["count_schema_objects"]).fetchall()
        return emptied and self._written.is_empty()

    def _finish(self, eraser: Eraser, left: set[int]) -> bool:
        """Erase the rest, and make others read anew. Whether nobody has written meanwhile, without a turn."""
        eraser.erase(left)
        with closing(self._connect()) as connection:
            [[version]] = connection.execute("PRAGMA user_version")
            connection.execute(f"PRAGMA user_version = {version:d}")  # writes the first page
        return self._written.pages() == {1}


def _let_go(reader: apsw.Connection) -> None:
    if reader.in_transaction:
        reader.execute("COMMIT")


def _runs(numbers: Collection[int], header: FileHeader) -> Iterator[tuple[int, int]]:
    """Neighbouring pages, as many as are looked at together."""
    there = (n for n in sorted(numbers) if 0 < n <= header.page_count and n != header.lock_page)
    for first, count in _consecutive(there):
        for begin in range(first, first + count, AT_ONCE):
            yield begin, min(AT_ONCE, first + count - begin)


def _consecutive(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Ascending numbers as ranges: the first, and how many."""
    first = count = 0
    for number in numbers:
        if count and number == first + count:
            count += 1
            continue
        if count:
            yield first, count
        first, count = number, 1
    if count:
        yield first, count
