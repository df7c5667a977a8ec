"""What machine this is and what else it did: facts for people, none for verdicts.

No host name, user or address is read: a run document is published.
"""

from __future__ import annotations

import datetime as dt
import os
import platform
from pathlib import Path

import psutil

from ci.model import Host
from ci.runs import Witness


def read_host() -> Host:
    """Return the facts of this machine as they are now."""
    return Host(
        system=platform.system(),
        release=platform.release(),
        machine=platform.machine(),
        cpu_model=_cpu_model(),
        cpus=len(usable_cpus()),
        memory_bytes=psutil.virtual_memory().total,
        python=f"{platform.python_implementation()} {platform.python_version()}",
        load=load_average(),
    )


def usable_cpus() -> tuple[int, ...]:
    """Return the CPUs the scheduler lets this process use, in order."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


def load_average() -> tuple[float, ...]:
    """Return the 1, 5 and 15 minute load, empty where the system has none."""
    try:
        return tuple(round(value, 2) for value in os.getloadavg())
    except OSError:
        return ()


def now() -> str:
    """Return the time, in UTC, to the second."""
    return dt.datetime.now(tz=dt.UTC).isoformat(timespec="seconds")


def is_running(pid: int) -> bool:
    """Tell whether a process of this number exists."""
    return pid > 0 and psutil.pid_exists(pid)


class LaunchWitness:
    """Watches the machine over one launch: load at both ends, stolen time between."""

    def __init__(self) -> None:
        """Begin watching."""
        self._load = load_average()
        self._times = _cpu_times()

    def testify(self) -> Witness:
        """Return what was seen since the beginning."""
        steal_before, total_before = self._times
        steal, total = _cpu_times()
        share = None
        if steal is not None and steal_before is not None and total > total_before:
            share = round((steal - steal_before) / (total - total_before), 4)
        return Witness(load_before=self._load, load_after=load_average(), steal=share)


def _cpu_times() -> tuple[float | None, float]:
    times = psutil.cpu_times()
    steal = getattr(times, "steal", None)
    return steal, float(sum(times))


def _cpu_model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() in {"model name", "Model", "cpu model"}:
            return " ".join(value.split())
    return platform.processor() or platform.machine()
