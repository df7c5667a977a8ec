"""Rows gathered from a table, as an embedding does."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from bench.ops import kernels

from . import inputs, scenario, written


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """`count` rows of a [rows, width] table in one type."""

    size: str
    rows: int
    width: int
    count: int
    dtype: str

    @property
    def name(self) -> str:
        """Return what follows the family in the scenario's id."""
        gathered = self.count * self.width
        return f"{self.size}_{self.dtype}_threads=1-internal/{gathered}"


SIZES = {
    "small": (4096, 128, 32),
    "medium": (16384, 256, 128),
    "large": (32768, 512, 256),
}
CASES = {
    case.name: case
    for case in (
        Case(size=size, rows=rows, width=width, count=count, dtype=dtype)
        for size, (rows, width, count) in SIZES.items()
        for dtype in inputs.DTYPES
    )
}


def tensors(case: Case) -> tuple[Tensor, Tensor, Tensor]:
    """Return the table, the indices (97 i) mod rows, and the place of the result."""
    dtype = inputs.DTYPES[case.dtype]
    return (
        inputs.sawtooth(case.rows, case.width, dtype=dtype),
        torch.arange(case.count) * 97 % case.rows,
        inputs.unwritten(case.count, case.width, dtype=dtype),
    )


class Gather:
    """Time one gather into memory that is already there."""

    params: ClassVar = [list(CASES)]
    param_names: ClassVar = ["case"]
    benchgate_setup = "batch"
    benchgate_check = "check"
    benchgate_labels = "labels"

    def setup(self, case: str) -> None:
        """Write the table, the indices and the place of the result."""
        torch.set_num_threads(1)
        self.table, self.indices, self.out = tensors(CASES[case])

    @scenario.named("gather")
    def time_gather(self, _case: str) -> None:
        """Gather."""
        kernels.gather(self.table, self.indices, out=self.out)

    def check(self, case: str) -> None:
        """Require each row where its index says, bit for bit."""
        self.time_gather(case)
        rows = [self.table[index] for index in self.indices.tolist()]
        scenario.require_tensor(self.out, torch.stack(rows))

    def labels(self, _case: str) -> dict[str, str]:
        """Name what decides the kernel."""
        return scenario.cpu_labels()


class GatherBytes:
    """Count what one gather writes."""

    params: ClassVar = [[f"{name}/bytes_written" for name in CASES]]
    param_names: ClassVar = ["metric"]
    benchgate_exact = True
    benchgate_direction = "lower"
    unit = "bytes"

    def setup(self, metric: str) -> None:
        """Write the table, the indices and the place of the result."""
        torch.set_num_threads(1)
        self.table, self.indices, self.out = tensors(CASES[scenario.row_of(metric)])

    @scenario.named("gather")
    def track_gather(self, _metric: str) -> int:
        """Count the bytes of one gather."""
        return written.bytes_written(
            lambda: kernels.gather(self.table, self.indices, out=self.out)
        )
