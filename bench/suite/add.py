"""Sums of a matrix and a row, as a bias does."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from bench.ops import kernels

from . import inputs, scenario, written


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A tensor of `shape` plus a row as long as its last axis, in one type."""

    size: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def name(self) -> str:
        """Return what follows the family in the scenario's id."""
        elements = torch.Size(self.shape).numel()
        return f"{self.size}_{self.dtype}_threads=1-internal/{elements}"


SIZES = {"small": (1024,), "medium": (256, 1024), "large": (1024, 4096)}
CASES = {
    case.name: case
    for case in (
        Case(size=size, shape=shape, dtype=dtype)
        for size, shape in SIZES.items()
        for dtype in inputs.DTYPES
    )
}


BLOCK = 64  # rows checked at once: a double copy of everything is slow to map


def tensors(case: Case) -> tuple[Tensor, Tensor, Tensor]:
    """Return both terms and the place of their sum, all written once."""
    dtype = inputs.DTYPES[case.dtype]
    return (
        inputs.sawtooth(*case.shape, dtype=dtype),
        inputs.sawtooth(case.shape[-1], dtype=dtype),
        inputs.unwritten(*case.shape, dtype=dtype),
    )


class Add:
    """Time one sum into memory that is already there."""

    params: ClassVar = [list(CASES)]
    param_names: ClassVar = ["case"]
    benchgate_setup = "batch"
    benchgate_check = "check"
    benchgate_labels = "labels"

    def setup(self, case: str) -> None:
        """Write both terms and the place of the sum."""
        torch.set_num_threads(1)
        self.a, self.b, self.out = tensors(CASES[case])

    @scenario.named("add")
    def time_add(self, _case: str) -> None:
        """Add."""
        kernels.add(self.a, self.b, out=self.out)

    def check(self, case: str) -> None:
        """Require the double-precision sum, which every type holds exactly."""
        self.time_add(case)
        scenario.require("shape", tuple(self.out.shape), CASES[case].shape)
        width = len(self.b)
        rows = (self.out.view(-1, width), self.a.view(-1, width))
        blocks = zip(*(torch.split(tensor, BLOCK) for tensor in rows), strict=True)
        for out, a in blocks:
            exact = a.double() + self.b.double()
            scenario.require_tensor(out, exact.to(inputs.DTYPES[CASES[case].dtype]))

    def labels(self, _case: str) -> dict[str, str]:
        """Name what decides the kernel."""
        return scenario.cpu_labels()


class AddBytes:
    """Count what one sum writes."""

    params: ClassVar = [[f"{name}/bytes_written" for name in CASES]]
    param_names: ClassVar = ["metric"]
    benchgate_exact = True
    benchgate_direction = "lower"
    unit = "bytes"

    def setup(self, metric: str) -> None:
        """Write both terms and the place of the sum."""
        torch.set_num_threads(1)
        self.a, self.b, self.out = tensors(CASES[scenario.row_of(metric)])

    @scenario.named("add")
    def track_add(self, _metric: str) -> int:
        """Count the bytes of one sum."""
        return written.bytes_written(lambda: kernels.add(self.a, self.b, out=self.out))
