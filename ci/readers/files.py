"""Bytes, text and JSON of files that others wrote: bounded, precise about faults.

Knows no tool. Byte-order marks, UTF-16 and CRLF are accepted, because a Windows
shell that redirects a tool's output writes them.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ci import DocumentError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MAX_BYTES: Final = 200 * 2**20
"""A larger file is refused before it is read."""

_CHUNK_BYTES: Final = 2**20
_NAMES_SHOWN: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Json:
    """A decoded file. ``repeated`` names keys that one object holds twice or more."""

    value: Any
    repeated: tuple[str, ...] = ()


def is_directory(path: str | Path) -> bool:
    """Tell whether there is a directory; no error is raised for what cannot be."""
    return os.path.isdir(path)  # noqa: PTH112  # Path's raises: too long, forbidden


def is_file(path: str | Path) -> bool:
    """Tell whether there is a regular file, in the same way."""
    return os.path.isfile(path)  # noqa: PTH113


def read_bytes(path: str | Path) -> bytes:
    """Return the bytes of ``path``, bounded; raise DocumentError if it cannot be."""
    try:
        # Not Path.open, which costs as much again: a tree has tens of thousands.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            data = _read_bounded(descriptor)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise DocumentError(f"{path}: no such file; check the path") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DocumentError(f"{path}: cannot be read: {reason}") from None
    if data is None:
        raise DocumentError(
            f"{path}: more than the {MAX_BYTES} bytes that are read; split the results"
        )
    return data


def decode_text(data: bytes, where: str) -> str:
    """Return ``data`` as text, whichever Unicode encoding its first bytes show."""
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"{where}: not text: byte {error.start} is no {encoding}; "
            "expected a JSON file in UTF-8 or UTF-16"
        ) from None


def parse_json(text: str, where: str) -> Json:
    """Decode ``text``; bare NaN and Infinity are accepted, as asv writes them.

    Of a key that stands twice in one object the last value counts, as in
    Python, and the key is named in the result.
    """
    repeated: dict[str, None] = {}

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(pairs)
        if len(record) < len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    repeated[key] = None
                seen.add(key)
        return record

    try:
        value = json.loads(text, object_pairs_hook=collect)
    except json.JSONDecodeError as error:
        raise DocumentError(
            f"{where}: not JSON: {error.msg} at offset {error.pos} "
            f"(line {error.lineno} column {error.colno})"
        ) from None
    except (RecursionError, ValueError) as error:
        raise DocumentError(f"{where}: not usable JSON: {error}") from None
    return Json(value=value, repeated=tuple(repeated))


def encodable(text: str) -> str:
    r"""Return ``text`` with lone surrogates spelled out, so that it can be written.

    >>> encodable("a\ud800")
    'a\\ud800'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def listed(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are.

    >>> listed(["a", "b", "c", "d", "e", "f"])
    'a, b, c, d, e and 1 more'
    """
    shown = ", ".join(names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _read_bounded(descriptor: int) -> bytes | None:
    """Return the bytes of a file or a pipe, None if they are more than the bound."""
    size = os.fstat(descriptor).st_size
    if size > MAX_BYTES:
        return None
    data = os.read(descriptor, size + 1)
    if len(data) == size > 0:
        return data
    # A pipe has no size, and a file may have grown since.
    chunks, total = [data], len(data)
    while total <= MAX_BYTES and (chunk := os.read(descriptor, _CHUNK_BYTES)):
        chunks.append(chunk)
        total += len(chunk)
    return b"".join(chunks) if total <= MAX_BYTES else None
