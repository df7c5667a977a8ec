"""The process that imports a suite once and forks one child per scenario.

It runs inside the environment under test, as a script: standard library and
asv_runner only, nothing of the gate. It speaks length-prefixed JSON on what
were standard input and output; whatever the suite prints goes to standard
error. It decides nothing: loops, blocks and order come from the controller.

The importer runs no benchmark code and starts no thread before it forks.
Children block in a read between samples; they never spin.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import importlib
import importlib.util
import json
import os
import pkgutil
import select
import signal
import struct
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asv_runner import _aux, discovery

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

HERE = Path(__file__).resolve().parent
KINDS = {
    "TimeBenchmark": "time",
    "TimerawBenchmark": "timeraw",
    "MemBenchmark": "mem",
    "PeakMemBenchmark": "peakmem",
    "TrackBenchmark": "track",
}


def load_neighbour(name: str) -> ModuleType:
    """Load a script beside this one by path: no folder of ours is importable."""
    spec = importlib.util.spec_from_file_location(
        f"_benchgate_{name}", HERE / f"{name}.py"
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{HERE}: {name}.py is missing")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


scenario = load_neighbour("worker_child")


class Channel:
    """Length-prefixed JSON over what were standard input and output."""

    def __init__(self) -> None:
        """Take over both descriptors, and point the suite's own elsewhere."""
        self.reader = os.dup(0)
        self.writer = os.dup(1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)

    def receive(self) -> dict[str, Any] | None:
        """Return the next message, or None when the controller is gone."""
        head = self._exactly(4)
        body = head and self._exactly(struct.unpack(">I", head)[0])
        return json.loads(body) if body else None

    def _exactly(self, count: int) -> bytes | None:
        data = b""
        while len(data) < count:
            chunk = os.read(self.reader, count - len(data))
            if not chunk:
                return None
            data += chunk
        return data

    def send(self, message: dict[str, Any]) -> None:
        """Write one message."""
        # A text of the suite may hold half of a character, which no document can.
        body = json.dumps(message, ensure_ascii=False).encode(errors="replace")
        data = struct.pack(">I", len(body)) + body
        while data:
            data = data[os.write(self.writer, data) :]


