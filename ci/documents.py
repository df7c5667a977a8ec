"""The files the gate owns: run and report, versioned and decoded by type.

Readers of other tools' files live in `ci.readers`. A document is written whole
to a neighbour file and renamed into place, so a reader never sees half of one.
"""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from ci import DocumentError
from ci.model import Report
from ci.runs import Run

if TYPE_CHECKING:
    from pathlib import Path

RUN_FORMAT: Final = "benchgate.run"
REPORT_FORMAT: Final = "benchgate.report"
VERSION: Final = 1
MAX_BYTES: Final = 512 * 2**20
"""A larger file is refused before it is read."""

Document = TypeVar("Document", Run, Report)


class _Header(msgspec.Struct, frozen=True):
    """The two fields in front of every document that say what the rest is."""

    format: str
    version: int


def read_bytes(path: Path) -> bytes:
    """Return the bytes of ``path``, bounded; raise DocumentError if it cannot be."""
    try:
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            # A pipe has no size, and no end that could be relied on.
            data = stream.read((size or MAX_BYTES) + 1) if size <= MAX_BYTES else None
    except FileNotFoundError:
        raise DocumentError(f"{path}: no such file; check the path") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise DocumentError(f"{path}: cannot be read: {reason}") from None
    if data is None or len(data) > MAX_BYTES:
        raise DocumentError(
            f"{path}: more than the {MAX_BYTES} bytes that are read; split the result "
            "or measure fewer scenarios"
        )
    return data


def is_run(data: bytes) -> bool:
    """Tell whether ``data`` begins as a run document of this gate does.

    >>> is_run(b'{"format":"benchgate.run","version":1,')
    True
    """
    return f'"{RUN_FORMAT}"'.encode() in data[:64]


def read_run(path: Path) -> Run:
    """Return the run in ``path``; raise DocumentError with the place of a fault."""
    return decode_run(read_bytes(path), str(path))


def decode_run(data: bytes, where: str) -> Run:
    """Decode a run document; ``where`` names it in the error."""
    run = _decode(data, where, Run, RUN_FORMAT)
    if fault := _contradiction(run):
        raise DocumentError(f"{where}: {fault}; measure again")
    return run


def decode_report(data: bytes, where: str) -> Report:
    """Decode a report document; ``where`` names it in the error."""
    return _decode(data, where, Report, REPORT_FORMAT)


def encode_run(run: Run) -> bytes:
    """Return ``run`` as one JSON object that begins with format and version."""
    return _encode_all(run, RUN_FORMAT)


def encode_report(report: Report) -> bytes:
    """Return ``report`` as indented JSON; numbers stay numbers in base units."""
    return msgspec.json.format(_encode_all(report, REPORT_FORMAT), indent=2) + b"\n"


def write_atomically(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data``: a kill leaves the old file or the new one.

    A link stays a link. A device or a pipe is written to and never replaced.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        target = path.resolve()
        # Not by tempfile: its files are for their owner's eyes alone.
        fresh = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        try:
            with fresh.open("xb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            fresh.replace(target)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise DocumentError(f"{path}: cannot be written: {reason}") from None


def _contradiction(run: Run) -> str:
    """Say what a run counts twice, or measured unasked: its verdicts would be wrong."""
    known = {scenario.id for scenario in run.scenarios}
    if len(known) < len(run.scenarios):
        return "one scenario stands twice"
    if len({launch.index for launch in run.launches}) < len(run.launches):
        return "one launch stands twice"
    for launch in run.launches:
        measured = {measurement.scenario for measurement in launch.measurements}
        if len(measured) < len(launch.measurements):
            return f"launch {launch.index} holds one scenario twice"
        if not measured <= known:
            return f"launch {launch.index} holds a scenario that is not in the list"
    return ""


def _without_surrogates(value: Any) -> Any:
    """Return plain ``value`` with half surrogates escaped, as in a Python string."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {
            _without_surrogates(k): _without_surrogates(v) for k, v in value.items()
        }
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value


def _encode_all(document: Run | Report, name: str) -> bytes:
    try:
        return _encode(document, name)
    except UnicodeEncodeError:
        # A name or an exception's text with half a surrogate pair: not text, and
        # no reason to lose the document. Escaped it is still distinct.
        return _encode(_without_surrogates(msgspec.to_builtins(document)), name)


def _encode(document: Run | Report | dict[str, Any], name: str) -> bytes:
    return _opening(name) + msgspec.json.encode(document)[1:]


def _opening(name: str) -> bytes:
    return f'{{"format":"{name}","version":{VERSION},'.encode()


def _refuse_other(header: _Header, where: str, name: str) -> None:
    """Raise DocumentError for another kind of document, or another version."""
    if header.format != name:
        raise DocumentError(f"{where}: is a {header.format!r}, not a {name!r}")
    if header.version != VERSION:
        raise DocumentError(
            f"{where}: version {header.version} of {name}, this gate reads "
            f"{VERSION}; use the gate that wrote it, or measure again"
        )


def _decode(data: bytes, where: str, kind: type[Document], name: str) -> Document:
    try:
        # As written here it need not be read twice, only to learn what it is.
        if not data.startswith(_opening(name)):
            _refuse_other(msgspec.json.decode(data, type=_Header), where, name)
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise DocumentError(f"{where}: not a valid {name}: {error}") from None
    except RecursionError:
        raise DocumentError(f"{where}: nested too deeply to be a {name}") from None
    except msgspec.DecodeError as error:
        raise DocumentError(
            f"{where}: not complete JSON ({error}); the file is damaged or half "
            "written, measure again or take the document of another run"
        ) from None
