"""What every scenario needs beside its own code: a name, threads, labels, checks."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

Function = TypeVar("Function", bound=Callable[..., Any])


def named(family: str) -> Callable[[Function], Function]:
    """Show a benchmark as `family`, so that its id is `family/parameter`.

    asv reads the name from the function, not from its class.
    """

    def mark(function: Function) -> Function:
        setattr(function, "pretty_name", family)  # noqa: B010 - a function has no such attribute to type
        return function

    return mark


def row_of(metric: str) -> str:
    """Return the row that an exact metric belongs to: all but its last part."""
    return metric.rpartition("/")[0]


def available_cpus() -> int:
    """Count the CPUs this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_labels(requested: int) -> dict[str, str]:
    """Say how wide a scenario that asked for `requested` threads really is.

    The realized width is what torch was willing to use, or the CPUs it may use them
    on, whichever is less.  Times of different widths must not be compared.
    """
    torch_threads = torch.get_num_threads()
    cpus = available_cpus()
    return {
        "threads": f"{requested} requested, {min(torch_threads, cpus)} realized",
        "torch threads": str(torch_threads),
        "available CPUs": str(cpus),
    }


def cpu_labels() -> dict[str, str]:
    """Name what decides how torch computes on this CPU."""
    onednn = torch.backends.mkldnn
    usable = onednn.is_available()  # type: ignore[no-untyped-call]  # torch's own
    return {
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "oneDNN": "on" if usable and onednn.enabled else "off",
        "torch": torch.__version__,
    }


def require(what: str, actual: object, expected: object) -> None:
    """Raise ValueError if `what` is not as expected."""
    if actual != expected:
        raise ValueError(f"{what} is {actual!r}, not {expected!r}")


def require_tensor(actual: Tensor, expected: Tensor) -> None:
    """Raise ValueError unless shape, type and every value agree."""
    require("shape", tuple(actual.shape), tuple(expected.shape))
    require("type", actual.dtype, expected.dtype)
    if not torch.equal(actual, expected):
        wrong = (actual != expected).flatten()
        first = int(wrong.to(torch.uint8).argmax())
        raise ValueError(
            f"{int(wrong.sum())} of {actual.numel()} values are wrong; element {first}"
            f" is {actual.flatten()[first].item()!r},"
            f" not {expected.flatten()[first].item()!r}"
        )
