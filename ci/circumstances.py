"""What a row was measured under, as its benchmark says; unlike is not compared.

A benchmark labels a row with what its time depends on: threads realized, the
instruction set, a library's mode. Times under different labels differ for
reasons that are not the change, so they give no verdict.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ci.model import Arm, Row, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci.runs import Measurement


def under_labels(row: Row, trials: Sequence[Measurement]) -> Row:
    """Return a judged row with its labels; undecided where the sides' differ."""
    if not any(trial.labels for trial in trials):
        return row
    base = _labels(trials, Arm.BASE)
    head = _labels(trials, Arm.HEAD)
    unlike = sorted(
        name for name in base.keys() | head.keys() if base.get(name) != head.get(name)
    )
    if not unlike:
        return replace(row, labels=base)
    shown = {**base, **head}
    for name in unlike:
        shown[name] = (
            f"{base.get(name, 'none')} on the base, {head.get(name, 'none')} in the PR"
        )
    said = "; ".join(f"{name} {shown[name]}" for name in unlike)
    return replace(
        row,
        verdict=Verdict.INCONCLUSIVE,
        is_confirmed=False,
        labels=shown,
        reason=f"measured under different conditions: {said}; make them equal",
    )


def part_common(rows: Sequence[Row]) -> tuple[list[Row], dict[str, str]]:
    """Take off the rows what at least half of them share; return it beside them.

    What is true of the whole run, such as the instruction set, is said once.
    """
    texts: dict[str, list[str]] = {}
    for row in rows:
        for name, text in row.labels.items():
            texts.setdefault(name, []).append(text)
    common = {
        name: found[0]
        for name, found in texts.items()
        if len(set(found)) == 1 and len(rows) > 1 and 2 * len(found) >= len(rows)
    }
    parted = [
        replace(row, labels={n: t for n, t in row.labels.items() if n not in common})
        if row.labels
        else row
        for row in rows
    ]
    return parted, common


def _labels(trials: Sequence[Measurement], arm: Arm) -> dict[str, str]:
    """Return an arm's labels; one that varied over launches tells all it was."""
    found: dict[str, dict[str, None]] = {}
    for trial in trials:
        for name, text in trial.labels.get(arm, {}).items():
            found.setdefault(name, {})[text] = None
    return {name: " or ".join(sorted(texts)) for name, texts in found.items()}
