"""asv result files, versions 1 and 2, one file an environment, to one side.

Not strict JSON: asv writes a failed value as ``null`` and a skipped one as a bare
``NaN``. Rows are read in `ci.readers.asv_rows` and named in `ci.readers.asv_names`.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

import msgspec

from ci import DocumentError
from ci.model import Commit
from ci.readers.asv_rows import AsvBenchmark, AsvRow, read_rows
from ci.readers.files import encodable, listed

if TYPE_CHECKING:
    from pathlib import Path

    from ci.readers.files import Json

TOOL: Final = "asv"

_NEWEST: Final = 2
_FACTS: Final = ("cpu", "num_cpu", "ram", "arch", "os")
"""What is told of the machine; its name is not."""


class AsvFile(msgspec.Struct, frozen=True):
    """A result file, as far as it is read; version 1 has no columns."""

    results: dict[str, Any]
    commit_hash: str | None = None
    date: float | None = None
    env_name: str | None = None
    python: str | None = None
    params: dict[str, Any] = {}
    requirements: dict[str, Any] = {}
    result_columns: tuple[str, ...] = ()
    version: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AsvResults:
    """One side: the rows of one commit, and what stands beside them."""

    source: str
    rows: tuple[AsvRow, ...]
    benchmarks: dict[str, AsvBenchmark]
    commit: Commit | None
    facts: dict[str, str]
    notes: tuple[str, ...]


def is_asv(value: Any) -> bool:
    """Tell whether a decoded JSON file is an asv result file.

    >>> is_asv({"commit_hash": "c0ffee", "results": {}})
    True
    """
    return (
        isinstance(value, dict)
        and isinstance(value.get("results"), dict)
        and ("commit_hash" in value or "result_columns" in value)
    )


def decode_file(value: Any, where: str) -> AsvFile:
    """Check a decoded file that `is_asv`; raise DocumentError with the place."""
    try:
        found = msgspec.convert(value, type=AsvFile)
    except msgspec.ValidationError as error:
        raise DocumentError(f"{where}: not a valid asv result: {error}") from None
    if found.version > _NEWEST:
        raise DocumentError(
            f"{where}: asv result version {found.version}; versions 1 and 2 are read"
        )
    if found.result_columns and "result" not in found.result_columns:
        raise DocumentError(f"{where}: result_columns has no column 'result'")
    return found


def decode_benchmarks(value: Any) -> dict[str, AsvBenchmark]:
    """Return the entries of ``benchmarks.json`` that can be used."""
    found: dict[str, AsvBenchmark] = {}
    for name, entry in value.items() if isinstance(value, dict) else ():
        try:
            found[name] = msgspec.convert(entry, type=AsvBenchmark)
        except msgspec.ValidationError:
            continue
    return found


def join_files(
    files: list[tuple[Path, Json]],
    *,
    source: Path,
    benchmarks: dict[str, AsvBenchmark],
    machine: dict[str, Any],
    notes: tuple[str, ...] = (),
) -> AsvResults:
    """Return one side from the files of one commit, one file an environment."""
    decoded = [(path, decode_file(json.value, str(path))) for path, json in files]
    _check_one_commit(source, decoded)
    _check_environments(decoded)
    rows = [
        row
        for _, file in decoded
        for row in read_rows(
            file.results,
            file.result_columns,
            encodable(_environment(file)),
            benchmarks,
        )
    ]
    if not rows:
        raise DocumentError(f"no results in {source}: asv measured nothing")
    repeated = tuple(
        f"{path.name}: the key {key!r} stands twice; the last value counts"
        for path, json in files
        for key in json.repeated
    )
    return AsvResults(
        source=str(source),
        rows=tuple(rows),
        benchmarks=benchmarks,
        commit=_commit(decoded[0][1]),
        facts=_facts([file for _, file in decoded], machine),
        notes=notes + repeated,
    )


def _check_one_commit(source: Path, decoded: list[tuple[Path, AsvFile]]) -> None:
    commits = sorted({file.commit_hash or "unknown" for _, file in decoded})
    if len(commits) > 1:
        raise DocumentError(
            f"{source}: results of {len(commits)} commits ({listed(commits)}); "
            "give the file of one of them"
        )


def _check_environments(decoded: list[tuple[Path, AsvFile]]) -> None:
    seen: dict[str, Path] = {}
    for path, file in decoded:
        other = seen.setdefault(_environment(file), path)
        if other is not path:
            raise DocumentError(
                f"{other} and {path} hold the same commit and environment, "
                "of two machines perhaps; give one of the files"
            )


def _environment(file: AsvFile) -> str:
    return file.env_name or file.python or ""


def _commit(file: AsvFile) -> Commit | None:
    if not file.commit_hash:
        return None
    return Commit(sha=encodable(file.commit_hash), date=_date(file.date))


def _date(milliseconds: float | None) -> str:
    try:
        moment = dt.datetime.fromtimestamp((milliseconds or 0) / 1000, tz=dt.UTC)
    except (OverflowError, ValueError, OSError):
        return ""
    return moment.isoformat() if milliseconds else ""


def _facts(files: list[AsvFile], machine: dict[str, Any]) -> dict[str, str]:
    """Return what is known of the machine and the environments, without its name."""
    facts: dict[str, str] = {}
    for name in _FACTS:
        _put(facts, name, [f.params.get(name) or machine.get(name) for f in files])
    # In an existing environment asv writes the path of the interpreter.
    _put(facts, "python", [PurePath(file.python or "").name for file in files])
    _put(facts, "environment", [file.env_name for file in files])
    _put(facts, "requirements", [_pins(file.requirements) for file in files])
    return facts


def _put(facts: dict[str, str], name: str, told: list[Any]) -> None:
    usable = [value for value in told if isinstance(value, str | int) and value]
    distinct = dict.fromkeys(encodable(str(value)) for value in usable)
    if distinct:
        facts[name] = ", ".join(distinct)


def _pins(requirements: dict[str, Any]) -> str:
    return " ".join(
        f"{name}=={version}" if version else name
        for name, version in sorted(requirements.items())
    )
