"""The gate's own files: what was written is read back, anything else is refused."""

from __future__ import annotations

import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci import DocumentError, documents
from ci.documents import (
    decode_report,
    decode_run,
    encode_report,
    encode_run,
    is_run,
    read_bytes,
    read_run,
    write_atomically,
)
from ci.model import (
    BYTES,
    SECONDS,
    Arm,
    Commit,
    Failure,
    FailureKind,
    Host,
    Interval,
    Policy,
    Report,
    Row,
    Thresholds,
    Unit,
    Verdict,
)
from ci.runs import Imported, Kind, Launch, Measurement, Plan, Run, Scenario, Witness

if TYPE_CHECKING:
    from collections.abc import Callable
HOST: Final = Host(
    system="Linux",
    release="6.8.0",
    machine="x86_64",
    cpu_model="Example CPU",
    cpus=4,
    memory_bytes=2**34,
    python="3.12.4",
    load=(0.5, 0.4, 0.3),
)
RUN: Final = Run(
    created="2024-05-06T07:08:09Z",
    tool="benchgate 0.1.0",
    project="example",
    relation="merge-base",
    base=Commit(sha="a" * 40, subject="Éclair | `pipe`"),
    head=Commit(sha="b" * 40, asked="HEAD"),
    host=HOST,
    plan=Plan(
        launches=4,
        sample_seconds=0.003,
        scenario_seconds=0.2,
        minimum_blocks=8,
        seed=7,
        budget=60.0,
    ),
    scenarios=(
        Scenario(
            id="a(1)", benchmark="s.time_a", index=0, kind=Kind.TIME, unit=SECONDS
        ),
        Scenario(
            id="b", benchmark="s.peakmem_b", index=None, kind=Kind.PEAKMEM, unit=BYTES
        ),
    ),
    launches=(
        Launch(
            index=0,
            hash_seed=12,
            started="2024-05-06T07:08:10Z",
            seconds=1.5,
            imported={Arm.BASE: Imported(tree="base", digest="d", files=("m.py",))},
            measurements=(
                Measurement(
                    scenario="a(1)",
                    samples=dict.fromkeys(Arm, (1e-06, 1.1e-06)),
                    orders=("bhc",),
                    labels={Arm.BASE: {"threads": "1"}},
                ),
                Measurement(
                    scenario="b",
                    samples={Arm.BASE: (1024.0,)},
                    failures={
                        Arm.HEAD: Failure(
                            kind=FailureKind.TIMED_OUT, message="after 5 s"
                        )
                    },
                ),
            ),
            witness=Witness(load_before=(0.1,), steal=0.01),
        ),
    ),
    is_complete=True,
    notes=("a note",),
)
REPORT: Final = Report(
    overall=Verdict.WARN,
    exit_status=0,
    method="paired",
    tool="benchgate 0.1.0",
    rows=(
        Row(
            scenario="a(1)",
            verdict=Verdict.WARN,
            unit=Unit(name="tokens/s"),
            base=1.0,
            head=0.9,
            change=-0.1,
            interval=Interval(low=-0.12, high=-0.08),
            thresholds=Thresholds(gate=0.05, warn=0.03, alert=0.1, source="policy"),
            resolution=0.02,
            is_confirmed=True,
            launches=16,
        ),
        Row(
            scenario="b",
            verdict=Verdict.FAILED,
            unit=BYTES,
            base=1024.0,
            is_blocking=False,
            reason="also fails on the base",
        ),
    ),
    compared=1,
    policy=Policy(),
    host=HOST,
    facts={"torch": "2"},
    notes=("a note",),
)


def changed(data: bytes, **fields: object) -> bytes:
    """Return a JSON object with some fields replaced."""
    return json.dumps({**json.loads(data), **fields}).encode()


def test_run_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    """Every raw sample survives, to the last bit, so a run can be judged again."""
    path = tmp_path / "deep" / "run.json"
    write_atomically(path, encode_run(RUN))

    assert read_run(path) == RUN


