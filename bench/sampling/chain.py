"""Seven logit processors by name, and a chain of them.

A processor is a value: its name says what it does, its fields are its settings, and
calling it changes a work tensor in place.  The chain copies the logits into the work
tensor first, so that no step consumes what the model returned.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from . import filters, penalties


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Token ids seen so far, each tensor int64 [tokens].

    Repetition looks at both; frequency and presence look at what was generated, so
    that a word in the prompt stays sayable.
    """

    prompt: Tensor
    generated: Tensor

    def everything(self) -> Tensor:
        """Return prompt and generated ids as one tensor."""
        return torch.cat((self.prompt, self.generated))


class Processor(Protocol):
    """One step of a chain: change `work` [vocabulary] in place."""

    def __call__(self, work: Tensor, history: History) -> None:
        """Apply the step."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """Penalize every id of the whole history by a factor > 0."""

    penalty: float

    def __call__(self, work: Tensor, history: History) -> None:
        """Apply `penalties.repetition`."""
        penalties.repetition(work, history.everything(), self.penalty, out=work)


@dataclass(frozen=True, slots=True)
class Frequency:
    """Subtract a penalty for each time an id was generated."""

    penalty: float

    def __call__(self, work: Tensor, history: History) -> None:
        """Apply `penalties.frequency`."""
        penalties.frequency(work, history.generated, self.penalty, out=work)


@dataclass(frozen=True, slots=True)
class Presence:
    """Subtract a penalty once from each id that was generated."""

    penalty: float

    def __call__(self, work: Tensor, history: History) -> None:
        """Apply `penalties.presence`."""
        penalties.presence(work, history.generated, self.penalty, out=work)


@dataclass(frozen=True, slots=True)
class Temperature:
    """Divide by a degree > 0."""

    degree: float

    def __call__(self, work: Tensor, history: History) -> None:  # noqa: ARG002 - the protocol passes it
        """Apply `penalties.temperature`."""
        penalties.temperature(work, self.degree, out=work)


@dataclass(frozen=True, slots=True)
class TopK:
    """Keep the largest logits and ties of the smallest kept."""

    count: int

    def __call__(self, work: Tensor, history: History) -> None:  # noqa: ARG002 - the protocol passes it
        """Apply `filters.top_k`."""
        filters.top_k(work, self.count, out=work)


@dataclass(frozen=True, slots=True)
class TopP:
    """Keep the shortest prefix of probable tokens that holds a mass in (0, 1]."""

    mass: float

    def __call__(self, work: Tensor, history: History) -> None:  # noqa: ARG002 - the protocol passes it
        """Apply `filters.top_p`."""
        filters.top_p(work, self.mass, out=work)


@dataclass(frozen=True, slots=True)
class MinP:
    """Keep tokens within a fraction in (0, 1] of the most probable one."""

    fraction: float

    def __call__(self, work: Tensor, history: History) -> None:  # noqa: ARG002 - the protocol passes it
        """Apply `filters.min_p`."""
        filters.min_p(work, self.fraction, out=work)


def run(
    chain: Sequence[Processor], logits: Tensor, history: History, *, out: Tensor
) -> None:
    """Copy `logits` into `out` and apply each processor to it, first to last."""
    out.copy_(logits)
    for processor in chain:
        processor(out, history)
