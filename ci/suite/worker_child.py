"""The child of a worker: one scenario, set up once, sampled on demand.

Loaded by `worker` inside the environment under test: standard library and
asv_runner only. Answers orders one by one; a benchmark that fails is an answer,
not an end. Values are seconds per call, bytes, or what a track benchmark says.
"""

from __future__ import annotations

import contextlib
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
PROBE_SECONDS = 0.2
"""A call this long is evidence enough by itself: it is not repeated to be sure."""
PROBE_FLOOR = 20e-6
"""Below this many seconds a first call is mostly cold caches: no evidence."""
LONGEST = 500
"""Characters of an error's line; of a longer one, both ends are kept."""
PROBES = 3
BATCH_SECONDS = 1.0
"""A batch stops growing here, where its own timer sees less than the clock does."""
CALL_OVERHEAD = 10.0
"""With a setup before each call, a sample may last this many targets in all."""


def describe_error(error: BaseException) -> dict[str, str]:
    """Return one line and the traceback of an exception."""
    try:
        line = " ".join(f"{type(error).__name__}: {error}".split())
    except Exception:  # noqa: BLE001 - a text made by the suite may fail as well
        line = f"{type(error).__name__}: its text cannot be read"
    if len(line) > LONGEST:
        line = f"{line[: LONGEST // 2]} ... {line[5 - LONGEST // 2 :]}"
    text = "".join(traceback.format_exception(error))
    return {"message": line, "detail": text[-4000:]}


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
        self.is_raw = type(self.benchmark).__name__ == "TimerawBenchmark"
        self.fixed = 0
        self.first = 0.0

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
        self.call_named("benchgate_check", params)
        found = self.call_named("benchgate_labels", params) or {}
        # Set-up may have changed it. An explicit batch is kept; so is timeraw's
        # one interpreter a sample.
        number = int(getattr(self.benchmark, "number", 0))
        self.fixed = max(1, number) if self.is_raw or number > 1 else 0
        if hasattr(self.benchmark, "_get_timer"):
            self.timer = self.benchmark._get_timer(*params)  # noqa: SLF001
        gc.collect()
        gc.freeze()
        labels = {str(key): str(value) for key, value in found.items()}
        return {"labels": labels, **self.importer.imported()}

    def call_named(self, role: str, params: tuple[Any, ...]) -> Any:
        """Call what the attribute ``role`` of the benchmark names, if there is one."""
        name = attribute(self.benchmark, role)
        if name is None:
            return None
        function = attribute(self.benchmark, name)
        if function is None:
            raise AttributeError(f"{role} names {name!r}, which does not exist")
        return function(*params)

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

    def mode(self) -> tuple[str, bool]:
        """Find out whether one setup serves many calls, or each needs its own.

        The second value tells whether that is a finding and not the author's word.
        """
        wished = attribute(self.benchmark, "benchgate_setup")
        if wished in ("call", "batch"):
            return str(wished), False
        if self.is_raw or self.fixed > 1 or not self.benchmark._setups:  # noqa: SLF001
            return "batch", False
        if getattr(self.benchmark, "number", 0) == 1:
            return "call", False
        firsts: list[float] = [self.first]
        seconds: list[float] = []
        while True:
            try:
                seconds.append(self.once(fresh=False))
            except Exception:  # noqa: BLE001 - that it raises is the answer
                return "call", True
            if len(seconds) == PROBES or max(firsts) > PROBE_SECONDS:
                break
            firsts.append(self.once(fresh=True))
        first, second = min(firsts), min(seconds)
        is_spent = max(first, second) > PROBE_RATIO * min(first, second)
        return ("call" if is_spent and first > PROBE_FLOOR else "batch"), True

    def do_try(self, _order: dict[str, Any]) -> dict[str, Any]:
        """Run one call, the first since the setup; the value is its seconds."""
        self.first = self.once(fresh=False)
        return {"value": self.first}

    def do_calibrate(self, order: dict[str, Any]) -> dict[str, Any]:
        """Return loops for a sample of ``target`` seconds, and the setup mode.

        ``wall`` is seconds one whole sample takes, setups included; ``width``
        is CPU seconds over wall seconds, about the threads that really ran.
        ``is_free``: a setup per call has not been tried, and may be.
        """
        target = float(order["target"])
        if order["mode"]:
            return {**self.calibrated(target, order["mode"]), "is_free": False}
        mode, is_free = self.mode()
        try:
            found = self.calibrated(target, mode)
        except Exception:
            if mode == "call" or not is_free:
                raise
            # What one setup made was used up by the calls so far.
            mode = "call"
            found = self.calibrated(target, mode)
        return {**found, "is_free": is_free and mode == "batch"}

    def calibrated(self, target: float, mode: str) -> dict[str, Any]:
        """Find loops for one mode by growing batches."""
        loops = self.fixed or 1
        longest = CALL_OVERHEAD * target if mode == "call" else BATCH_SECONDS
        while True:
            wall, cpu = time.perf_counter(), time.process_time()
            timed = max(self.take(loops, mode), 1e-9)
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            wall = max(wall, 1e-9)
            if self.fixed or wall >= longest or timed >= 0.8 * target:
                break
            loops = max(loops + 1, int(loops * min(10.0, target / timed)))
        width = cpu / wall
        if not self.fixed:
            scale = min(target / timed, longest / wall)
            wanted = max(1, round(loops * scale))
            wall, loops = wall * wanted / loops, wanted
        return {"loops": loops, "mode": mode, "width": width, "wall": wall}

    def do_pin(self, order: dict[str, Any]) -> dict[str, Any]:
        """Move every thread of this process to the given CPUs."""
        threads = Path("/proc/self/task")
        if threads.is_dir() and hasattr(os, "sched_setaffinity"):
            for thread in threads.iterdir():
                # A thread may have ended since the folder was read.
                with contextlib.suppress(ProcessLookupError):
                    os.sched_setaffinity(int(thread.name), order["cpus"])
        return {}

    def do_warm(self, order: dict[str, Any]) -> dict[str, Any]:
        """Run untimed batches, the same number on every arm; return new imports."""
        for _ in range(order["count"]):
            self.take(order["loops"], order["mode"])
        return dict(self.importer.imported())

    def do_sample(self, order: dict[str, Any]) -> dict[str, Any]:
        """Time one batch; the value is seconds per call."""
        return {"value": self.take(order["loops"], order["mode"]) / order["loops"]}

    def do_value(self, _order: dict[str, Any]) -> dict[str, Any]:
        """Run a benchmark that returns its value; a peak is above the baseline."""
        result = self.benchmark.do_run()
        if type(self.benchmark).__name__ == "PeakMemBenchmark":
            result = max(0, peak_bytes() - self.baseline)
        if isinstance(result, (str, bytes)) or not hasattr(type(result), "__float__"):
            raise TypeError(f"returned {result!r}, which is not a number to compare")
        return {"value": float(result), **self.importer.imported()}


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
