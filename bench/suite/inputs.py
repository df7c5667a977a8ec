"""The inputs of all scenarios: constants, so that every run has the same ones."""

import torch
from torch import Tensor

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}

UNIFORM = 0.42  # the number every draw is made with

VOCABULARY = (
    *("<unk>", "<s>", "<pad>", "</s>", "hello", "world"),
    *("the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog", "."),
    *("a", "small", "cat", "sleeps", "under", "warm", "red", "stone", "while"),
    *("rain", "falls", "on", "every", "roof", "in", "town", "today"),
)
UNKNOWN = "<unk>"
END = 3

SENTENCE = "the quick brown fox jumps over the lazy dog. "
SENTENCE_IDS = (6, 7, 8, 9, 10, 11, 6, 12, 13, 14)


def sawtooth(*shape: int, dtype: torch.dtype) -> Tensor:
    """Return a tensor whose flat element i is ((i mod 251) - 125) / 64.

    The steps of 1/64 below 2 are exact in single, half and bfloat16 precision, and so
    are sums of two.  A product is a multiple of 1/4096; 1,024 of them stay below
    2**24 / 4096, so a sum is exact in single precision in any order.
    """
    period = ((torch.arange(251) - 125).double() / 64).to(dtype)
    count = torch.Size(shape).numel()
    return period.repeat(-(-count // 251))[:count].view(shape)


def unwritten(*shape: int, dtype: torch.dtype) -> Tensor:
    """Return memory for a result: mapped, and wrong wherever a kernel leaves it."""
    return torch.full(shape, torch.nan, dtype=dtype)


def logits() -> Tensor:
    """Return 32,000 single-precision logits, ((17 i mod 997) - 498) / 73.

    They repeat every 997 ids, so each value has 32 or 33 ties.
    """
    steps = (torch.arange(32_000) * 17) % 997 - 498
    return (steps.double() / 73).float()