def test_report_is_read_back_as_it_was_written() -> None:
    """The report document holds everything that the table was made of."""
    assert decode_report(encode_report(REPORT), "report.json") == REPORT


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_stay_numbers_to_the_last_bit(number: float) -> None:
    """A change is stored as a float, not as the text that a table shows."""
    row = Row(scenario="a", verdict=Verdict.WARN, unit=SECONDS, change=number)
    report = Report(
        overall=Verdict.WARN,
        exit_status=0,
        method="single",
        tool="t",
        rows=(row,),
        compared=1,
        policy=Policy(),
    )
    found = decode_report(encode_report(report), "x").rows[0].change

    assert found == number
    assert math.copysign(1, found) == math.copysign(1, number)


def test_documents_begin_with_their_name() -> None:
    """What a file is can be told from its first bytes, without reading the rest."""
    assert encode_run(RUN).startswith(b'{"format":"benchgate.run","version":1,')
    assert is_run(encode_run(RUN)[:64])
    assert not is_run(encode_report(REPORT))
    assert not is_run(b"")


@pytest.mark.parametrize(
    ("damaged", "fault"),
    [
        (replace(RUN, scenarios=RUN.scenarios * 2), "one scenario stands twice"),
        (replace(RUN, launches=RUN.launches * 2), "one launch stands twice"),
        (
            replace(
                RUN,
                launches=tuple(
                    replace(launch, measurements=launch.measurements * 2)
                    for launch in RUN.launches
                ),
            ),
            "launch 0 holds one scenario twice",
        ),
        (
            replace(RUN, scenarios=RUN.scenarios[:1]),
            "launch 0 holds a scenario that is not in the list",
        ),
    ],
)
def test_nothing_counts_twice_or_goes_unseen(damaged: Run, fault: str) -> None:
    """Two launches written twice are not four; a row without a name is not green."""
    with pytest.raises(DocumentError) as caught:
        decode_run(encode_run(damaged), "run.json")

    assert str(caught.value) == f"run.json: {fault}; measure again"


def test_half_a_character_does_not_lose_a_run() -> None:
    """An exception may say anything; what was measured is still written."""
    run = replace(RUN, notes=("no file \udcff",))

    assert decode_run(encode_run(run), "x").notes == ("no file \\udcff",)


def test_a_report_is_not_a_run() -> None:
    """Two kinds of document are not taken for each other."""
    with pytest.raises(DocumentError, match=r"'benchgate\.report', not a 'benchgate"):
        decode_run(encode_report(REPORT), "x")
    with pytest.raises(DocumentError, match=r"'benchgate\.run', not a 'benchgate"):
        decode_report(encode_run(RUN), "x")


def test_another_version_is_refused_with_a_way_out() -> None:
    """A format that this gate does not know is never half understood."""
    newer = changed(encode_report(REPORT), version=documents.VERSION + 1)

    with pytest.raises(DocumentError, match=r"x: version 2 .* use the gate that wrote"):
        decode_report(newer, "x")


