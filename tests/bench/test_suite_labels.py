"""What a row says about itself, and how a wrong result is named."""

import pytest
import torch
from torch import Tensor

from bench.ops import kernels
from bench.suite import (
    inputs,
    matmul,
    scenario,
)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_sums_in_half_precision_pass_and_are_labeled(
    monkeypatch: pytest.MonkeyPatch, dtype: str
) -> None:
    """A back end that rounds every partial sum is legitimate, and says so."""

    def sum_in_half(a: Tensor, b: Tensor, *, out: Tensor) -> None:
        out.zero_()
        for term in range(a.shape[1]):
            out += a[:, term : term + 1] * b[term]

    case = f"medium_generic_{dtype}_threads=1/32x512x512"
    benchmark = matmul.Matmul()
    benchmark.setup(case)
    exact = benchmark.labels(case)["sums"]
    monkeypatch.setattr(kernels, "matmul", sum_in_half)

    benchmark.check(case)

    assert benchmark.labels(case)["sums"] == f"rounded to {dtype}"
    assert exact in {"exact", f"rounded to {dtype}"}


def test_the_label_says_how_wide_a_row_really_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Eight threads on three CPUs are three; a torch with fewer threads decides."""
    monkeypatch.setattr(scenario, "available_cpus", lambda: 3)
    benchmark = matmul.Matmul()
    case = "small_generic_f32_threads=8/1x256x256"
    benchmark.setup(case)

    assert benchmark.labels(case)["threads"] == "8 requested, 3 realized"
    torch.set_num_threads(2)
    assert benchmark.labels(case)["threads"] == "8 requested, 2 realized"


def test_a_wrong_type_or_shape_is_named() -> None:
    """Equal values in another type, or in another shape, are not the result."""
    right = inputs.sawtooth(2, 3, dtype=torch.float32)

    with pytest.raises(ValueError, match=r"type is torch\.float16"):
        scenario.require_tensor(right.half(), right)
    with pytest.raises(ValueError, match=r"shape is \(3, 2\)"):
        scenario.require_tensor(right.view(3, 2), right)
    wrong = right.clone()
    wrong[1, 1] = 5
    with pytest.raises(ValueError, match=r"1 of 6 values are wrong; element 4 is 5\.0"):
        scenario.require_tensor(wrong, right)
