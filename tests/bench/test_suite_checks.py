"""Every check of the suite: green as it is, red with something broken."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

from bench import grammar, kv_cache, tokenization
from bench.ops import kernels
from bench.sampling import chain, draws, filters, penalties
from bench.suite import (
    add,
    gather,
    grammar_masking,
    logit_processing,
    matmul,
    reduce_mean,
    sampling_latency,
)
from bench.suite import kv_cache as kv_cache_suite
from bench.suite import tokenization as tokenization_suite

TIMED = (
    add.Add,
    gather.Gather,
    grammar_masking.GrammarMasking,
    kv_cache_suite.KvCache,
    logit_processing.LogitProcessing,
    matmul.Matmul,
    reduce_mean.ReduceMean,
    sampling_latency.SamplingLatency,
    tokenization_suite.Decode,
    tokenization_suite.Encode,
)
CASES = [(kind, case) for kind in TIMED for case in kind.params[0]]


def timed_body(benchmark: Any) -> Callable[[str], None]:
    """Return the one timed method of a benchmark."""
    methods = inspect.getmembers(benchmark, inspect.ismethod)
    (body,) = (method for name, method in methods if name.startswith("time_"))
    return body


@pytest.mark.parametrize(("kind", "case"), CASES)
def test_a_body_can_run_many_times_after_one_setup(kind: type, case: str) -> None:
    """The check holds after setup, and holds again after further calls."""
    benchmark = kind()
    benchmark.setup(case)
    benchmark.check(case)

    for _ in range(2):
        timed_body(benchmark)(case)

    benchmark.check(case)


def test_all_48_rows_are_checked() -> None:
    """Each timed class says how it is set up and which method checks it."""
    assert len(CASES) == 48
    for kind in TIMED:
        assert kind.benchgate_setup == "batch"
        assert callable(getattr(kind, kind.benchgate_check))
        if hasattr(kind, "benchgate_labels"):
            assert callable(getattr(kind, kind.benchgate_labels))


def idle(*_tensors: Tensor, out: Tensor) -> None:
    """Write nothing."""


def short(a: Tensor, b: Tensor, *, out: Tensor) -> None:
    """Forget the last term of every sum."""
    torch.mm(a[:, :-1], b[:-1], out=out)


def half(a: Tensor, b: Tensor, *, out: Tensor) -> None:
    """Forget every other term of every sum."""
    torch.mm(a[:, ::2].contiguous(), b[::2].contiguous(), out=out)


def shifted(table: Tensor, indices: Tensor, *, out: Tensor) -> None:
    """Gather the rows before the right ones."""
    torch.index_select(table, 0, indices.roll(1), out=out)


def subtracted(a: Tensor, b: Tensor, *, out: Tensor) -> None:
    """Mistake the sign."""
    torch.sub(a, b, out=out)


def short_mean(x: Tensor, *, out: Tensor) -> None:
    """Forget the last column."""
    torch.mean(x[:, :-1], 1, keepdim=True, out=out)


def strict_top_k(logits: Tensor, number: int, *, out: Tensor) -> None:
    """Select instead of comparing with a threshold, so that ties are lost."""
    best = torch.topk(logits, number)
    out.fill_(-torch.inf).scatter_(0, best.indices, best.values)


def short_top_p(logits: Tensor, mass: float, *, out: Tensor) -> None:
    """Drop the token that reaches the mass."""
    ordered, ids = torch.softmax(logits, 0, dtype=torch.float64).sort(descending=True)
    out.copy_(logits).index_fill_(0, ids[ordered.cumsum(0) >= mass], -torch.inf)


def doubled_min_p(logits: Tensor, fraction: float, *, out: Tensor) -> None:
    """Ask for twice the fraction."""
    out.copy_(logits)
    out.masked_fill_(
        logits < logits.max() + torch.log(2 * torch.tensor(fraction)), -9e9
    )


def consuming_min_p(logits: Tensor, fraction: float, *, out: Tensor) -> None:
    """Do the right thing to the caller's logits as well."""
    right = torch.empty_like(logits)
    MIN_P(logits, fraction, out=right)
    logits.copy_(right)
    out.copy_(right)


def consuming_run(
    steps: Any, logits: Tensor, history: chain.History, *, out: Tensor
) -> None:
    """Work on the caller's logits."""
    for step in steps:
        step(logits, history)
    out.copy_(logits)


def untouched(logits: Tensor, *_settings: Any, out: Tensor) -> None:
    """Pass the logits on."""
    out.copy_(logits)


def endless(pool: kv_cache.KvPages) -> int:
    """Invent a page where there is none."""
    return TAKE(pool) if pool.free else 64


MIN_P = filters.min_p
TAKE = kv_cache.KvPages._take
KERNEL = "_threads=1-internal/"
PRODUCT = "medium_generic_{}/32x512x512"


@dataclass(frozen=True)
class Broken:
    """One attribute replaced, and what the check of a row must say about it."""

    family: ModuleType
    case: str
    owner: Any
    name: str
    replacement: Any
    message: str


