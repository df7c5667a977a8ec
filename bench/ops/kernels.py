"""The four kernels a decoder spends its time in.

Each one writes into `out` and returns nothing: the caller allocates once and a call
allocates no result.  None of them checks shapes, because torch does; but torch also
*resizes* an `out` of the wrong shape, so a caller that must not lose its memory hands
in the right one.
"""

import torch
from torch import Tensor


def matmul(a: Tensor, b: Tensor, *, out: Tensor) -> None:
    """Write the product of `a` [m, k] and `b` [k, n] into `out` [m, n]."""
    torch.mm(a, b, out=out)


def gather(table: Tensor, indices: Tensor, *, out: Tensor) -> None:
    """Write row `indices[i]` of `table` [rows, width] into row i of `out`.

    `indices` is int64 in [0, rows); `out` is [len(indices), width].
    """
    torch.index_select(table, 0, indices, out=out)


def add(a: Tensor, b: Tensor, *, out: Tensor) -> None:
    """Write `a + b` into `out`, with `b` broadcast over the leading axes of `a`."""
    torch.add(a, b, out=out)


def reduce_mean(x: Tensor, *, out: Tensor) -> None:
    """Write the mean of each row of `x` [rows, width] into `out` [rows, 1]."""
    torch.mean(x, 1, keepdim=True, out=out)
