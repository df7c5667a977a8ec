"""The controller's end of a worker: start it, ask it, and end it in time.

Every question has a deadline. A child that misses it is killed with everything
it started; what happened comes back as a `Failure`, never as a hang.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ci.model import Arm, Failure, FailureKind

if TYPE_CHECKING:
    from collections.abc import Mapping

SCRIPT: Final = Path(__file__).with_name("worker.py")
IMPORT_SECONDS: Final = 300.0
"""Longest wait for a suite to be imported."""
FORK_SECONDS: Final = 30.0
END_SECONDS: Final = 30.0
"""Longest wait for a teardown."""
LOG_TAIL: Final = 2000


class NoAnswer(Exception):  # noqa: N818 - a result to record, not a fault of ours
    """A worker failed, died or was late; says which as a Failure."""

    def __init__(self, failure: Failure) -> None:
        """Keep the failure."""
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one arm runs: its tree, the suite it imports, its folder to write in.

    ``paths`` go first on the arm's import path; ``dropped`` are taken off it.
    """

    tree: Path
    suite: Path
    paths: tuple[Path, ...]
    dropped: tuple[Path, ...]
    scratch: Path


class Worker:
    """One importing process of one arm, and the child it has forked."""

    def __init__(
        self,
        arm: Arm,
        place: Place,
        environment: Mapping[str, str],
        *,
        only: str | None = None,
    ) -> None:
        """Start the process; it begins to import at once. ``only``: one module."""
        self.arm = arm
        self.place = place
        self._log = place.scratch / f"{arm}.log"
        self._child: int | None = None
        paths = [str(path) for path in place.paths]
        inherited = environment.get("PYTHONPATH")
        full = {**environment, "PYTHONPATH": os.pathsep.join(paths)}
        if inherited:
            full["PYTHONPATH"] += os.pathsep + inherited
        self._mark = 0
        # Appended to: another process of the same arm may be writing as well.
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(SCRIPT)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=full,
                cwd=place.scratch,
                bufsize=0,
                start_new_session=True,
            )
        self._send(
            {
                "tree": str(place.tree),
                "suite": str(place.suite),
                "path": paths,
                "drop": [str(path) for path in place.dropped],
                "only": only,
            }
        )

    def describe(self) -> dict[str, Any]:
        """Wait for the import; return rows, import failures and the proof."""
        return self._checked(self._receive(IMPORT_SECONDS))

    def open(
        self, benchmark: str, index: int | None, folder: Path, *, inline: bool = False
    ) -> None:
        """Fork the child for one scenario, or use the process itself, once."""
        order = {
            "op": "inline" if inline else "fork",
            "benchmark": benchmark,
            "index": index,
            "folder": str(folder),
        }
        self._mark = self._log.stat().st_size
        self._send(order)
        self._child = int(self._checked(self._receive(FORK_SECONDS))["forked"])

    def ask(self, op: str, seconds: float, **details: object) -> dict[str, Any]:
        """Give the child one order; return its answer or raise NoAnswer."""
        self._send({"op": op, **details})
        return self._checked(self._receive(seconds))

    def end(self) -> None:
        """End the child, its teardown included, however it is doing."""
        if self._child is None:
            return
        with contextlib.suppress(NoAnswer):
            self._send({"op": "end"})
            self._receive(END_SECONDS)
        self._child = None

    def stop(self) -> None:
        """End the importer and whatever of it is left; a second time is nothing."""
        if self._process.stdin is None or self._process.stdin.closed:
            return
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._kill(self._process.pid)
        if self._child is not None:
            self._kill(self._child)
        self._process.wait()

    @property
    def is_alive(self) -> bool:
        """Tell whether the importer still runs."""
        return self._process.poll() is None

    def _checked(self, message: dict[str, Any]) -> dict[str, Any]:
        failure = message.get("failure")
        if failure is None:
            return message
        raise NoAnswer(
            Failure(
                kind=FailureKind(failure["kind"]),
                message=failure["message"],
                detail=failure["detail"],
            )
        )

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        data = struct.pack(">I", len(body)) + body
        stream = self._process.stdin
        if stream is None:
            raise NoAnswer(self._crash(None))
        try:
            while data:
                data = data[stream.write(data) or 0 :]
        except (OSError, ValueError):
            raise NoAnswer(self._crash(self._process.poll())) from None

    def _receive(self, seconds: float) -> dict[str, Any]:
        """Return the next message; the child's end counts as a crash."""
        deadline = time.monotonic() + seconds
        head = self._exactly(4, deadline, seconds)
        body = self._exactly(struct.unpack(">I", head)[0], deadline, seconds)
        message: dict[str, Any] = json.loads(body)
        if "exited" in message:
            self._child = None
            raise NoAnswer(self._crash(int(message["exited"])))
        return message

    def _exactly(self, count: int, deadline: float, allowed: float) -> bytes:
        stream = self._process.stdout
        if stream is None or stream.closed:
            raise NoAnswer(self._crash(None))
        descriptor = stream.fileno()
        data = b""
        while len(data) < count:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([descriptor], [], [], left)[0]:
                self._give_up()
                text = f"no answer within {allowed:g} s"
                raise NoAnswer(Failure(kind=FailureKind.TIMED_OUT, message=text))
            chunk = os.read(descriptor, count - len(data))
            if not chunk:
                if self._child is not None:
                    self._kill(self._child)
                raise NoAnswer(self._crash(self._process.wait()))
            data += chunk
        return data

    def _give_up(self) -> None:
        """Kill a child that is late and take the importer's word that it is gone."""
        if self._child is None or self._child == self._process.pid:
            self._kill(self._process.pid)
            return
        self._kill(self._child)
        self._child = None
        descriptor = self._process.stdout
        if descriptor is None:
            return
        with contextlib.suppress(NoAnswer):
            self._drain(time.monotonic() + FORK_SECONDS)

    def _drain(self, deadline: float) -> None:
        """Read messages until the child's end is reported."""
        while True:
            head = self._exactly(4, deadline, FORK_SECONDS)
            size = struct.unpack(">I", head)[0]
            message = json.loads(self._exactly(size, deadline, FORK_SECONDS))
            if "exited" in message:
                return

    def _kill(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)

    def _crash(self, status: int | None) -> Failure:
        if status is not None and status < 0:
            with contextlib.suppress(ValueError):
                how = f"killed by {signal.Signals(-status).name}"
                return self._failure(how)
        return self._failure(f"ended with status {status}")

    def _failure(self, how: str) -> Failure:
        tail = b""
        with contextlib.suppress(OSError), self._log.open("rb") as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(self._mark, size - LOG_TAIL))
            tail = log.read(LOG_TAIL)
        return Failure(
            kind=FailureKind.CRASHED,
            message=f"its process was {how}"
            if "killed" in how
            else f"its process {how}",
            detail=tail.decode(errors="replace"),
        )