def broken_kernel(family: ModuleType, case: str, kernel: Any, message: str) -> Broken:
    """Replace the kernel that has the name of its family."""
    name = family.__name__.rpartition(".")[2]
    return Broken(family, case, kernels, name, kernel, message)


def broken_chain(owner: ModuleType, name: str, message: str) -> Broken:
    """Make one step of the chain do nothing."""
    row = logit_processing.ROW
    return Broken(logit_processing, row, owner, name, untouched, message)


ALL_BROKEN = [
    broken_kernel(matmul, PRODUCT.format("f32_threads=1"), idle, "is nan"),
    broken_kernel(matmul, PRODUCT.format("f32_threads=8"), short, "are wrong"),
    broken_kernel(matmul, PRODUCT.format("f16_threads=8"), half, "off by"),
    broken_kernel(matmul, PRODUCT.format("bf16_threads=8"), idle, "by nan"),
    broken_kernel(gather, f"small_bf16{KERNEL}4096", shifted, "are wrong"),
    broken_kernel(gather, f"small_f32{KERNEL}4096", idle, "is nan"),
    broken_kernel(add, f"large_f16{KERNEL}4194304", subtracted, "are wrong"),
    broken_kernel(add, f"small_f32{KERNEL}1024", idle, "is nan"),
    broken_kernel(reduce_mean, f"large_f32{KERNEL}262144", short_mean, "are wrong"),
    Broken(
        tokenization_suite,
        "encode_tokens_per_second",
        tokenization.WordTokenizer,
        "encode",
        lambda *_: [6] * 1_280,
        "ids are right is False",
    ),
    Broken(
        tokenization_suite,
        "decode_tokens_per_second",
        tokenization.WordTokenizer,
        "decode",
        lambda *_: "x" * 753_663,
        "text is right is False",
    ),
    Broken(
        sampling_latency,
        "greedy_per_token",
        draws,
        "greedy",
        lambda logits: 31_999 - int(logits.flip(0).argmax()),
        "token is",
    ),
    Broken(
        sampling_latency,
        "top_k_per_token",
        filters,
        "top_k",
        strict_top_k,
        "kept is 50, not 64",
    ),
    Broken(
        sampling_latency,
        "top_p_per_token",
        filters,
        "top_p",
        short_top_p,
        "kept is 5388, not 5389",
    ),
    Broken(
        sampling_latency,
        "min_p_per_token",
        filters,
        "min_p",
        doubled_min_p,
        "kept is",
    ),
    Broken(
        sampling_latency,
        "min_p_per_token",
        filters,
        "min_p",
        consuming_min_p,
        "values are wrong",
    ),
    broken_chain(penalties, "repetition", "penalties are right is False"),
    broken_chain(penalties, "frequency", "penalties are right is False"),
    broken_chain(penalties, "presence", "penalties are right is False"),
    broken_chain(penalties, "temperature", "penalties are right is False"),
    broken_chain(filters, "top_k", "choices is"),
    broken_chain(filters, "top_p", "choices is"),
    Broken(
        logit_processing,
        logit_processing.ROW,
        chain,
        "run",
        consuming_run,
        "choices is",
    ),
    Broken(
        kv_cache_suite,
        kv_cache_suite.ROW,
        kv_cache.KvPages,
        "remove",
        lambda *_: None,
        "pages returned is 0, not 16",
    ),
    Broken(
        kv_cache_suite,
        kv_cache_suite.ROW,
        kv_cache.KvPages,
        "_take",
        endless,
        "handed out one more",
    ),
    Broken(
        grammar_masking,
        grammar_masking.ROW,
        grammar.GrammarState,
        "mask",
        lambda _: b"\x08\0\0\0",
        "mask at the start is 8, not 16",
    ),
    Broken(
        grammar_masking,
        grammar_masking.ROW,
        grammar.GrammarState,
        "mask",
        lambda _: bytes(4),
        "mask at the start is 0, not 16",
    ),
]


@pytest.mark.parametrize(
    "broken", ALL_BROKEN, ids=lambda broken: f"{broken.name}: {broken.message}"
)
def test_a_broken_implementation_fails_its_check(
    monkeypatch: pytest.MonkeyPatch, broken: Broken
) -> None:
    """A wrong result is an error that says what is wrong, never a time."""
    (benchmark,) = (
        kind()
        for kind, case in CASES
        if (kind.__module__, case) == (broken.family.__name__, broken.case)
    )
    benchmark.setup(broken.case)
    monkeypatch.setattr(broken.owner, broken.name, broken.replacement)

    with pytest.raises(ValueError, match=broken.message):
        benchmark.check(broken.case)


def test_every_family_is_broken_at_least_once() -> None:
    """No check goes unproven."""
    assert {broken.family.__name__ for broken in ALL_BROKEN} == {
        kind.__module__ for kind in TIMED
    }
