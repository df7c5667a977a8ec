"""Penalties on tokens already said, and temperature.

Each reads `logits` [vocabulary] and writes `out` of the same shape and dtype; the two
may be one tensor.  Token ids are int64 in [0, vocabulary).
"""

import torch
from torch import Tensor


def repetition(logits: Tensor, seen: Tensor, penalty: float, *, out: Tensor) -> None:
    """Push every distinct id in `seen` away, once, whatever the sign of its logit.

    A positive logit is divided by `penalty`, a negative one multiplied, so that a
    penalty above 1 always lowers it (Keskar et al. 2019, section 4.1, with the sign
    rule that the formula there lacks).  `penalty` is > 0; 1 does nothing.
    """
    if penalty <= 0.0:
        raise ValueError(f"repetition: penalty is {penalty}; choose one above 0")
    out.copy_(logits)
    ids = torch.unique(seen)
    said = out[ids]
    out[ids] = torch.where(said > 0, said / penalty, said * penalty)


def frequency(logits: Tensor, said: Tensor, penalty: float, *, out: Tensor) -> None:
    """Lower each id in `said` by `penalty` for every time it occurs there."""
    out.copy_(logits)
    ids, counts = torch.unique(said, return_counts=True)
    out[ids] -= penalty * counts.to(out.dtype)


def presence(logits: Tensor, said: Tensor, penalty: float, *, out: Tensor) -> None:
    """Lower each distinct id in `said` by `penalty`, once."""
    out.copy_(logits)
    out[torch.unique(said)] -= penalty


def temperature(logits: Tensor, degree: float, *, out: Tensor) -> None:
    """Divide by `degree` > 0; below 1 sharpens the distribution, above 1 flattens it.

    Zero is refused instead of read as "greedy": that is another function.
    """
    if degree <= 0.0:
        raise ValueError(f"temperature: degree is {degree}; choose one above 0")
    torch.div(logits, degree, out=out)
