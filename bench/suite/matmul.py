"""Matrix products, row-major, the right-hand side not packed in advance."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from bench.ops import kernels

from . import inputs, scenario, written


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One product [m, k] x [k, n] in one type, with a number of threads asked for."""

    size: str
    m: int
    k: int
    n: int
    dtype: str
    threads: int

    @property
    def name(self) -> str:
        """Return what follows the family in the scenario's id."""
        shape = f"{self.m}x{self.k}x{self.n}"
        return f"{self.size}_generic_{self.dtype}_threads={self.threads}/{shape}"


SIZES = {"small": (1, 256, 256), "medium": (32, 512, 512), "large": (32, 1024, 1024)}
CASES = {
    case.name: case
    for case in (
        Case(size=size, m=m, k=k, n=n, dtype=dtype, threads=threads)
        for size, (m, k, n) in SIZES.items()
        for dtype in inputs.DTYPES
        for threads in (1, 8)
    )
}


def tensors(case: Case) -> tuple[Tensor, Tensor, Tensor]:
    """Return both factors and the place of their product, all written once."""
    dtype = inputs.DTYPES[case.dtype]
    return (
        inputs.sawtooth(case.m, case.k, dtype=dtype),
        inputs.sawtooth(case.k, case.n, dtype=dtype),
        inputs.unwritten(case.m, case.n, dtype=dtype),
    )


def exact_product(a: Tensor, b: Tensor) -> Tensor:
    """Return the product in double precision, where nothing is rounded.

    It has at most 24 significant bits, so a later rounding to half precision is one
    rounding even though torch converts by way of single.
    """
    return a.double() @ b.double()


def tolerance(exact: Tensor, *, terms: int, dtype: torch.dtype) -> float:
    """Return how far off a product may be that is summed in its own half precision.

    Each sum is rounded `terms` times, in random directions, by at most one roundoff
    of the largest result: sqrt(terms) of them (Higham & Mary 2019, "A new approach
    to probabilistic rounding error analysis"), doubled.  Results reach 100 and the
    tolerance 26; a wrong row or column misses by more.
    """
    roundoff = torch.finfo(dtype).eps / 2
    return 2 * math.sqrt(terms) * roundoff * float(exact.abs().max())


class Matmul:
    """Time one product into memory that is already there."""

    params: ClassVar = [list(CASES)]
    param_names: ClassVar = ["case"]
    benchgate_setup = "batch"
    benchgate_check = "check"
    benchgate_labels = "labels"

    def setup(self, case: str) -> None:
        """Write both factors and the place of the product."""
        torch.set_num_threads(CASES[case].threads)
        self.a, self.b, self.out = tensors(CASES[case])

    @scenario.named("matmul")
    def time_matmul(self, _case: str) -> None:
        """Multiply."""
        kernels.matmul(self.a, self.b, out=self.out)

    def check(self, case: str) -> None:
        """Require the exact product, rounded once; half precision may sum in half."""
        self.time_matmul(case)
        exact = exact_product(self.a, self.b)
        rounded = exact.to(inputs.DTYPES[CASES[case].dtype])
        if rounded.dtype == torch.float32 or self.out.dtype != rounded.dtype:
            scenario.require_tensor(self.out, rounded)
            return
        scenario.require("shape", tuple(self.out.shape), tuple(rounded.shape))
        error = float((self.out.double() - exact).abs().max())
        allowed = tolerance(exact, terms=self.a.shape[1], dtype=rounded.dtype)
        # Written so that a NaN fails.
        if not (torch.equal(self.out, rounded) or error <= allowed):
            raise ValueError(
                f"off by {error}; sums in {CASES[case].dtype} explain {allowed} at most"
            )

    def labels(self, case: str) -> dict[str, str]:
        """Say how wide this row is and in which precision it was summed."""
        self.time_matmul(case)
        rounded = exact_product(self.a, self.b).to(self.out.dtype)
        is_exact = torch.equal(self.out, rounded)
        return {
            **scenario.thread_labels(CASES[case].threads),
            **scenario.cpu_labels(),
            "sums": "exact" if is_exact else f"rounded to {CASES[case].dtype}",
        }


class MatmulBytes:
    """Count what one product writes; once per size, as threads share one result."""

    params: ClassVar = [
        [f"{name}/bytes_written" for name, case in CASES.items() if case.threads == 1]
    ]
    param_names: ClassVar = ["metric"]
    benchgate_exact = True
    benchgate_direction = "lower"
    unit = "bytes"

    def setup(self, metric: str) -> None:
        """Write both factors and the place of the product."""
        torch.set_num_threads(1)
        self.a, self.b, self.out = tensors(CASES[scenario.row_of(metric)])

    @scenario.named("matmul")
    def track_matmul(self, _metric: str) -> int:
        """Count the bytes of one product."""
        return written.bytes_written(
            lambda: kernels.matmul(self.a, self.b, out=self.out)
        )
