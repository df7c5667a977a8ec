"""The page pool against a model of it that knows lengths only."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from bench import kv_cache

PAGES = 6
PAGE_SIZE = 3


class Pool(RuleBasedStateMachine):
    """Any order of creating, appending, extending and removing."""

    def __init__(self) -> None:
        """Start with every page free."""
        super().__init__()
        self.pool = kv_cache.KvPages(pages=PAGES, page_size=PAGE_SIZE)
        self.slots: dict[int, list[int]] = {}
        self.taken = 0

    def owned(self) -> int:
        """Count the pages that the model says are in use."""
        return sum(-(-len(slots) // PAGE_SIZE) for slots in self.slots.values())

    def pick(self, number: int) -> int:
        """Choose a live sequence."""
        return sorted(self.slots)[number % len(self.slots)]

    @rule()
    def create(self) -> None:
        """Give a handle that was never seen before."""
        handle = self.pool.create()
        assert handle not in self.slots
        self.slots[handle] = []

    @precondition(lambda self: self.slots)
    @rule(number=st.integers(0, 99))
    def append(self, number: int) -> None:
        """Refuse a position exactly if it needs a page and there is none."""
        handle = self.pick(number)
        needs_page = len(self.slots[handle]) % PAGE_SIZE == 0
        if needs_page and self.owned() == PAGES:
            with pytest.raises(kv_cache.OutOfPagesError, match="needed: 1, free: 0"):
                self.pool.append(handle)
            return
        self.slots[handle].append(self.pool.append(handle))
        self.taken += needs_page

    @precondition(lambda self: self.slots)
    @rule(number=st.integers(0, 99), positions=st.integers(0, 9))
    def extend(self, number: int, positions: int) -> None:
        """Take all positions or change nothing."""
        handle = self.pick(number)
        slots = self.slots[handle]
        before = -(-len(slots) // PAGE_SIZE)
        missing = -(-(len(slots) + positions) // PAGE_SIZE) - before
        if self.owned() + missing > PAGES:
            with pytest.raises(kv_cache.OutOfPagesError):
                self.pool.extend(handle, positions)
            return
        self.pool.extend(handle, positions)
        table = self.pool.table(handle)
        for position in range(len(slots), len(slots) + positions):
            page, offset = table[position // PAGE_SIZE], position % PAGE_SIZE
            slots.append(page * PAGE_SIZE + offset)
        self.taken += missing

    @precondition(lambda self: self.slots)
    @rule(number=st.integers(0, 99))
    def remove(self, number: int) -> None:
        """Leave a dead handle behind."""
        handle = self.pick(number)
        self.pool.remove(handle)
        del self.slots[handle]
        with pytest.raises(KeyError):
            self.pool.append(handle)

    @invariant()
    def no_slot_has_two_owners(self) -> None:
        """All slots handed out are in the pool and different."""
        used = [slot for slots in self.slots.values() for slot in slots]
        assert len(used) == len(set(used))
        assert all(0 <= slot < PAGES * PAGE_SIZE for slot in used)

    @invariant()
    def every_page_is_owned_or_free(self) -> None:
        """Free pages, tables, lengths and counters agree with the model."""
        assert self.pool.free == PAGES - self.owned()
        for handle, slots in self.slots.items():
            assert self.pool.length(handle) == len(slots)
            assert len(self.pool.table(handle)) == -(-len(slots) // PAGE_SIZE)
        counters = self.pool.counters
        assert counters.allocated == self.taken
        assert counters.allocated - counters.freed == self.owned()
        assert self.owned() <= counters.peak <= PAGES


TestPool = Pool.TestCase
TestPool.settings = settings(max_examples=60, stateful_step_count=30)


def test_256_positions_take_16_pages_and_give_them_back() -> None:
    """The life of one sequence in a pool of 64 pages of 16 positions."""
    pool = kv_cache.KvPages(pages=64, page_size=16)
    sequence = pool.create()

    slots = [pool.append(sequence) for _ in range(256)]

    assert (len(set(slots)), pool.free) == (256, 48)
    pool.remove(sequence)
    assert pool.free == 64
    assert pool.counters == kv_cache.Counters(allocated=16, freed=16, peak=16)


def test_a_65th_page_is_refused() -> None:
    """A full pool raises, says what it lacks, and keeps what it has."""
    pool = kv_cache.KvPages(pages=64, page_size=16)
    sequence = pool.create()
    pool.extend(sequence, 64 * 16)

    with pytest.raises(kv_cache.OutOfPagesError, match="needed: 1, free: 0 of 64"):
        pool.append(sequence)

    assert pool.length(sequence) == 64 * 16


@pytest.mark.parametrize(("pages", "page_size"), [(0, 16), (64, 0)])
def test_an_empty_pool_is_refused(pages: int, page_size: int) -> None:
    """There is at least one page, of at least one position."""
    with pytest.raises(ValueError, match="at least 1"):
        kv_cache.KvPages(pages=pages, page_size=page_size)
