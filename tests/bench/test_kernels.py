"""The kernels against fractions, element by element."""

from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bench.ops import kernels
from bench.suite import inputs

SIDES = st.integers(min_value=1, max_value=9)


def teeth(count: int) -> list[Fraction]:
    """Return the first `count` values of the sawtooth, worked out from its formula."""
    return [Fraction((i % 251) - 125, 64) for i in range(count)]


def fractions(tensor: torch.Tensor) -> list[Fraction]:
    """Return the values of a tensor, flat and without rounding."""
    return [Fraction(value) for value in tensor.flatten().tolist()]


@given(m=SIDES, k=SIDES, n=SIDES)
def test_a_product_is_the_sum_of_products(m: int, k: int, n: int) -> None:
    """Each element of a single-precision product is exact: no sum is rounded."""
    a = inputs.sawtooth(m, k, dtype=torch.float32)
    b = inputs.sawtooth(k, n, dtype=torch.float32)
    out = inputs.unwritten(m, n, dtype=torch.float32)
    left, right = teeth(m * k), teeth(k * n)

    kernels.matmul(a, b, out=out)

    assert fractions(out) == [
        sum(left[i * k + t] * right[t * n + j] for t in range(k))
        for i in range(m)
        for j in range(n)
    ]


@pytest.mark.parametrize("dtype", inputs.DTYPES.values(), ids=inputs.DTYPES)
@given(rows=SIDES, width=SIDES, picks=st.lists(st.integers(0, 8), min_size=1))
def test_a_gather_copies_rows(
    dtype: torch.dtype, rows: int, width: int, picks: list[int]
) -> None:
    """Row i of the result is the row that index i names, repeated or not."""
    indices = [pick % rows for pick in picks]
    table = inputs.sawtooth(rows, width, dtype=dtype)
    out = inputs.unwritten(len(indices), width, dtype=dtype)
    flat = teeth(rows * width)

    kernels.gather(table, torch.tensor(indices), out=out)

    assert fractions(out) == [
        flat[index * width + column] for index in indices for column in range(width)
    ]


@pytest.mark.parametrize("dtype", inputs.DTYPES.values(), ids=inputs.DTYPES)
@given(rows=SIDES, width=st.integers(1, 600))
def test_a_sum_repeats_the_second_term_on_every_row(
    dtype: torch.dtype, rows: int, width: int
) -> None:
    """Addition broadcasts over the last axis, exact in all three types."""
    a = inputs.sawtooth(rows, width, dtype=dtype)
    b = inputs.sawtooth(width, dtype=dtype)
    out = inputs.unwritten(rows, width, dtype=dtype)
    left, right = teeth(rows * width), teeth(width)

    kernels.add(a, b, out=out)

    assert fractions(out) == [
        left[i * width + j] + right[j] for i in range(rows) for j in range(width)
    ]


@given(rows=SIDES, power=st.integers(0, 10))
def test_a_mean_is_the_sum_of_a_row_over_its_width(rows: int, power: int) -> None:
    """Means of widths that are powers of two are exact, and keep their axis."""
    width = 2**power
    x = inputs.sawtooth(rows, width, dtype=torch.float32)
    out = inputs.unwritten(rows, 1, dtype=torch.float32)
    flat = teeth(rows * width)

    kernels.reduce_mean(x, out=out)

    assert tuple(out.shape) == (rows, 1)
    assert fractions(out) == [
        Fraction(sum(flat[i * width : (i + 1) * width]), width) for i in range(rows)
    ]


def test_kernels_write_where_they_are_told() -> None:
    """A result lands in the memory of `out`; none of the kernels moves it."""
    a = inputs.sawtooth(4, 4, dtype=torch.float32)
    row, index = a[0].clone(), torch.tensor([2, 0])
    out, mean = torch.zeros(4, 4), torch.zeros(4, 1)
    picked = torch.zeros(2, 4)
    before = [tensor.data_ptr() for tensor in (out, mean, picked)]

    kernels.matmul(a, a, out=out)
    kernels.add(a, row, out=out)
    kernels.reduce_mean(a, out=mean)
    kernels.gather(a, index, out=picked)

    assert before == [tensor.data_ptr() for tensor in (out, mean, picked)]
