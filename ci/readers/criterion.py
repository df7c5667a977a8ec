"""Criterion.rs trees: ``<group>/<function>/<value>/new/estimates.json``.

A scenario is known by ``full_id`` in ``benchmark.json``, never by its directory:
directory names are cut at 64 bytes, numbered, and have characters replaced
(bheisler/criterion.rs#190, #272). Value: the mean, in nanoseconds in the file.
Throughput is not read; it says nothing that the time does not.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from ci import DocumentError
from ci.model import Failure, FailureKind, Reading, ResultSet, ScenarioId
from ci.readers.files import decode_text, listed, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOOL: Final = "Criterion"

_FRESH: Final = "new"
_IDENTITY: Final = "benchmark.json"
_ESTIMATES: Final = "estimates.json"
_SAMPLE: Final = "sample.json"
_NANOSECONDS: Final = 1e9


class CriterionBenchmark(msgspec.Struct, frozen=True, gc=False):
    """``benchmark.json``, as far as it is read."""

    full_id: str


class CriterionEstimate(msgspec.Struct, frozen=True, gc=False):
    """One statistic; nanoseconds."""

    point_estimate: float


class CriterionEstimates(msgspec.Struct, frozen=True, gc=False):
    """``estimates.json``, as far as it is read; ``slope`` is null when flat."""

    mean: CriterionEstimate


class CriterionSample(msgspec.Struct, frozen=True, gc=False):
    """``sample.json``, as far as it is read."""

    times: list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One directory of result files: ``name`` is ``new`` or a saved baseline.

    ``home`` is the scenario's own directory, above it.
    """

    home: str
    name: str
    files: frozenset[str]

    @property
    def is_whole(self) -> bool:
        """Tell whether both files that make a result are there."""
        return _IDENTITY in self.files and _ESTIMATES in self.files

    def file(self, name: str) -> str:
        """Return the path of one of the files."""
        return f"{self.home}{os.sep}{self.name}{os.sep}{name}"


Schema = TypeVar("Schema")

_READ: Final = frozenset({_IDENTITY, _ESTIMATES, _SAMPLE})
_BENCHMARK_DECODER: Final = msgspec.json.Decoder(CriterionBenchmark)
_ESTIMATES_DECODER: Final = msgspec.json.Decoder(CriterionEstimates)
_SAMPLE_DECODER: Final = msgspec.json.Decoder(CriterionSample)


def find_entries(root: Path) -> list[Entry]:
    """Return the result directories under ``root``, in the order of their paths.

    A directory counts for the files in it, not for its name, so that groups
    called ``new``, ``base``, ``change`` or ``report`` are found like any other.
    Links to directories are not followed.
    """
    return sorted(_walk(os.fspath(root)), key=lambda entry: (entry.home, entry.name))


def read_tree(root: Path, entries: list[Entry]) -> ResultSet:
    """Return the result set of the ``entries`` found under ``root``."""
    here = os.fspath(root)
    chosen, notes = _choose(here, entries)
    readings: dict[ScenarioId, Reading] = {}
    homes: dict[ScenarioId, str] = {}
    repeats: dict[ScenarioId, list[str]] = {}
    for entry in chosen:
        scenario, reading = _read_entry(here, entry)
        if scenario in readings:
            repeats.setdefault(scenario, []).append(_relative(here, entry.home))
            continue
        readings[scenario] = reading
        homes[scenario] = entry.home
    for scenario, others in repeats.items():
        notes.append(
            f"{scenario} is the id of {1 + len(others)} directories; "
            f"{_relative(here, homes[scenario])} counts, {listed(others)} does not"
        )
    return ResultSet(tool=TOOL, source=str(root), readings=readings, notes=tuple(notes))


def _walk(root: str) -> Iterator[Entry]:
    pending = [root]
    while pending:
        here = pending.pop()
        files: set[str] = set()
        try:
            with os.scandir(here) as found:
                for item in found:
                    if item.name in _READ:
                        files.add(item.name)
                    elif item.is_dir(follow_symlinks=False):
                        pending.append(item.path)
        except OSError as error:
            reason = error.strerror or str(error)
            raise DocumentError(f"{here}: cannot be read: {reason}") from None
        if files:
            home, name = os.path.split(here)
            entry = Entry(home=home, name=name, files=frozenset(files))
            if entry.is_whole or name == _FRESH:
                yield entry


def _choose(root: str, entries: list[Entry]) -> tuple[list[Entry], list[str]]:
    """Take the fresh measurements; without any, the one saved baseline."""
    fresh = [entry for entry in entries if entry.name == _FRESH]
    if fresh:
        measured = {entry.home for entry in fresh}
        left = sorted({e.home for e in entries if e.home not in measured})
        if not left:
            return fresh, []
        names = listed([_relative(root, home) for home in left])
        note = (
            "left out, for want of a new measurement beside the saved baseline: "
            f"{names}"
        )
        return fresh, [note]
    names_saved = sorted({entry.name for entry in entries})
    if len(names_saved) > 1:
        raise DocumentError(
            f"{root}: no 'new' results and several saved baselines "
            f"({listed(names_saved)}); keep one of them"
        )
    return entries, [f"read from the saved baseline {names_saved[0]!r}"]


def _read_entry(root: str, entry: Entry) -> tuple[ScenarioId, Reading]:
    """Return id and reading; a file that cannot be read makes a failed reading."""
    scenario: ScenarioId | None = None
    try:
        scenario = _decode(root, entry, _IDENTITY, _BENCHMARK_DECODER)[0].full_id
        estimates, raw = _decode(root, entry, _ESTIMATES, _ESTIMATES_DECODER)
    except DocumentError as error:
        if scenario is None:
            scenario = _relative(root, entry.home).replace(os.sep, "/")
        return scenario, _unreadable(str(error))
    digest = hashlib.blake2b(raw, digest_size=16)
    count = 0
    notes: tuple[str, ...] = ()
    if _SAMPLE in entry.files:
        try:
            sample, raw = _decode(root, entry, _SAMPLE, _SAMPLE_DECODER)
            count = len(sample.times)
            digest.update(raw)
        except DocumentError as error:
            notes = (str(error),)
    return scenario, Reading(
        value=estimates.mean.point_estimate / _NANOSECONDS,
        samples=count,
        digest=digest.hexdigest(),
        notes=notes,
    )


def _decode(
    root: str, entry: Entry, name: str, decoder: msgspec.json.Decoder[Schema]
) -> tuple[Schema, bytes]:
    """Return the decoded file and its bytes; the error names it from ``root`` on."""
    path = entry.file(name)
    if name not in entry.files:
        raise DocumentError(f"{_relative(root, path)} is missing")
    try:
        raw = read_bytes(path)
        try:
            return decoder.decode(raw), raw
        except msgspec.ValidationError as error:
            raise DocumentError(f"{path} is not Criterion's: {error}") from None
        except (msgspec.DecodeError, RecursionError):
            # A byte-order mark is rare: looking for one costs only where it is.
            return _decode_text(decoder, decode_text(raw, path), path), raw
    except DocumentError as error:
        raise DocumentError(str(error).replace(path, _relative(root, path))) from None


def _decode_text(
    decoder: msgspec.json.Decoder[Schema], text: str, where: str
) -> Schema:
    try:
        return decoder.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DocumentError(f"{where} is cut or damaged: {error}") from None


def _unreadable(message: str) -> Reading:
    failure = Failure(kind=FailureKind.UNREADABLE, message=message)
    return Reading(value=None, failure=failure)


def _relative(root: str, path: str) -> str:
    return path.removeprefix(root).lstrip(os.sep) or path