@pytest.mark.parametrize("part", [0.0, 0.3, 0.9, 0.999])
def test_half_a_document_is_refused(part: float) -> None:
    """A file cut anywhere is said to be damaged, never read as a shorter run."""
    data = encode_run(RUN)

    with pytest.raises(DocumentError, match="half written"):
        decode_run(data[: int(len(data) * part)], "x")


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"overall": "purple"}, r"\$\.overall"),
        ({"rows": [{"scenario": 1}]}, r"\$\.rows\[0\]\.scenario"),
        ({"exit_status": "0"}, r"\$\.exit_status"),
        ({"policy": {"warn": -1}}, r"\$\.policy"),
        ({"compared": None}, r"\$\.compared"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(
    fields: dict[str, object], place: str
) -> None:
    """A document from elsewhere is data: what does not fit is refused, with where."""
    with pytest.raises(DocumentError, match=place):
        decode_report(changed(encode_report(REPORT), **fields), "x")


@pytest.mark.parametrize(
    "data",
    [b"", b"null", b"[]", b"\xff\xfe{}", b'{"format":5}', b"<html>", b"NaN", b"{}"],
)
def test_what_is_no_document_is_one_error(data: bytes) -> None:
    """Whatever lies in the file, there is one type of exception to catch."""
    for decode in (decode_run, decode_report):
        with pytest.raises(DocumentError, match=r"^x: "):
            decode(data, "x")


@given(st.binary(max_size=200))
def test_any_bytes_decode_or_are_refused(data: bytes) -> None:
    """No input ends in a traceback, not even behind a valid beginning."""
    for start in (b"", encode_report(REPORT)[:60]):
        with pytest.raises(DocumentError):
            decode_report(start + data, "x")


def test_missing_file_says_what_to_do(tmp_path: Path) -> None:
    """The message names the path and does not blame the content."""
    with pytest.raises(DocumentError, match=r"run\.json: no such file; check the path"):
        read_bytes(tmp_path / "run.json")


def test_directory_is_no_document(tmp_path: Path) -> None:
    """A path of the wrong kind is a sentence, not a traceback."""
    with pytest.raises(DocumentError, match="cannot be read"):
        read_bytes(tmp_path)


def test_large_file_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An artefact from a stranger cannot fill the memory."""
    path = tmp_path / "run.json"
    path.write_bytes(b"x" * 11)
    monkeypatch.setattr(documents, "MAX_BYTES", 10)

    with pytest.raises(DocumentError, match="more than the 10 bytes"):
        read_bytes(path)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_a_stream_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What tells no size is read up to the bound, not until memory is full."""
    monkeypatch.setattr(documents, "MAX_BYTES", 10)

    with pytest.raises(DocumentError, match="more than the 10 bytes"):
        read_bytes(Path("/dev/zero"))


def test_a_kill_leaves_the_old_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the new bytes are on the disk, the name holds the old ones."""
    path = tmp_path / "run.json"
    write_atomically(path, b"old")

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(documents.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, b"new")

    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.skipif(os.name != "posix", reason="needs permissions")
def test_others_may_read_what_was_written(tmp_path: Path) -> None:
    """A document has the permissions of any new file: a later step reads it."""
    (tmp_path / "plain").write_bytes(b"")
    write_atomically(tmp_path / "run.json", b"x")

    modes = {entry.stat().st_mode for entry in tmp_path.iterdir()}

    assert len(modes) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """As /dev/null must be, which root could replace by a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(pipe, b"x")
        received = os.read(reader, 2)
    finally:
        os.close(reader)

    assert received == b"x"
    assert pipe.is_fifo()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """The file that a link names gets the bytes; the link still names it."""
    (tmp_path / "real.json").write_bytes(b"old")
    link = tmp_path / "run.json"
    try:
        link.symlink_to("real.json")
    except OSError:
        pytest.skip("no links here")

    write_atomically(link, b"new")

    assert link.is_symlink()
    assert (tmp_path / "real.json").read_bytes() == b"new"


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    """A file where a folder is needed is a sentence with the path in it."""
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(DocumentError, match=r"run\.json: cannot be written"):
        write_atomically(tmp_path / "file" / "run.json", b"x")


@pytest.mark.parametrize(
    ("encode", "document"), [(encode_run, RUN), (encode_report, REPORT)]
)
def test_encoding_is_stable(
    encode: Callable[[object], bytes], document: object
) -> None:
    """The same values give the same bytes, so files can be compared."""
    assert encode(document) == encode(document)


def test_deep_nesting_is_one_line() -> None:
    """A document nested beyond all reason is refused, not a traceback."""
    data = b'{"format":"benchgate.run","version":1,"x":' + b"[" * 100_000

    with pytest.raises(DocumentError, match=r"^deep.json: "):
        decode_run(data, "deep.json")


def test_half_a_surrogate_pair_does_not_lose_the_report() -> None:
    """A name that is not text is written out, and the report reads back."""
    row = Row(scenario="a\ud800", verdict=Verdict.UNCHANGED, unit=SECONDS)
    report = Report(
        overall=Verdict.UNCHANGED,
        exit_status=0,
        method="single",
        tool="t",
        rows=(row,),
        compared=1,
        policy=Policy(),
    )

    again = decode_report(encode_report(report), "report.json")

    assert again.rows[0].scenario == "a\\ud800"
