"""Seven processors between the logits of one step and its draw."""

from collections import Counter
from typing import ClassVar

import torch
from torch import Tensor

from bench.sampling import chain, draws, filters

from . import inputs, scenario

CHAIN: tuple[chain.Processor, ...] = (
    chain.Repetition(1.1),
    chain.Frequency(0.2),
    chain.Presence(0.1),
    chain.Temperature(0.8),
    chain.TopK(50),
    chain.TopP(0.9),
    chain.MinP(0.05),
)
PENALTIES = 4  # of the seven; the others are filters
ROUNDING = 1e-5  # of four steps in single precision, on logits below 10
ROW = "seven_processor_chain_per_step"
# Worked out in double precision by code that shares nothing with this library.
CHOICES = {
    "kept_after_top_k": 64,
    "kept_after_top_p": 58,
    "kept_after_min_p": 58,
    "token": 12_609,
}


def history() -> chain.History:
    """Return 128 ids of a prompt and 64 generated ones, which repeat."""
    return chain.History(prompt=torch.arange(128) % 97, generated=torch.arange(64) % 31)


def penalized(logits: Tensor, past: chain.History) -> Tensor:
    """Return what the four penalties make of `logits`, in double, token by token."""
    said = Counter(past.generated.tolist())
    exact = logits.double()
    for token in {*past.prompt.tolist(), *said}:
        value = float(exact[token])
        less = value / 1.1 if value > 0 else value * 1.1
        exact[token] = less - 0.2 * said[token] - (0.1 if token in said else 0.0)
    return exact / 0.8


def choices(logits: Tensor, work: Tensor) -> dict[str, int]:
    """Run the chain up to each filter and then to its end, and draw."""
    ends = {"kept_after_top_k": 5, "kept_after_top_p": 6, "kept_after_min_p": 7}
    found = {}
    for question, end in ends.items():
        chain.run(CHAIN[:end], logits, history(), out=work)
        found[question] = filters.kept(work)
    return {**found, "token": draws.draw(work, inputs.UNIFORM)}


class LogitProcessing:
    """Time the chain; the logits stay as the model left them."""

    params: ClassVar = [[ROW]]
    param_names: ClassVar = ["case"]
    benchgate_setup = "batch"
    benchgate_check = "check"

    def setup(self, _case: str) -> None:
        """Write the logits, the history and the work tensor."""
        torch.set_num_threads(1)
        self.logits = inputs.logits()
        self.history = history()
        self.work = self.logits.clone()

    @scenario.named("logit_processing")
    def time_chain(self, _case: str) -> None:
        """Run the chain."""
        chain.run(CHAIN, self.logits, self.history, out=self.work)

    def check(self, case: str) -> None:
        """Require each penalty, what each filter keeps, and untouched logits."""
        scratch = torch.empty_like(self.logits)
        chain.run(CHAIN[:PENALTIES], self.logits, self.history, out=scratch)
        error = (scratch.double() - penalized(inputs.logits(), self.history)).abs()
        scenario.require(
            "penalties are right", float(error.max()) < ROUNDING, expected=True
        )
        scenario.require("choices", choices(self.logits, scratch), CHOICES)
        self.time_chain(case)
        scenario.require_tensor(self.work, scratch)
        scenario.require_tensor(self.logits, inputs.logits())


class LogitChoices:
    """Report what each filter keeps and which token is drawn."""

    params: ClassVar = [[f"{ROW}/{question}" for question in CHOICES]]
    param_names: ClassVar = ["metric"]
    benchgate_exact = True
    benchgate_direction = "none"
    unit = "count"

    def setup(self, _metric: str) -> None:
        """Write the logits and the work tensor."""
        torch.set_num_threads(1)
        self.logits = inputs.logits()
        self.work = self.logits.clone()

    @scenario.named("logit_processing")
    def track_choices(self, metric: str) -> int:
        """Answer the metric's question."""
        return choices(self.logits, self.work)[metric.removeprefix(f"{ROW}/")]
