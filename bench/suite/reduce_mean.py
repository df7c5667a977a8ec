"""Means of the rows of a matrix, as a normalization does."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from bench.ops import kernels

from . import inputs, scenario, written


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The means of `rows` rows of `width` single-precision values."""

    size: str
    rows: int
    width: int

    @property
    def name(self) -> str:
        """Return what follows the family in the scenario's id."""
        return f"{self.size}_f32_threads=1-internal/{self.rows * self.width}"


SIZES = {"small": (32, 128), "medium": (128, 512), "large": (256, 1024)}
CASES = {
    case.name: case
    for case in (
        Case(size=size, rows=rows, width=width) for size, (rows, width) in SIZES.items()
    )
}


def tensors(case: Case) -> tuple[Tensor, Tensor]:
    """Return the matrix and the place of its means."""
    return (
        inputs.sawtooth(case.rows, case.width, dtype=torch.float32),
        inputs.unwritten(case.rows, 1, dtype=torch.float32),
    )


class ReduceMean:
    """Time the means of all rows into memory that is already there."""

    params: ClassVar = [list(CASES)]
    param_names: ClassVar = ["case"]
    benchgate_setup = "batch"
    benchgate_check = "check"
    benchgate_labels = "labels"

    def setup(self, case: str) -> None:
        """Write the matrix and the place of its means."""
        torch.set_num_threads(1)
        self.x, self.out = tensors(CASES[case])

    @scenario.named("reduce_mean")
    def time_reduce_mean(self, _case: str) -> None:
        """Take the means."""
        kernels.reduce_mean(self.x, out=self.out)

    def check(self, case: str) -> None:
        """Require the exact means: widths are powers of two, so no sum is rounded."""
        self.time_reduce_mean(case)
        exact = self.x.double().sum(1, keepdim=True) / CASES[case].width
        scenario.require_tensor(self.out, exact.float())

    def labels(self, _case: str) -> dict[str, str]:
        """Name what decides the kernel."""
        return scenario.cpu_labels()


class ReduceMeanBytes:
    """Count what the means of one matrix write."""

    params: ClassVar = [[f"{name}/bytes_written" for name in CASES]]
    param_names: ClassVar = ["metric"]
    benchgate_exact = True
    benchgate_direction = "lower"
    unit = "bytes"

    def setup(self, metric: str) -> None:
        """Write the matrix and the place of its means."""
        torch.set_num_threads(1)
        self.x, self.out = tensors(CASES[scenario.row_of(metric)])

    @scenario.named("reduce_mean")
    def track_reduce_mean(self, _metric: str) -> int:
        """Count the bytes of the means."""
        return written.bytes_written(lambda: kernels.reduce_mean(self.x, out=self.out))
