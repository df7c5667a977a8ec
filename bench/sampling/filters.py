"""Filters that drop improbable tokens, on logits that stay logits.

A dropped token's logit becomes minus infinity, so filters compose and a draw needs no
second mask.  Every filter reads `logits` [vocabulary] and writes `out` of the same
shape; the two may be one tensor, and if they are not, `logits` is left alone.

Probabilities are double, whatever the logits are: a nucleus boundary is decided by
the sum of thousands of terms, and single precision moves it by whole tokens.
"""

import math

import torch
from torch import Tensor


def top_k(logits: Tensor, count: int, *, out: Tensor) -> None:
    """Keep the `count` largest logits, and every tie of the smallest of them.

    The rule is a threshold, not a selection: which of two equal logits came first in
    the vocabulary must not decide what can be said.  `count` is at least 1; more than
    the vocabulary keeps everything.
    """
    if count < 1:
        raise ValueError(f"top_k: count is {count}; keep at least 1 token")
    threshold = torch.topk(logits, min(count, logits.numel())).values[-1]
    out.copy_(logits).masked_fill_(logits < threshold, -torch.inf)


def top_p(logits: Tensor, mass: float, *, out: Tensor) -> None:
    """Keep the shortest prefix of the most probable tokens that holds `mass`.

    Tokens are ordered by probability, equal ones by id; the token that reaches the
    mass is kept (Holtzman et al. 2020, section 3.1).  `mass` is in (0, 1].

      probability  ####  ###  ##  #  #  .  .
      cumulative   .40   .70  .85 .91 .95 ...
                   kept kept kept kept |        mass = 0.9
    """
    if not 0.0 < mass <= 1.0:
        raise ValueError(f"top_p: mass is {mass}; choose one in (0, 1]")
    probabilities = torch.softmax(logits, 0, dtype=torch.float64)
    ordered, ids = torch.sort(probabilities, descending=True, stable=True)
    reached = int(torch.searchsorted(ordered.cumsum(0), mass))
    dropped = ids[reached + 1 :]
    out.copy_(logits).index_fill_(0, dropped, -torch.inf)


def min_p(logits: Tensor, fraction: float, *, out: Tensor) -> None:
    """Keep tokens at least `fraction` times as probable as the most probable one.

    The normalizer cancels, so the test is on logits: x >= max + ln(fraction).
    `fraction` is in (0, 1] (Nguyen et al. 2024, "min-p sampling").
    """
    if not 0.0 < fraction <= 1.0:
        raise ValueError(f"min_p: fraction is {fraction}; choose one in (0, 1]")
    exact = logits.double()
    threshold = exact.max() + math.log(fraction)
    out.copy_(logits).masked_fill_(exact < threshold, -torch.inf)


def kept(logits: Tensor) -> int:
    """Count the tokens that filters have left."""
    return int(torch.isfinite(logits).sum())
