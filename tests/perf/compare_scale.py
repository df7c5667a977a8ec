"""Time and memory of ``python -m ci.compare`` at ten thousand scenarios.

Not a test, because it measures the machine as well. Inputs are built by another
process: the peak memory of a child counts from what its parent held at the fork,
so the measuring process stays small.

    python -m tests.perf.compare_scale [--scenarios 10000] [--times 5]
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ci.runs import Run

SAMPLES = 100
LAUNCHES = 5


def main() -> int:
    """Build the inputs, run the comparison over each, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenarios", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build is not None:
        build(options.build, options.scenarios)
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arguments = ["--build", name, "--scenarios", str(options.scenarios)]
        subprocess.run([sys.executable, "-m", __spec__.name, *arguments], check=True)
        for what, inputs in {
            "run document": [folder / "run.json"],
            "two Criterion trees": [folder / "base", folder / "head"],
        }.items():
            report(what, [measure(folder, inputs) for _ in range(options.times)])
    return 0


def measure(folder: Path, inputs: list[Path]) -> tuple[float, float]:
    """Compare once in a fresh process; return seconds and peak megabytes."""
    command = [sys.executable, "-m", "ci.compare", *map(str, inputs)]
    command += ["--output", str(folder / "comment.md")]
    command += ["--json", str(folder / "report.json")]
    sink = os.open(folder / "table.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    start = time.perf_counter()
    child = os.posix_spawn(
        command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, sink, 1)]
    )
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    os.close(sink)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: no verdict")
    return seconds, usage.ru_maxrss / 1024


def report(what: str, runs: list[tuple[float, float]]) -> None:
    """Print median and range of both figures."""
    for name, unit, values in (
        ("wall", "s", [seconds for seconds, _ in runs]),
        ("peak", "MB", [megabytes for _, megabytes in runs]),
    ):
        print(
            f"{what}: {name} median {statistics.median(values):.2f} {unit}, "
            f"range {min(values):.2f} to {max(values):.2f}, n = {len(values)}"
        )


def build(folder: Path, scenarios: int) -> None:
    """Write a run document and two Criterion trees of the same scenarios."""
    from ci.documents import encode_run  # noqa: PLC0415  # only the builder's
    from tests.ci.criterion_trees import write_tree  # noqa: PLC0415

    draw = random.Random(1)  # noqa: S311  # noise, not a secret
    names = [
        f"group{n % 40}/function{n // 40}/{2 ** (n % 20)}" for n in range(scenarios)
    ]
    (folder / "run.json").write_bytes(encode_run(made_run(names)))
    for side in ("base", "head"):
        means = {name: draw.gauss(1.0, 0.05) * 2e4 for name in names}
        write_tree(folder / side, means, samples=SAMPLES)


def made_run(names: list[str]) -> Run:
    """Return a run of `LAUNCHES` with `SAMPLES` a scenario and arm over all of them."""
    from tests.ci.runs import noisy, run_of  # noqa: PLC0415

    blocks = SAMPLES // LAUNCHES // 2
    rows = {
        name: noisy(name, launches=LAUNCHES, sigma=0.01, seed=place, blocks=blocks)
        for place, name in enumerate(names)
    }
    return run_of(rows, launches=LAUNCHES)


if __name__ == "__main__":
    raise SystemExit(main())
