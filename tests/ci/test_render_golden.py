"""Expected comments, one for each class of report.

After a change that is meant: ``UPDATE_GOLDEN=1 python -m pytest
tests/ci/test_render_golden.py`` writes the files anew; read the difference.
"""

from __future__ import annotations

import difflib
import os
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from ci.model import (
    BYTES,
    SECONDS,
    Commit,
    Host,
    Interval,
    Policy,
    Report,
    Row,
    Thresholds,
    Unit,
    Verdict,
)
from ci.render import render_comment

GOLDEN: Final = Path(__file__).parent.parent / "golden"

POLICY_SIZES: Final = Thresholds(gate=0.05, warn=0.03, alert=0.10, source="policy")
RAISED_SIZES: Final = Thresholds(gate=0.05, warn=0.062, alert=0.10, source="runner")
EXACT_SIZES: Final = Thresholds(gate=0.0, warn=0.0, alert=0.0, source="exact")
SINGLE_SIZES: Final = Thresholds(gate=0.15, warn=0.15, alert=0.3, source="uncalibrated")
PAGES: Final = Unit(name="count", is_exact=True)


def timed(name: str, verdict: Verdict, base: float, head: float, spread: float) -> Row:
    """Return a row of a paired run whose interval is the change ± ``spread``."""
    change = head / base - 1
    return Row(
        scenario=name,
        verdict=verdict,
        unit=SECONDS,
        base=base,
        head=head,
        change=change,
        interval=Interval(low=change - spread, high=change + spread),
        thresholds=POLICY_SIZES,
        resolution=1.6 * spread,
        is_confirmed=verdict in {Verdict.ALERT, Verdict.WARN, Verdict.IMPROVED},
        launches=16,
    )


ALERT: Final = timed("matmul/large_f32", Verdict.ALERT, 9.85e-3, 12.4e-3, 0.02)
COUNTED: Final = Row(
    scenario="offload/forward/lru_sync/page_ins",
    verdict=Verdict.ALERT,
    unit=PAGES,
    base=12_544,
    head=12_545,
    change=12_545 / 12_544 - 1,
    thresholds=EXACT_SIZES,
    is_confirmed=True,
    launches=16,
)
WARN: Final = replace(
    timed("gather/large_bf16", Verdict.WARN, 27.55e-6, 29.61e-6, 0.011),
    thresholds=RAISED_SIZES,
)
UNCHANGED: Final = timed("add/small_f16", Verdict.UNCHANGED, 1.402e-5, 1.409e-5, 0.006)
IMPROVED: Final = timed(
    "reduce_mean/medium_f32", Verdict.IMPROVED, 270.96e-6, 244.26e-6, 0.013
)
PEAK: Final = Row(
    scenario="decode/peak_memory",
    verdict=Verdict.UNCHANGED,
    unit=BYTES,
    base=9_600_000,
    head=9_601_024,
    change=1024 / 9_600_000,
    thresholds=POLICY_SIZES,
    launches=16,
)
UNDECIDED: Final = replace(
    timed("sampling_latency/top_p", Verdict.INCONCLUSIVE, 1.34e-3, 1.40e-3, 0.09),
    reason="noisy on this runner; run more launches",
)
BROKEN: Final = Row(
    scenario="tokenization/encode",
    verdict=Verdict.FAILED,
    unit=SECONDS,
    base=429.47e-6,
    launches=16,
    reason="works on the base; in the PR, failed: KeyError: 'a|b' in @someone's code",
)
BROKEN_BOTH: Final = Row(
    scenario="ort/tiny_e2e_8",
    verdict=Verdict.FAILED,
    unit=SECONDS,
    is_blocking=False,
    launches=16,
    reason="also fails on the base: failed: ModuleNotFoundError: onnxruntime",
)
ADDED: Final = Row(
    scenario="kv_cache/new_pages",
    verdict=Verdict.ADDED,
    unit=SECONDS,
    head=36.64e-6,
    reason="the base cannot run it: failed: AttributeError: alloc_many",
)
REMOVED: Final = Row(
    scenario="kv_cache/old_pages",
    verdict=Verdict.REMOVED,
    unit=SECONDS,
    base=41.59e-6,
    reason="the suite of the PR does not define it",
)


