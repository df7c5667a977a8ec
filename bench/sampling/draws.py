"""Choosing one token: the best one, or one drawn with a given uniform number.

No generator lives here.  The caller supplies the number, so a draw is a function and
two back ends can be asked the same question.
"""

import torch
from torch import Tensor


def greedy(logits: Tensor) -> int:
    """Return the id of the largest logit, the first of equal ones."""
    return int(torch.argmax(logits))


def draw(logits: Tensor, uniform: float) -> int:
    """Return the id at `uniform` of the cumulative softmax, in id order.

    `uniform` is in [0, 1).  The sum is carried in double and never normalized: the
    number is scaled by the total instead, so the last token is reachable whatever
    rounding did to the total.

      0 |---- id 0 ----|- id 2 -|------ id 3 ------| total
                            ^ uniform * total -> id 2 (id 1 was dropped)

    Raise ValueError if `uniform` is out of range or no token has a finite logit.
    """
    if not 0.0 <= uniform < 1.0:
        raise ValueError(f"draw: uniform is {uniform}; it lies in [0, 1)")
    exact = logits.double()
    best = exact.max()
    if not torch.isfinite(best):
        raise ValueError(f"draw: the largest logit is {best.item()}; nothing to draw")
    cumulative = torch.exp(exact - best).cumsum(0)
    total = cumulative[-1]
    # Rounding may lift uniform * total to the total itself, which no id exceeds.
    target = torch.minimum(uniform * total, torch.nextafter(total, total - total))
    return int(torch.searchsorted(cumulative, target, right=True))
