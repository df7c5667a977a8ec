"""Criterion trees as the tool writes them, and unrounded means for printed times."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SEED = Path(__file__).parents[1] / "data" / "seed" / "rows.json"
NANOSECONDS = {"ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9}


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """One row of a published comment, as its printed strings."""

    status: str
    scenario: str
    base: str
    pr: str
    change: str


def printed_rows() -> list[Printed]:
    """Return the rows of the predecessor's comment, in the printed order."""
    return [Printed(**row) for row in json.loads(SEED.read_text("utf-8"))]


def rounding(printed: str) -> tuple[float, float]:
    """Return the nanoseconds between which a time is printed like this."""
    number, unit = printed.split()
    half = 0.5 * 10.0 ** -len(number.partition(".")[2])
    scale = NANOSECONDS[unit]
    return (float(number) - half) * scale, (float(number) + half) * scale


def unrounded(rows: list[Printed]) -> dict[str, tuple[float, float]]:
    """Return base and PR means that print as ``rows`` do, in the same order.

    Printed times alone give a change that is off by up to 0.36 points, so the
    ratio is chosen first, inside what times and change allow together, a little
    below the ratio of the row above.
    """
    means: dict[str, tuple[float, float]] = {}
    above = float("inf")
    for row in rows:
        (base_low, base_high), (pr_low, pr_high) = rounding(row.base), rounding(row.pr)
        change = float(row.change.rstrip("%")) / 100
        low = max(1 + change - 0.0005, pr_low / base_high)
        high = min(1 + change + 0.0005, pr_high / base_low)
        ratio = min(high - 0.05 * (high - low), above - 1e-9)
        assert low < ratio, row
        base = (max(base_low, pr_low / ratio) + min(base_high, pr_high / ratio)) / 2
        means[row.scenario] = (base, base * ratio)
        above = ratio
    return means


def write_tree(
    root: Path, means: dict[str, float], *, name: str = "new", samples: int = 20
) -> Path:
    """Write one scenario for each id, its mean in nanoseconds; return ``root``."""
    for full_id, mean in means.items():
        write_scenario(root / full_id / name, full_id, mean, samples=samples)
    return root


def write_scenario(
    folder: Path, full_id: str, mean: float, *, samples: int = 20
) -> None:
    """Write the three files of one measurement into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    parts: list[str | None] = [*full_id.split("/", 2), None, None]
    identity = {
        "group_id": parts[0],
        "function_id": parts[1],
        "value_str": parts[2],
        "throughput": None,
        "full_id": full_id,
        "directory_name": full_id,
        "title": full_id,
    }
    spread = {"median_abs_dev": 0.005, "std_dev": 0.006}
    estimates = {
        **{name: estimate(mean) for name in ("mean", "median", "slope")},
        **{name: estimate(share * mean) for name, share in spread.items()},
    }
    iters = [float(10 * (place + 1)) for place in range(samples)]
    sample = {
        "sampling_mode": "Linear",
        "iters": iters,
        "times": [
            count * mean * (1 + 0.01 * (place % 7 - 3) / 3)
            for place, count in enumerate(iters)
        ],
    }
    for file, content in (
        ("benchmark.json", identity),
        ("estimates.json", estimates),
        ("sample.json", sample),
    ):
        (folder / file).write_text(json.dumps(content), "utf-8")


def estimate(value: float) -> dict[str, Any]:
    """Return one entry of ``estimates.json``."""
    return {
        "confidence_interval": {
            "confidence_level": 0.95,
            "lower_bound": 0.9975 * value,
            "upper_bound": 1.0025 * value,
        },
        "point_estimate": value,
        "standard_error": 0.00125 * value,
    }