class Importer:
    """The suite, imported once, with the arm's own tree first on the path."""

    def __init__(self, channel: Channel, start: dict[str, Any]) -> None:
        """Set the path, then import the whole suite, or one module of it."""
        self.channel = channel
        self.tree = os.path.realpath(start["tree"])
        self.suite = os.path.realpath(start["suite"])
        dropped = {os.path.realpath(entry) for entry in [*start["drop"], HERE]}
        kept = [e for e in sys.path if e and os.path.realpath(e) not in dropped]
        sys.path[:] = [*start["path"], *kept]
        importlib.invalidate_caches()
        self.roots = [self.tree, *(os.path.realpath(entry) for entry in start["path"])]
        self.failures: dict[str, dict[str, str]] = {}
        self.benchmarks: dict[str, Any] = {}
        self.modules: dict[str, str] = {}
        self.looked_at: set[str] = set()
        self._import_suite(start.get("only"))

    def _import_suite(self, only: str | None) -> None:
        _aux.update_sys_path(self.suite)
        modules = (
            iter([importlib.import_module(only)])
            if only
            else self._walk(os.path.basename(self.suite))  # noqa: PTH119
        )
        for module in modules:
            # asv_runner's own walk ends at the first fault; ours goes on after it.
            discovery.disc_modules = lambda *_, here=module, **__: iter([here])
            try:
                for benchmark in discovery.disc_benchmarks(self.suite):
                    self.benchmarks.setdefault(benchmark.name, benchmark)
                    self.modules.setdefault(benchmark.name, module.__name__)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - it runs the suite
                self.failures[module.__name__] = scenario.describe_error(error)

    def _walk(self, name: str) -> Iterator[ModuleType]:
        """Import ``name`` and all below it; remember what could not be."""
        try:
            module = importlib.import_module(name)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - anything may come
            self.failures[name] = scenario.describe_error(error)
            return
        yield module
        for found in pkgutil.iter_modules(getattr(module, "__path__", []), f"{name}."):
            yield from self._walk(found.name)

    def describe(self) -> dict[str, Any]:
        """Everything the controller needs to plan: rows, failures, proof."""
        proof = self.imported()
        self.looked_at = set(sys.modules)
        return {
            "benchmarks": [
                {**describe_benchmark(benchmark), "module": self.modules[name]}
                for name, benchmark in self.benchmarks.items()
            ],
            "failures": self.failures,
            **proof,
        }

    def imported(self) -> dict[str, Any]:
        """Digests of the files taken from the arm's tree since the last look.

        The suite's own files are left out: every arm runs the head's.
        ``foreign`` are modules that the tree holds and that came from elsewhere.
        """
        files: dict[str, str] = {}
        foreign: dict[str, str] = {}
        for name, module in list(sys.modules.items()):
            where = getattr(module, "__file__", None)
            if name in self.looked_at or not isinstance(where, str):
                continue
            path = os.path.realpath(where)
            if path.startswith(self.suite + os.sep):
                continue
            if path.startswith(self.tree + os.sep):
                content = Path(path).read_bytes()
                files[path[len(self.tree) + 1 :]] = hashlib.sha256(content).hexdigest()
            elif self._holds(name):
                foreign[name] = path
        return {"files": files, "foreign": foreign}

    def _holds(self, name: str) -> bool:
        """Tell whether the tree holds the top level of module ``name`` as code."""
        top = name.partition(".")[0]
        return name != "__main__" and any(
            Path(root, f"{top}.py").is_file()
            or Path(root, top, "__init__.py").is_file()
            for root in self.roots
        )

    def fork(self, order: dict[str, Any]) -> None:
        """Fork the child that measures one scenario, and wait for its end."""
        sys.stderr.flush()
        # Frozen objects make the collection before each sample quick.
        gc.freeze()
        pid = os.fork()
        if pid == 0:
            self._be_child(order)
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        self.channel.send({"forked": pid})
        self._wait(pid)
        # Before its number is free again: what the scenario left running ends too.
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        self.channel.send({"exited": os.waitstatus_to_exitcode(status)})

    def _wait(self, pid: int) -> None:
        """Block until the child has ended, or the controller is gone."""
        try:
            ended = os.pidfd_open(pid)
        except (AttributeError, OSError):  # not on every system
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            return
        waiting = select.poll()
        waiting.register(ended, select.POLLIN)
        # Nothing but a hang-up: what arrives is for the child to read.
        waiting.register(self.channel.reader, 0)
        waiting.poll()
        os.close(ended)

    def _watch(self) -> None:
        """Fork a process that ends this one when the controller is gone."""
        group = os.getpgrp()
        if os.fork() == 0:
            # Held open here, it would hide that this process has ended.
            os.close(self.channel.writer)
            waiting = select.poll()
            waiting.register(self.channel.reader, 0)
            waiting.poll()
            os.killpg(group, signal.SIGKILL)

    def _be_child(self, order: dict[str, Any]) -> None:
        """Serve as the child; never return into the importer."""
        status = 1
        try:
            # A group of its own, so that a deadline ends it with its children.
            with contextlib.suppress(OSError):
                os.setpgid(0, 0)
            scenario.Child(self, order).serve()
            status = 0
        except BaseException:  # noqa: BLE001 - the last frame of this process
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)

    def serve(self) -> None:
        """Obey until told to stop or the controller is gone."""
        while (order := self.channel.receive()) is not None:
            if order["op"] == "fork":
                self.fork(order)
            elif order["op"] == "inline":
                self._watch()
                self.channel.send({"forked": os.getpid()})
                scenario.Child(self, order).serve()
                return
            # Any other order was for a child that ended before it could read it.


def describe_benchmark(benchmark: Any) -> dict[str, Any]:
    """Return what the controller needs to know of one benchmark."""
    return {
        "name": benchmark.name,
        "kind": KINDS.get(type(benchmark).__name__, "track"),
        "pretty": benchmark.pretty_name,
        "params": benchmark.params,
        "unit": str(benchmark.unit),
        "timeout": benchmark.timeout,
        "cache": benchmark.setup_cache_key,
        "cache_timeout": benchmark.setup_cache_timeout,
        "exact": bool(scenario.attribute(benchmark, "benchgate_exact", default=False)),
        "direction": str(scenario.attribute(benchmark, "benchgate_direction", "lower")),
    }


def main() -> None:
    """Serve one controller."""
    # The controller ends us; an interrupt at the terminal is for it alone.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel = Channel()
    start = channel.receive()
    if start is None:
        return
    try:
        importer = Importer(channel, start)
        answer = importer.describe()
    except BaseException as error:  # noqa: BLE001 - reported, then the process ends
        channel.send({"failure": {"kind": "failed", **scenario.describe_error(error)}})
        return
    channel.send(answer)
    importer.serve()


if __name__ == "__main__":
    main()
