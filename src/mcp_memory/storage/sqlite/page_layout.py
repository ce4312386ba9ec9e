"""Which bytes of an SQLite file's pages are in use, by the documented file format.

A deleted row stays in the page until something takes its place, and moving rows between pages leaves copies
behind. Here are the places where such bytes can be: between the pointers and the cells of a b-tree page, in
its free blocks, in pages of the free list, and behind the end of a chain of overflow pages.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]
    Numbers = npt.NDArray[np.integer[Any]]

FILE_HEADER = 100
"""Bytes in front of the first page's own header."""
LOCKED_BYTES = 0x40000000
"""Where locks are taken, in a file of more than a gigabyte: SQLite never uses the page there."""
MOST_PAGES = 2**24
"""Beyond, the number with which an overflow page begins could look like the kind of a b-tree page."""

INDEX_INNER, TABLE_INNER, INDEX_LEAF, TABLE_LEAF = 2, 5, 10, 13
TREES = (INDEX_INNER, TABLE_INNER, INDEX_LEAF, TABLE_LEAF)
INNER = (INDEX_INNER, TABLE_INNER)
CHAINED = 0
"""The first byte of an overflow page and of a trunk of the free list: part of a page number."""

_LINK = struct.Struct(">I")
_TREE_HEADER = struct.Struct(">BHHH")  # kind, first free block, cells, beginning of the cells
_FREE_BLOCK = struct.Struct(">HH")  # next, size


class UnknownLayout(Exception):
    """A page that does not look as the format says."""


@dataclass(frozen=True, slots=True)
class FileHeader:
    page_size: int
    page_count: int
    first_trunk: int
    free_count: int
    is_plain: bool
    """Whether nothing is in the file but what this module knows of."""

    @classmethod
    def of(cls, beginning: bytes, file_size: int) -> FileHeader:
        [size] = struct.unpack_from(">H", beginning, 16)
        page_size = 65536 if size == 1 else size
        page_count = file_size // page_size if page_size else 0
        trunk, free = struct.unpack_from(">II", beginning, 32)
        [largest_root] = _LINK.unpack_from(beginning, 52)  # of a file that moves its pages by itself
        is_plain = beginning[20] == 0 and largest_root == 0 and 0 < page_count < MOST_PAGES
        return cls(page_size, page_count, trunk, free, is_plain)

    @property
    def lock_page(self) -> int:
        return LOCKED_BYTES // self.page_size + 1


class FreeList(NamedTuple):
    unused: frozenset[int]
    """Pages of which nothing is in use."""
    trunks: dict[int, int]
    """Pages that list them, and how many of their bytes are in use."""


def free_list(header: FileHeader, read: Callable[[int], bytes]) -> FreeList:
    unused: set[int] = set()
    trunks: dict[int, int] = {}
    trunk = header.first_trunk
    while trunk:
        if not 1 < trunk <= header.page_count or trunk in trunks:
            raise UnknownLayout(f"the free list has no page {trunk}")
        page = read(trunk)
        onward, count = struct.unpack_from(">II", page)
        used = 8 + 4 * count
        if used > header.page_size:
            raise UnknownLayout(f"page {trunk} lists {count} free pages")
        unused.update(struct.unpack_from(f">{count}I", page, 8))
        trunks[trunk] = used
        trunk = onward
    if len(unused) + len(trunks) != header.free_count or not all(
        1 < number <= header.page_count for number in unused
    ):
        raise UnknownLayout("the free list is not what the header says")
    return FreeList(frozenset(unused), trunks)


class Overflow(NamedTuple):
    """What does not fit on a b-tree page: a chain of pages."""

    first: int
    length: int


