"""One token from 32,000 logits, by each way of choosing."""

from collections.abc import Callable
from typing import ClassVar

import torch
from torch import Tensor

from bench.sampling import draws, filters

from . import inputs, scenario


def greedy(logits: Tensor, _work: Tensor) -> int:
    """Choose the best token."""
    return draws.greedy(logits)


def top_k(logits: Tensor, work: Tensor) -> int:
    """Draw from the 50 best tokens and their ties."""
    filters.top_k(logits, 50, out=work)
    return draws.draw(work, inputs.UNIFORM)


def top_p(logits: Tensor, work: Tensor) -> int:
    """Draw from the best tokens that hold nine tenths of the probability."""
    filters.top_p(logits, 0.9, out=work)
    return draws.draw(work, inputs.UNIFORM)


def min_p(logits: Tensor, work: Tensor) -> int:
    """Draw from the tokens at least a twentieth as probable as the best."""
    filters.min_p(logits, 0.05, out=work)
    return draws.draw(work, inputs.UNIFORM)


SAMPLERS: dict[str, Callable[[Tensor, Tensor], int]] = {
    "greedy_per_token": greedy,
    "top_k_per_token": top_k,
    "top_p_per_token": top_p,
    "min_p_per_token": min_p,
}
# Worked out in double precision by code that shares nothing with this library.  The
# nucleus ends between 0.899959 and 0.900001 of the probability.
TOKEN = {
    "greedy_per_token": 821,
    "top_k_per_token": 13_606,
    "top_p_per_token": 13_430,
    "min_p_per_token": 13_430,
}
KEPT = {"top_k_per_token": 64, "top_p_per_token": 5_389, "min_p_per_token": 7_021}


class SamplingLatency:
    """Time one token; the logits stay as the model left them."""

    params: ClassVar = [list(SAMPLERS)]
    param_names: ClassVar = ["case"]
    benchgate_setup = "batch"
    benchgate_check = "check"

    def setup(self, case: str) -> None:
        """Write the logits and the work tensor."""
        torch.set_num_threads(1)
        self.sample = SAMPLERS[case]
        self.logits = inputs.logits()
        self.work = self.logits.clone()
        self.token = -1

    @scenario.named("sampling_latency")
    def time_sample(self, _case: str) -> None:
        """Choose a token."""
        self.token = self.sample(self.logits, self.work)

    def check(self, case: str) -> None:
        """Require the token, how many could have been, and untouched logits."""
        self.time_sample(case)
        if case in KEPT:
            scenario.require("tokens kept", filters.kept(self.work), KEPT[case])
        scenario.require("token", self.token, TOKEN[case])
        scenario.require_tensor(self.logits, inputs.logits())


class SamplingChoices:
    """Report which token is chosen, out of how many."""

    params: ClassVar = [
        [*(f"{name}/token" for name in TOKEN), *(f"{name}/kept" for name in KEPT)]
    ]
    param_names: ClassVar = ["metric"]
    benchgate_exact = True
    benchgate_direction = "none"
    unit = "count"

    def setup(self, _metric: str) -> None:
        """Write the logits and the work tensor."""
        torch.set_num_threads(1)
        self.logits = inputs.logits()
        self.work = self.logits.clone()

    @scenario.named("sampling_latency")
    def track_sample(self, metric: str) -> int:
        """Choose a token and answer the metric's question."""
        token = SAMPLERS[scenario.row_of(metric)](self.logits, self.work)
        return token if metric.endswith("/token") else filters.kept(self.work)
