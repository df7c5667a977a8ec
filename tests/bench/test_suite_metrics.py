"""The exact metrics of the suite against their definitions."""

import inspect
import operator

import pytest
import torch

from bench.ops import kernels
from bench.suite import (
    add,
    gather,
    grammar_masking,
    kv_cache,
    logit_processing,
    matmul,
    reduce_mean,
    sampling_latency,
    tokenization,
    written,
)

WIDTH = {"f32": 4, "f16": 2, "bf16": 2}
COUNTS = {
    "sampling_latency/greedy_per_token/token": 821,
    "sampling_latency/top_k_per_token/token": 13_606,
    "sampling_latency/top_p_per_token/token": 13_430,
    "sampling_latency/min_p_per_token/token": 13_430,
    "sampling_latency/top_k_per_token/kept": 64,
    "sampling_latency/top_p_per_token/kept": 5_389,
    "sampling_latency/min_p_per_token/kept": 7_021,
    "logit_processing/seven_processor_chain_per_step/kept_after_top_k": 64,
    "logit_processing/seven_processor_chain_per_step/kept_after_top_p": 58,
    "logit_processing/seven_processor_chain_per_step/kept_after_min_p": 58,
    "logit_processing/seven_processor_chain_per_step/token": 12_609,
    "tokenization/encode_tokens_per_second/tokens": 1_280,
    "tokenization/decode_tokens_per_second/characters": 753_663,
    "kv_cache/alloc_dealloc_pages/pages_allocated": 16,
    "kv_cache/alloc_dealloc_pages/pages_peak": 16,
    "kv_cache/alloc_dealloc_pages/pages_leaked": 0,
    "grammar_masking/llguidance_compute_mask/32/mask_bits_set": 1,
}
TRACKED = (
    add.AddBytes,
    gather.GatherBytes,
    matmul.MatmulBytes,
    reduce_mean.ReduceMeanBytes,
    sampling_latency.SamplingChoices,
    logit_processing.LogitChoices,
    tokenization.TokenizationCounts,
    kv_cache.KvCachePages,
    grammar_masking.GrammarCounts,
)


def bytes_of(row: str) -> int:
    """Return the size of a kernel's result, read off its id."""
    family, case, size = row.split("/")[:3]
    dtype = next(part for part in case.split("_") if part in WIDTH)
    if family == "matmul":
        m, _, n = (int(side) for side in size.split("x"))
        return m * n * WIDTH[dtype]
    if family == "reduce_mean":
        return {4096: 32, 65536: 128, 262144: 256}[int(size)] * WIDTH[dtype]
    return int(size) * WIDTH[dtype]


@pytest.mark.parametrize("kind", TRACKED)
def test_an_exact_metric_has_its_known_value(kind: type) -> None:
    """What the code counts is what the definition says."""
    assert kind.benchgate_exact is True
    assert kind.benchgate_direction in {"lower", "none"}
    for metric in kind.params[0]:
        benchmark = kind()
        benchmark.setup(metric)
        methods = inspect.getmembers(benchmark, inspect.ismethod)
        (track,) = (method for name, method in methods if name.startswith("track_"))

        row = f"{track.pretty_name}/{metric}"
        expected = bytes_of(row) if kind.unit == "bytes" else COUNTS[row]
        assert track(metric) == expected, row


def test_a_kernel_that_copies_its_result_writes_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The metric moves with the code: a temporary result doubles what is written."""
    metric = "small_f32_threads=1-internal/1024/bytes_written"
    benchmark = add.AddBytes()
    benchmark.setup(metric)
    monkeypatch.setattr(kernels, "add", lambda a, b, *, out: out.copy_(a + b))

    assert benchmark.track_add(metric) == 2 * 4_096


def test_a_view_writes_nothing_and_out_always_counts() -> None:
    """Only memory that a function wrote is counted, also where input is output."""
    a, b = torch.ones(4), torch.ones(4)

    assert written.bytes_written(lambda: a.view(2, 2)[0]) == 0
    assert written.bytes_written(lambda: torch.add(a, b, out=a)) == 16
    assert written.bytes_written(lambda: a.add_(b)) == 16
    assert written.bytes_written(lambda: torch.neg(a + b)) == 16 + 16
    assert written.bytes_written(lambda: operator.setitem(a, 0, b[0])) == 16