def chain_end(overflow: Overflow, onward: Callable[[int], int], page_size: int) -> tuple[int, int]:
    """The last page of a chain, and how many of its bytes are in use."""
    room = page_size - 4
    count = -(-overflow.length // room)
    page = overflow.first
    for _ in range(count - 1):
        page = onward(page)
    if onward(page) != 0:
        raise UnknownLayout(f"the chain of page {overflow.first} does not end where it should")
    return page, 4 + overflow.length - (count - 1) * room


def link(page: bytes | memoryview) -> int:
    """The next page of a chain; 0 at its end."""
    number: int = _LINK.unpack_from(page)[0]
    return number


class Trees:
    """The b-tree pages among some pages of a file."""

    def __init__(self, pages: Bytes, numbers: Numbers) -> None:
        """`pages`: one a row. All of them must be pages of b-trees."""
        import numpy as np

        self._pages = pages
        self._numbers = numbers
        self._size = pages.shape[1]
        self._rows = np.arange(len(pages))
        self._header = np.where(numbers == 1, FILE_HEADER, 0)
        self._kind = pages[self._rows, self._header]
        if not np.isin(self._kind, TREES).all():
            raise UnknownLayout("a page is of no known kind")
        self._count = self._two_bytes(self._header + 3)
        begin = self._two_bytes(self._header + 5)
        self._begin = np.where(begin == 0, 65536, begin)
        self._pointers = self._header + np.where(np.isin(self._kind, INNER), 12, 8)
        self._end = self._pointers + 2 * self._count
        if ((self._end > self._begin) | (self._begin > self._size)).any():
            raise UnknownLayout("the cells of a page overlap with its header")
        self._cell_rows = np.repeat(self._rows, self._count)
        first = np.repeat(np.cumsum(self._count) - self._count, self._count)
        place = self._pointers[self._cell_rows] + 2 * (np.arange(len(self._cell_rows)) - first)
        self._cells = self._two_bytes(place, self._cell_rows)
        if ((self._cells < self._begin[self._cell_rows]) | (self._cells > self._size - 4)).any():
            raise UnknownLayout("a pointer of a page leads outside of its cells")

    def blank(self) -> list[int]:
        """Overwrite what is not in use. Returns the rows of the pages in which there was something."""
        return [row for row in range(len(self._pages)) if self._blank(row)]

    def overflows(self) -> Iterator[tuple[int, Overflow]]:
        """By number of the page: what its cells have put elsewhere."""
        import numpy as np

        # Of most cells the first two bytes tell that all of it is here.
        start = self._cells + np.where(self._kind == INDEX_INNER, 4, 0)[self._cell_rows]
        kind = self._kind[self._cell_rows]
        one, two = (self._bytes(np.minimum(start + n, self._size - 1)) for n in (0, 1))
        local = np.where(kind == TABLE_LEAF, self._size - 35, self._most_of_index)
        large = (one >= 128) & ((two >= 128) | (((one & 127) << 7 | two) > local)) & (kind != TABLE_INNER)
        for cell in np.flatnonzero(large).tolist():
            row = int(self._cell_rows[cell])
            found = self._overflow(self._pages[row].tobytes(), int(start[cell]), int(kind[cell]))
            if found is not None:
                yield int(self._numbers[row]), found

    @property
    def _most_of_index(self) -> int:
        return int((self._size - 12) * 64 // 255 - 23)

    def _overflow(self, page: bytes, start: int, kind: int) -> Overflow | None:
        most = self._size - 35 if kind == TABLE_LEAF else self._most_of_index
        length, place = _varint(page, start)
        if length <= most:
            return None
        if kind == TABLE_LEAF:
            _, place = _varint(page, place)  # the row's number
        least = (self._size - 12) * 32 // 255 - 23
        here = least + (length - least) % (self._size - 4)
        here = here if here <= most else least
        if place + here + 4 > self._size:
            raise UnknownLayout("a cell is longer than its page")
        return Overflow(_LINK.unpack_from(page, place + here)[0], length - here)

    def _blank(self, row: int) -> bool:
        page = memoryview(self._pages[row])
        header = int(self._header[row])
        found = _wiped(page, int(self._end[row]), int(self._begin[row]))
        _, block, _, _ = _TREE_HEADER.unpack_from(page, header)
        after = int(self._begin[row])
        while block:
            if block < after or block + 4 > self._size:
                raise UnknownLayout("a free block of a page is out of place")
            onward, size = _FREE_BLOCK.unpack_from(page, block)
            after = block + size
            if size < 4 or after > self._size or self._holds_cells(row, block, after):
                raise UnknownLayout("a free block of a page overlaps with something")
            found |= _wiped(page, block + 4, after)
            block = onward
        return found

    def _holds_cells(self, row: int, begin: int, end: int) -> bool:
        first = int(self._pointers[row])
        pointers = self._pages[row, first : int(self._end[row])].tobytes()
        return any(begin <= cell < end for cell in struct.unpack(f">{len(pointers) // 2}H", pointers))

    def _bytes(self, places: Numbers) -> Numbers:
        return self._pages[self._cell_rows, places].astype("i4")

    def _two_bytes(self, places: Numbers, rows: Numbers | None = None) -> Numbers:
        lines = self._rows if rows is None else rows
        high, low = self._pages[lines, places], self._pages[lines, places + 1]
        return high.astype("i4") << 8 | low


def _wiped(page: memoryview, begin: int, end: int) -> bool:
    """Overwrite a part of a page with zeros. Whether anything else was there."""
    nothing = bytes(end - begin)
    if page[begin:end] == nothing:
        return False
    page[begin:end] = nothing
    return True


def wipe(page: memoryview, used: int) -> bool:
    """Overwrite what comes behind the bytes in use. Whether anything was there."""
    return _wiped(page, used, len(page))


def _varint(page: bytes, place: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends."""
    value = 0
    for length in range(8):
        byte = page[place + length]
        value = value << 7 | byte & 127
        if byte < 128:
            return value, place + length + 1
    return value << 8 | page[place + 8], place + 9
