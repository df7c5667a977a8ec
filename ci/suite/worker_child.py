"""The child of a worker: one scenario, set up once, sampled on demand.

Loaded by `worker` inside the environment under test: standard library and
asv_runner only. Answers orders one by one; a benchmark that fails is an answer,
not an end. Values are seconds per call, bytes, or what a track benchmark says.
"""

from __future__ import annotations

import gc
import importlib
import os
import pickle
import sys
import time
import traceback
from pathlib import Path
from typing import Any

PROBE_RATIO = 2.0
"""A second call this much faster or slower than the first uses up its setup."""
PROBE_FLOOR = 20e-6
"""Below this many seconds a first call is mostly cold caches: no evidence."""
CALL_OVERHEAD = 10.0
"""With a setup before each call, a sample may last this many targets in all."""


def describe_error(error: BaseException) -> dict[str, str]:
    """Return one line and the traceback of an exception."""
    line = " ".join(f"{type(error).__name__}: {error}".split())
    text = "".join(traceback.format_exception(error))
    return {"message": line[:500], "detail": text[-4000:]}


def attribute(benchmark: Any, name: str, default: Any = None) -> Any:
    """Read a gate attribute off the function, its class or its module."""
    for source in benchmark._attr_sources:  # noqa: SLF001 - asv_runner's own lookup
        value = getattr(source, name, None)
        if value is not None:
            return value
    return default


