"""The life of one sequence in a paged cache, bookkeeping only."""

from typing import ClassVar

import torch

from bench import kv_cache

from . import scenario

PAGES = 64
PAGE_SIZE = 16
POSITIONS = 256
ROW = "alloc_dealloc_pages"


def live_once(pages: kv_cache.KvPages) -> None:
    """Create a sequence, give it 256 positions and remove it."""
    sequence = pages.create()
    pages.extend(sequence, POSITIONS)
    pages.remove(sequence)


class KvCache:
    """Time the life of one sequence."""

    params: ClassVar = [[ROW]]
    param_names: ClassVar = ["case"]
    benchgate_setup = "batch"
    benchgate_check = "check"

    def setup(self, _case: str) -> None:
        """Make an empty pool."""
        torch.set_num_threads(1)
        self.pages = kv_cache.KvPages(pages=PAGES, page_size=PAGE_SIZE)

    @scenario.named("kv_cache")
    def time_alloc_dealloc(self, _case: str) -> None:
        """Live once."""
        live_once(self.pages)

    def check(self, case: str) -> None:
        """Require 16 pages out and back, and a pool that ends at 64."""
        before = self.pages.counters.allocated, self.pages.counters.freed
        self.time_alloc_dealloc(case)
        after = self.pages.counters.allocated, self.pages.counters.freed
        used = POSITIONS // PAGE_SIZE
        scenario.require("pages taken", after[0] - before[0], used)
        scenario.require("pages returned", after[1] - before[1], used)
        scenario.require("free pages", self.pages.free, PAGES)
        self._require_an_end()

    def _require_an_end(self) -> None:
        pool = kv_cache.KvPages(pages=PAGES, page_size=PAGE_SIZE)
        sequence = pool.create()
        pool.extend(sequence, PAGES * PAGE_SIZE)
        try:
            pool.append(sequence)
        except kv_cache.OutOfPagesError:
            return
        raise ValueError(f"a pool of {PAGES} pages handed out one more")


class KvCachePages:
    """Count the pages of one life."""

    params: ClassVar = [
        [f"{ROW}/pages_{counter}" for counter in ("allocated", "peak", "leaked")]
    ]
    param_names: ClassVar = ["metric"]
    benchgate_exact = True
    benchgate_direction = "lower"
    unit = "count"

    def setup(self, _metric: str) -> None:
        """Make an empty pool."""
        torch.set_num_threads(1)
        self.pages = kv_cache.KvPages(pages=PAGES, page_size=PAGE_SIZE)

    @scenario.named("kv_cache")
    def track_pages(self, metric: str) -> int:
        """Live once and read a counter."""
        live_once(self.pages)
        counters = self.pages.counters
        answers = {
            "allocated": counters.allocated,
            "peak": counters.peak,
            "leaked": counters.allocated - counters.freed,
        }
        return answers[metric.rpartition("_")[2]]