def paired(overall: Verdict, status: int, *rows: Row, notes: str = "") -> Report:
    """Return the report of a run of this gate."""
    measured = [row for row in rows if row.base is not None and row.head is not None]
    return Report(
        overall=overall,
        exit_status=status,
        method="paired",
        tool="benchgate 0.1.0",
        rows=rows,
        compared=len(measured),
        policy=Policy(),
        base=Commit(
            sha="1d2f3a4b5c6d7e8f90a1b2c3d4e5f60718293a4b", subject="Tidy the pager"
        ),
        head=Commit(
            sha="9f8e7d6c5b4a39281706f5e4d3c2b1a098765432",
            asked="HEAD",
            subject="Make page-in synchronous by default (#12)",
        ),
        relation="merge-base",
        host=Host(
            system="Linux",
            release="6.8.0",
            machine="x86_64",
            cpu_model="Example CPU @ 2.00GHz",
            cpus=4,
            memory_bytes=16 * 2**30,
            python="3.12.4",
            load=(0.42, 0.37, 0.3),
        ),
        facts={"torch": "2.13.0"},
        launches=16,
        control_values=160,
        seconds=754.0,
        notes=(notes,) if notes else (),
    )


def single(row: Row) -> Row:
    """Return the row as two single result sets would have it."""
    return replace(
        row,
        interval=None,
        resolution=None,
        is_confirmed=False,
        launches=1,
        thresholds=SINGLE_SIZES,
    )


def foreign(overall: Verdict, *rows: Row, notes: tuple[str, ...] = ()) -> Report:
    """Return the report of two result sets of another tool."""
    return Report(
        overall=overall,
        exit_status=0,
        method="single",
        tool="criterion",
        noise_source="uncalibrated, not confirmed",
        rows=tuple(single(row) for row in rows),
        compared=len(rows),
        policy=Policy(),
        launches=1,
        notes=notes,
    )


REPORTS: Final = {
    "alert": paired(
        Verdict.ALERT,
        1,
        ALERT,
        COUNTED,
        BROKEN,
        WARN,
        UNDECIDED,
        REMOVED,
        ADDED,
        UNCHANGED,
        PEAK,
        IMPROVED,
        notes="the suite file bench/suite/gather.py differs between the sides: "
        "all sides were measured with the suite of the PR",
    ),
    "warn": paired(Verdict.WARN, 0, WARN, UNCHANGED, PEAK),
    "unchanged": paired(Verdict.UNCHANGED, 0, UNCHANGED, PEAK),
    "improved": paired(Verdict.IMPROVED, 0, UNCHANGED, PEAK, IMPROVED),
    "inconclusive": paired(Verdict.INCONCLUSIVE, 0, UNDECIDED, UNCHANGED),
    "failed": paired(Verdict.FAILED, 1, BROKEN, BROKEN_BOTH, UNCHANGED),
    "failed_on_both": paired(Verdict.INCONCLUSIVE, 0, BROKEN_BOTH, UNCHANGED),
    "added_removed": paired(Verdict.UNCHANGED, 0, REMOVED, ADDED, UNCHANGED),
    "contaminated": paired(
        Verdict.CONTAMINATED,
        2,
        replace(ALERT, verdict=Verdict.CONTAMINATED, is_confirmed=False),
        replace(UNCHANGED, verdict=Verdict.CONTAMINATED),
        notes="the control moved 3.4 times as far as its noise allows; "
        "run the job again on a quiet machine",
    ),
    "nothing_compared": paired(Verdict.FAILED, 2, BROKEN, ADDED),
    "single_alert": foreign(
        Verdict.ALERT,
        timed("matmul/small_f32_threads=8", Verdict.ALERT, 37.51e-6, 55.9e-6, 0),
        timed("gather/large_f32", Verdict.WARN, 27.55e-6, 32.21e-6, 0),
        UNCHANGED,
        timed("sampling/top_k", Verdict.IMPROVED, 725.93e-6, 467.42e-6, 0),
        notes=("the two sides name different processors; measure both on one",),
    ),
    "single_unchanged": foreign(Verdict.UNCHANGED, UNCHANGED),
}


@pytest.mark.parametrize("case", REPORTS)
def test_comment_is_the_expected_one(case: str) -> None:
    """Each class of report has a comment that was read and found right."""
    path = GOLDEN / f"{case}.md"
    actual = render_comment(REPORTS[case])
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(actual, encoding="utf-8")
    expected = path.read_text(encoding="utf-8")
    difference = "".join(
        difflib.unified_diff(
            expected.splitlines(keepends=True),
            actual.splitlines(keepends=True),
            f"golden/{case}.md",
            "now",
        )
    )

    assert expected == actual, f"\n{difference}"


def test_every_golden_file_has_its_report() -> None:
    """A file that no test compares with would rot unseen."""
    assert {path.stem for path in GOLDEN.glob("*.md")} == set(REPORTS)


def test_every_verdict_has_a_golden_comment() -> None:
    """No class of row is without an example."""
    shown = {row.verdict for report in REPORTS.values() for row in report.rows}

    assert shown == set(Verdict)
