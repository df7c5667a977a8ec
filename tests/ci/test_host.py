"""Facts of the machine: right, and nothing that tells whose it is."""

from __future__ import annotations

import datetime as dt
import getpass
import os
import platform
import subprocess
import sys
from dataclasses import asdict
from types import SimpleNamespace

import pytest

from ci import host
from ci.host import (
    LaunchWitness,
    is_running,
    load_average,
    now,
    read_host,
    usable_cpus,
)


def test_host_is_this_machine() -> None:
    """System, processor, memory and interpreter are those of this process."""
    found = read_host()

    assert found.system == platform.system()
    assert found.machine == platform.machine()
    assert platform.python_version() in found.python
    assert found.cpus == len(usable_cpus()) >= 1
    assert found.memory_bytes > 2**24
    assert found.cpu_model == " ".join(found.cpu_model.split())
    assert found.cpu_model


def test_host_names_nobody() -> None:
    """A document is published: no host name, no user, no path."""
    text = repr(asdict(read_host()))

    assert platform.node() == "" or platform.node() not in text
    assert "/home" not in text
    assert os.path.expanduser("~") not in text  # noqa: PTH111
    user = getpass.getuser()
    assert f"'{user}'" not in text


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
def test_cpus_are_what_the_scheduler_allows() -> None:
    """A container with one CPU has one, whatever is soldered to the board."""
    code = (
        "import os\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from ci.host import read_host\n"
        "print(read_host().cpus)\n"
    )
    assert subprocess.check_output([sys.executable, "-c", code]) == b"1\n"


def test_time_is_utc_to_the_second() -> None:
    """Documents of all machines sort together."""
    parsed = dt.datetime.fromisoformat(now())

    assert parsed.utcoffset() == dt.timedelta(0)
    assert parsed.microsecond == 0
    assert abs(parsed - dt.datetime.now(tz=dt.UTC)) < dt.timedelta(minutes=1)


def test_load_is_three_numbers_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without a load average has an empty one."""
    assert len(load_average()) == 3

    def refuse() -> None:
        raise OSError

    monkeypatch.setattr(os, "getloadavg", refuse)
    assert load_average() == ()


def test_processes_run_or_do_not() -> None:
    """Only a number that is in use is running; 0 and below are nobody."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()

    assert is_running(os.getpid())
    assert not is_running(process.pid)
    assert not is_running(0)
    assert not is_running(-1)


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [
        ((10.0, 100.0), (15.0, 120.0), 0.25),
        ((10.0, 100.0), (10.0, 120.0), 0.0),
        ((10.0, 100.0), (10.0, 100.0), None),
        ((None, 100.0), (None, 120.0), None),
    ],
)
def test_witness_tells_the_stolen_share(
    monkeypatch: pytest.MonkeyPatch,
    before: tuple[float | None, float],
    after: tuple[float | None, float],
    share: float | None,
) -> None:
    """Stolen seconds over all seconds since the beginning: 5 of 20 are a quarter."""
    times = iter([before, after])
    monkeypatch.setattr(host, "_cpu_times", lambda: next(times))

    found = LaunchWitness().testify()

    assert found.steal == share
    assert len(found.load_before) == len(found.load_after) == 3


def test_system_without_stolen_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system does not tell, the share is unknown, not zero."""

    class Times(SimpleNamespace):
        def __iter__(self) -> object:
            return iter([1.0, 2.0])

    monkeypatch.setattr("psutil.cpu_times", Times)

    assert host._cpu_times() == (None, 3.0)
