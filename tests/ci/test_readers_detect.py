"""Files are recognised by content, and the error says what a wrong file is."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from ci import DocumentError
from ci.readers import files
from ci.readers.detect import READ_FORMATS, read_set

CASES = Path(__file__).parents[1] / "data" / "cases"


def refusal(path: Path) -> str:
    """Return the message with which ``path`` is refused."""
    with pytest.raises(DocumentError) as caught:
        read_set(path)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("content", "tail"),
    [
        ("", ": the file is empty"),
        (" \r\n", ": the file is empty"),
        ("{}", f"; expected {READ_FORMATS}"),
        ("[]", f"; expected {READ_FORMATS}"),
        ('{"benchmarks": []}', f"; expected {READ_FORMATS}"),
    ],
)
def test_an_empty_side_has_no_results(tmp_path: Path, content: str, tail: str) -> None:
    """im-anishraj/arnio#1444: an empty baseline was green for ever."""
    file = tmp_path / "base.json"
    file.write_text(content)

    assert refusal(file) == f"no results in {file}{tail}"


def test_the_empty_baseline_of_a_case_has_no_results() -> None:
    """nubo-db/dynoxide#192: ``{}`` is not a result."""
    assert refusal(CASES / "05-03" / "base.json").startswith("no results in ")


def test_a_directory_without_results_says_what_was_expected(tmp_path: Path) -> None:
    """An artifact that unpacked to nothing is no baseline."""
    assert refusal(tmp_path) == f"no results in {tmp_path}; expected {READ_FORMATS}"


def test_a_missing_path_is_one_line(tmp_path: Path) -> None:
    """The path is in the message."""
    path = tmp_path / "none.json"

    assert refusal(path) == f"{path}: no such file; check the path"


def test_javascript_called_json_is_recognised() -> None:
    """github-action-benchmark keeps its history as JavaScript in ``data.json``."""
    assert refusal(CASES / "07-13" / "base.json").endswith(
        "looks like the JavaScript history of github-action-benchmark; "
        f"expected {READ_FORMATS}"
    )


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ('{"machine_info": {}, "benchmarks": [1]}', "pytest-benchmark JSON"),
        ('{"context": {}, "benchmarks": [1]}', "google-benchmark JSON"),
        ('{"version": "1.0", "benchmarks": [1]}', "pyperf JSON"),
        ('{"results": [{"command": "ls"}]}', "hyperfine JSON"),
        ('[{"name": "a", "value": 1}]', "custom JSON of github-action-benchmark"),
        ('{"mean": {}, "std_dev": {}}', "one file of a Criterion directory"),
        ('{"a": {"code": "", "param_names": []}}', "asv's list of benchmarks"),
        ('{"format": "benchgate.report"}', "a report of this gate"),
        ('{"format": "benchgate.run"}', "a run document of this gate"),
    ],
)
def test_other_formats_are_called_by_their_name(
    tmp_path: Path, content: str, name: str
) -> None:
    """The message says what the file looks like and what is read."""
    file = tmp_path / "base.json"
    file.write_text(content)

    assert refusal(file) == f"{file}: looks like {name}; expected {READ_FORMATS}"


@pytest.mark.parametrize("side", ["base.json", "pr.json"])
def test_what_windows_shells_write_is_text(side: str) -> None:
    """A byte-order mark, UTF-16 and CRLF are no reason to say "not JSON"."""
    assert "custom JSON of github-action-benchmark" in refusal(CASES / "07-09" / side)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_every_unicode_encoding_reads_the_same(tmp_path: Path, encoding: str) -> None:
    """PowerShell redirection writes UTF-16; the results are the same."""
    source = CASES / "01-05" / "base.json"
    file = tmp_path / "base.json"
    text = source.read_text("utf-8").replace(", ", ",\r\n")
    file.write_bytes(text.encode(encoding))

    assert read_set(file).readings == read_set(source).readings


def test_broken_json_is_named_with_its_place(tmp_path: Path) -> None:
    """File, offset, and what was expected there."""
    file = tmp_path / "base.json"
    file.write_text('{"results": {\n  "a": }}')

    assert refusal(file) == (
        f"{file}: not JSON: Expecting value at offset 21 (line 2 column 8)"
    )


@pytest.mark.parametrize("content", ["hello", "<html>", "BenchmarkFib-8 1 ns/op"])
def test_text_that_is_no_json_is_shown_by_its_beginning(
    tmp_path: Path, content: str
) -> None:
    """An error page that was saved as a result is seen for what it is."""
    file = tmp_path / "base.json"
    file.write_text(content)

    assert refusal(file) == f"{file}: not JSON, found {content[:20]!r}; expected '{{'"


def test_bytes_that_are_no_text_are_named_with_their_place(tmp_path: Path) -> None:
    """A binary file is refused by its first bad byte."""
    file = tmp_path / "base.json"
    file.write_bytes(b'{"a": "\xff"}')

    assert "not text: byte 7 is no utf-8" in refusal(file)


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a": ' + "9" * 5000 + "}"])
def test_hostile_json_is_one_line(tmp_path: Path, content: str) -> None:
    """Neither deep nesting nor an endless number escapes as a traceback."""
    file = tmp_path / "base.json"
    file.write_text(content)

    assert refusal(file).startswith(f"{file}: not usable JSON: ")


def test_a_file_above_the_bound_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The size is asked for before the bytes are."""
    monkeypatch.setattr(files, "MAX_BYTES", 100)
    file = tmp_path / "base.json"
    file.write_text(" " * 101)

    assert "more than the 100 bytes that are read" in refusal(file)


def test_a_pipe_is_read_up_to_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell's process substitution has no size to ask for, so reading stops."""
    monkeypatch.setattr(files, "MAX_BYTES", 100)
    monkeypatch.setattr(files, "_CHUNK_BYTES", 64)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    left_early: list[bool] = []

    def write() -> None:
        try:
            pipe.write_bytes(b" " * 1_000_000)
        except BrokenPipeError:
            left_early.append(True)

    writer = threading.Thread(target=write)
    writer.start()
    message = refusal(pipe)
    writer.join()

    assert "more than the 100 bytes that are read" in message
    assert left_early == [True]