class Child:
    """One scenario in one process."""

    def __init__(self, importer: Any, order: dict[str, Any]) -> None:
        """Go to the scenario's folder; nothing of the benchmark runs yet."""
        self.importer = importer
        self.channel = importer.channel
        self.benchmark = importer.benchmarks[order["benchmark"]]
        self.timer: Any = None
        self.baseline = 0
        os.chdir(order["folder"])
        if order["index"] is not None:
            self.benchmark.set_param_idx(order["index"])
        number = int(getattr(self.benchmark, "number", 0))
        raw = type(self.benchmark).__name__ == "TimerawBenchmark"
        # An explicit batch is kept; so is timeraw's one interpreter a sample.
        self.fixed = max(1, number) if raw or number > 1 else 0

    def serve(self) -> None:
        """Answer orders until the end of the scenario or of the controller."""
        while (order := self.channel.receive()) is not None:
            if order["op"] == "end":
                self.finish()
                return
            try:
                answer = getattr(self, "do_" + order["op"])(order)
            except NotImplementedError as error:
                answer = {"failure": {"kind": "skipped", **describe_error(error)}}
            except (Exception, SystemExit) as error:  # noqa: BLE001 - anything may come
                answer = {"failure": {"kind": "failed", **describe_error(error)}}
            self.channel.send(answer)

    def finish(self) -> None:
        """Tear down; a fault here comes after the numbers and changes none."""
        try:
            self.benchmark.do_teardown()
        except Exception:  # noqa: BLE001 - anything may come
            traceback.print_exc()

    def do_setup_cache(self, _order: dict[str, Any]) -> dict[str, Any]:
        """Run the suite's setup_cache and leave its pickle in this folder."""
        cache = self.benchmark.do_setup_cache()
        with Path("cache.pickle").open("wb") as stream:
            pickle.dump(cache, stream)
        return {}

    def do_setup(self, _order: dict[str, Any]) -> dict[str, Any]:
        """Prepare the scenario and check it, before anything is timed."""
        reset_peak()
        self.baseline = resident_bytes()
        if self.benchmark.setup_cache_key is not None:
            # Written in this folder by this same run.
            self.benchmark.set_cache(
                pickle.loads(Path("cache.pickle").read_bytes())  # noqa: S301
            )
        if self.benchmark.do_setup():
            raise NotImplementedError("skipped by its setup or its skip_params")
        params = self.benchmark._build_params()  # noqa: SLF001 - cache first, then params
        check = attribute(self.benchmark, "benchgate_check")
        if check is not None:
            attribute(self.benchmark, check)(*params)
        name = attribute(self.benchmark, "benchgate_labels")
        found = attribute(self.benchmark, name)(*params) if name else {}
        if hasattr(self.benchmark, "_get_timer"):
            self.timer = self.benchmark._get_timer(*params)  # noqa: SLF001
        gc.collect()
        gc.freeze()
        labels = {str(key): str(value) for key, value in found.items()}
        return {"labels": labels, **self.importer.imported()}

    def once(self, *, fresh: bool) -> float:
        """Time one call, in seconds, after a new setup if ``fresh``."""
        # timeit's setup hook runs the suite's own setup unless told not to.
        self.benchmark._redo_setup_next = fresh  # noqa: SLF001
        return float(self.timer.timeit(1))

    def take(self, loops: int, mode: str) -> float:
        """Run one batch; return its timed seconds."""
        gc.collect()
        if mode == "call":
            return sum(self.once(fresh=True) for _ in range(loops))
        self.benchmark._redo_setup_next = False  # noqa: SLF001 - one setup, many calls
        return float(self.timer.timeit(loops))

    def mode(self) -> str:
        """Find out whether one setup serves many calls, or each needs its own."""
        wished = attribute(self.benchmark, "benchgate_setup")
        if wished in ("call", "batch"):
            return str(wished)
        if self.fixed > 1 or not self.benchmark._setups:  # noqa: SLF001
            return "batch"
        if getattr(self.benchmark, "number", 0) == 1:
            return "call"
        firsts: list[float] = []
        seconds: list[float] = []
        for turn in range(3):
            firsts.append(self.once(fresh=turn > 0))
            try:
                seconds.append(self.once(fresh=False))
            except Exception:  # noqa: BLE001 - that it raises is the answer
                return "call"
        first, second = min(firsts), min(seconds)
        is_spent = max(first, second) > PROBE_RATIO * min(first, second)
        return "call" if is_spent and first > PROBE_FLOOR else "batch"

    def do_calibrate(self, order: dict[str, Any]) -> dict[str, Any]:
        """Return loops for a sample of ``target`` seconds, and the setup mode.

        ``wall`` is seconds one whole sample takes, setups included; ``width``
        is CPU seconds over wall seconds, about the threads that really ran.
        """
        target = float(order["target"])
        mode = self.mode()
        loops = self.fixed or 1
        while True:
            wall, cpu = time.perf_counter(), time.process_time()
            timed = max(self.take(loops, mode), 1e-9)
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            wall = max(wall, 1e-9)
            is_dear = mode == "call" and wall >= CALL_OVERHEAD * target
            if self.fixed or is_dear or timed >= 0.8 * target:
                break
            loops = max(loops + 1, int(loops * min(10.0, target / timed)))
        if not self.fixed:
            scale = target / timed
            if mode == "call":
                scale = min(scale, CALL_OVERHEAD * target / wall)
            wall, loops = wall * scale, max(1, round(loops * scale))
        return {"loops": loops, "mode": mode, "width": cpu / wall, "wall": wall}

    def do_pin(self, order: dict[str, Any]) -> dict[str, Any]:
        """Move every thread of this process to the given CPUs."""
        threads = Path("/proc/self/task")
        if threads.is_dir() and hasattr(os, "sched_setaffinity"):
            for thread in threads.iterdir():
                os.sched_setaffinity(int(thread.name), order["cpus"])
        return {}

    def do_warm(self, order: dict[str, Any]) -> dict[str, Any]:
        """Run untimed batches: the same number on every arm."""
        for _ in range(order["count"]):
            self.take(order["loops"], order["mode"])
        return {}

    def do_sample(self, order: dict[str, Any]) -> dict[str, Any]:
        """Time one batch; the value is seconds per call."""
        return {"value": self.take(order["loops"], order["mode"]) / order["loops"]}

    def do_value(self, _order: dict[str, Any]) -> dict[str, Any]:
        """Run a benchmark that returns its value; a peak is above the baseline."""
        result = self.benchmark.do_run()
        if type(self.benchmark).__name__ == "PeakMemBenchmark":
            result = max(0, peak_bytes() - self.baseline)
        return {"value": float(result)}


def reset_peak() -> None:
    """Forget the peak of the import, so that it cannot hide the benchmark's."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def status_bytes(field: str) -> int | None:
    """Return a field of /proc/self/status in bytes, None where there is none."""
    try:
        text = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return None


def peak_bytes() -> int:
    """Return the peak resident size; VmHWM, since ru_maxrss survives fork and exec."""
    found = status_bytes("VmHWM")
    if found is not None:
        return found
    # Not on every system, so not at the top.
    resource = importlib.import_module("resource")
    scale = 1 if sys.platform == "darwin" else 1024
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale)


def resident_bytes() -> int:
    """Return the resident size now, or the peak so far where that is all there is."""
    found = status_bytes("VmRSS")
    return peak_bytes() if found is None else found
