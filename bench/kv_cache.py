"""Bookkeeping of a paged key/value cache: who owns which page.

The block table of a paged attention cache (Kwon et al. 2023, section 4): a fixed pool
of pages, and for each sequence the list of pages that hold its positions.  It moves no
tensor; it hands out slots, and a kernel elsewhere writes there.
"""

from dataclasses import dataclass, field


class OutOfPagesError(RuntimeError):
    """The pool has no free page; nothing was changed."""


@dataclass(slots=True)
class Counters:
    """What the pool has done since it was made, in pages."""

    allocated: int = 0
    freed: int = 0
    peak: int = 0


@dataclass(slots=True)
class _Sequence:
    """A block table: `pages[i]` holds positions i * page_size and up."""

    length: int = 0
    pages: list[int] = field(default_factory=list)


class KvPages:
    """A pool of `pages` pages of `page_size` token positions each.

    A page is owned by one sequence or is free, never both, and a sequence owns
    exactly ceil(length / page_size) pages.  Freed pages are reused last in, first
    out, while their memory is still warm.

    >>> pool = KvPages(pages=2, page_size=4)
    >>> sequence = pool.create()
    >>> pool.extend(sequence, 5)
    >>> pool.table(sequence), pool.free
    ((0, 1), 0)
    >>> pool.remove(sequence)
    >>> pool.free
    2
    """

    def __init__(self, *, pages: int, page_size: int) -> None:
        """Make every page free."""
        if pages < 1 or page_size < 1:
            raise ValueError(
                f"KvPages: {pages} pages of {page_size} positions; both are at least 1"
            )
        self.page_size = page_size
        self.counters = Counters()
        self._free = list(reversed(range(pages)))
        self._capacity = pages
        self._sequences: dict[int, _Sequence] = {}
        self._next = 0

    @property
    def free(self) -> int:
        """Count the pages that no sequence owns."""
        return len(self._free)

    def create(self) -> int:
        """Start an empty sequence, which owns no page yet, and return its handle."""
        handle = self._next
        self._next += 1
        self._sequences[handle] = _Sequence()
        return handle

    def append(self, handle: int) -> int:
        """Reserve the next position and return its slot, page * page_size + offset.

        Take a page from the pool if the last one is full; raise OutOfPagesError if
        there is none, and KeyError for a handle that is not live.
        """
        sequence = self._sequences[handle]
        offset = sequence.length % self.page_size
        if offset == 0:
            sequence.pages.append(self._take())
        sequence.length += 1
        return sequence.pages[-1] * self.page_size + offset

    def extend(self, handle: int, positions: int) -> None:
        """Append `positions` positions one by one, or none if they do not all fit."""
        sequence = self._sequences[handle]
        needed = -(-(sequence.length + positions) // self.page_size)
        missing = needed - len(sequence.pages)
        if missing > self.free:
            raise OutOfPagesError(self._shortage(missing))
        for _ in range(positions):
            self.append(handle)

    def table(self, handle: int) -> tuple[int, ...]:
        """Return the pages of a sequence, in position order."""
        return tuple(self._sequences[handle].pages)

    def length(self, handle: int) -> int:
        """Return how many positions a sequence has."""
        return self._sequences[handle].length

    def remove(self, handle: int) -> None:
        """End a sequence and return its pages to the pool; KeyError if not live."""
        pages = self._sequences.pop(handle).pages
        self._free.extend(reversed(pages))
        self.counters.freed += len(pages)

    def _take(self) -> int:
        if not self._free:
            raise OutOfPagesError(self._shortage(1))
        page = self._free.pop()
        self.counters.allocated += 1
        self.counters.peak = max(self.counters.peak, self._capacity - self.free)
        return page

    def _shortage(self, needed: int) -> str:
        return (
            f"KvPages: pages needed: {needed}, free: {self.free} of {self._capacity};"
            " remove a sequence or make the pool larger"
        )
