"""Result sets from paths: finds out which tool wrote them.

Guesses from content, never from a name alone. What is recognised and not read is
called by its name in the error, because "not JSON" helps nobody who passed the
wrong file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ci import DocumentError
from ci.model import ResultSet
from ci.readers import asv, asv_names, criterion
from ci.readers.files import (
    decode_text,
    is_directory,
    is_file,
    listed,
    parse_json,
    read_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ci.readers.files import Json

READ_FORMATS: Final = "a Criterion directory, an asv result file or a directory of them"
SAME_BYTES: Final = "the same bytes on both sides, as if not measured again"

_BESIDE: Final = ("machine.json", "benchmarks.json")
_CRITERION_PLACES: Final = ("target/criterion", "criterion", "")

_OTHERS: Final[tuple[tuple[str, Callable[[Any], bool]], ...]] = (
    ("a run document of this gate", lambda v: _has(v, format="benchgate.run")),
    ("a report of this gate", lambda v: _has(v, format="benchgate.report")),
    ("pytest-benchmark JSON", lambda v: _holds(v, "benchmarks", "machine_info")),
    ("google-benchmark JSON", lambda v: _holds(v, "benchmarks", "context")),
    ("pyperf JSON", lambda v: _holds(v, "benchmarks", "version")),
    ("hyperfine JSON", lambda v: _holds(_first(v, "results"), "command")),
    ("custom JSON of github-action-benchmark", lambda v: _holds(_at(v), "name")),
    ("one file of a Criterion directory", lambda v: _holds(v, "mean", "std_dev")),
    ("asv's list of benchmarks", lambda v: _holds(_value(v), "code", "param_names")),
)
"""What other files look like; the first match names the file."""


def read_set(path: Path) -> ResultSet:
    """Return what the tool that wrote ``path`` measured, a file or a directory."""
    found = _read(path)
    return found if isinstance(found, ResultSet) else asv_names.name_sides([found])[0]


def read_sets(base: Path, head: Path) -> tuple[ResultSet, ResultSet]:
    """Return both sides, asv's rows named together so that equal rows meet.

    Rows whose files are the same bytes on both sides are noted: leftovers of an
    earlier run look like that.
    """
    sides = [_read(base), _read(head)]
    unnamed = [side for side in sides if isinstance(side, asv.AsvResults)]
    named = iter(asv_names.name_sides(unnamed))
    first, second = (
        side if isinstance(side, ResultSet) else next(named) for side in sides
    )
    return first, _note_same_bytes(first, second)


def _read(path: Path) -> ResultSet | asv.AsvResults:
    if is_directory(path):
        for place in _CRITERION_PLACES:
            root = path / place
            entries = criterion.find_entries(root) if is_directory(root) else []
            if entries:
                return criterion.read_tree(root, entries)
        return _read_asv_directory(path)
    return _read_file(path)


def _read_file(path: Path) -> asv.AsvResults:
    json = _parse(path)
    if not asv.is_asv(json.value):
        raise DocumentError(_refusal(json.value, path))
    return _join(path, [(path, json)], [path.parent, path.parent.parent])


def _read_asv_directory(path: Path) -> asv.AsvResults:
    """Read ``results/`` or ``results/<machine>/``: files here and one level down."""
    candidates = sorted(
        file
        for pattern in ("*.json", "*/*.json")
        for file in path.glob(pattern)
        if file.name not in _BESIDE
    )
    files: list[tuple[Path, Json]] = []
    notes: list[str] = []
    for candidate in candidates:
        try:
            json = _parse(candidate)
        except DocumentError as error:
            notes.append(f"left out: {_short(error, candidate)}")
            continue
        if asv.is_asv(json.value):
            files.append((candidate, json))
        else:
            notes.append(f"left out: {candidate.name} is not an asv result file")
    if not files:
        what = f" ({notes[0]})" if notes else ""
        raise DocumentError(f"no results in {path}{what}; expected {READ_FORMATS}")
    folders = list(dict.fromkeys(file.parent for file, _ in files))
    return _join(path, files, [path, path.parent, *folders], tuple(notes))


def _join(
    source: Path,
    files: list[tuple[Path, Json]],
    folders: list[Path],
    notes: tuple[str, ...] = (),
) -> asv.AsvResults:
    """Read what asv keeps beside its results: the machine and the benchmarks."""
    told: dict[str, dict[str, Any]] = {name: {} for name in _BESIDE}
    for name in _BESIDE:
        for folder in folders:
            if told[name] or not is_file(folder / name):
                continue
            try:
                value = _parse(folder / name).value
            except DocumentError as error:
                notes += (f"left out: {_short(error, folder / name)}",)
                continue
            told[name] = value if isinstance(value, dict) else {}
    return asv.join_files(
        files,
        source=source,
        benchmarks=asv.decode_benchmarks(told["benchmarks.json"]),
        machine=told["machine.json"],
        notes=notes,
    )


def _parse(path: Path) -> Json:
    text = decode_text(read_bytes(path), str(path))
    start = (text[:200].lstrip() or text.lstrip())[:200]
    if not start:
        raise DocumentError(f"no results in {path}: the file is empty")
    if start.startswith("window.BENCHMARK_DATA"):
        raise DocumentError(
            f"{path}: looks like the JavaScript history of github-action-benchmark; "
            f"expected {READ_FORMATS}"
        )
    if start[0] not in "[{":
        raise DocumentError(f"{path}: not JSON, found {start[:20]!r}; expected '{{'")
    return parse_json(text, str(path))


def _refusal(value: Any, path: Path) -> str:
    if not value or _has(value, benchmarks=[]) or _has(value, results={}):
        return f"no results in {path}; expected {READ_FORMATS}"
    for name, matches in _OTHERS:
        if matches(value):
            return f"{path}: looks like {name}; expected {READ_FORMATS}"
    return f"{path}: JSON of no tool that is known; expected {READ_FORMATS}"


def _note_same_bytes(base: ResultSet, head: ResultSet) -> ResultSet:
    """Return ``head`` with a note on the rows whose files equal those of ``base``."""
    same = [
        scenario
        for scenario, reading in head.readings.items()
        if reading.digest
        and scenario in base.readings
        and reading.digest == base.readings[scenario].digest
    ]
    if not same:
        return head
    rows = "1 row" if len(same) == 1 else f"{len(same)} rows"
    note = f"the files of {rows} are {SAME_BYTES}: {listed(same)}"
    return replace(head, notes=(*head.notes, note))


def _has(value: Any, **fields: object) -> bool:
    return isinstance(value, dict) and all(
        value.get(name) == field for name, field in fields.items()
    )


def _holds(value: Any, *names: str) -> bool:
    return isinstance(value, dict) and all(name in value for name in names)


def _at(value: Any) -> Any:
    """Return the first entry of a list, None of anything else."""
    return value[0] if isinstance(value, list) and value else None


def _first(value: Any, name: str) -> Any:
    return _at(value.get(name)) if isinstance(value, dict) else None


def _value(value: Any) -> Any:
    return next(iter(value.values()), None) if isinstance(value, dict) else None


def _short(error: DocumentError, path: Path) -> str:
    """Return the message with the file's name only: a report is read elsewhere."""
    return str(error).replace(str(path), path.name)
