"""The run document grows launch by launch and never overwrites another."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ci import ConfigError, DocumentError
from ci.book import OUT_OF_TIME, Book, begin, resume
from ci.documents import read_run
from ci.model import Commit, Host
from ci.runs import Launch, Plan, Run

if TYPE_CHECKING:
    from pathlib import Path

RUN = Run(
    created="2024-01-02T03:04:05+00:00",
    tool="benchgate 0",
    project="subject",
    relation="given",
    base=Commit(sha="a" * 40),
    head=Commit(sha="b" * 40),
    host=Host(
        system="Linux", release="1", machine="x", cpu_model="c", cpus=1,
        memory_bytes=1, python="CPython 3",
    ),
    plan=Plan(
        launches=2, sample_seconds=0.003, scenario_seconds=0.4, minimum_blocks=8, seed=1
    ),
    scenarios=(),
)  # fmt: skip


def launch(index: int) -> Launch:
    """Return an empty launch."""
    return Launch(
        index=index, hash_seed=index, started="", seconds=1.0, imported={},
        measurements=(),
    )  # fmt: skip


def test_document_on_disk_is_the_one_in_memory(tmp_path: Path) -> None:
    """After each launch the file can be read, and is complete with the last."""
    book, aside = begin(tmp_path / "deep" / "run.json", RUN)
    assert (aside, read_run(book.path)) == (None, RUN)

    for index in range(2):
        book.keep(launch(index))
        assert read_run(book.path) == book.run
        assert len(book.run.launches) == index + 1
        assert book.run.is_complete is (index == 1)
    assert [path.name for path in book.path.parent.iterdir()] == ["run.json"]


def test_notes_are_not_repeated(tmp_path: Path) -> None:
    """What is known already is not said twice, and nothing is forgotten."""
    book = Book(tmp_path / "run.json", RUN)
    book.note("a", "b")
    book.note("b", "c")
    book.note()

    assert book.run.notes == ("a", "b", "c")


def test_earlier_documents_are_kept_under_numbers(tmp_path: Path) -> None:
    """Each new run moves the one before aside, and takes no name that is used."""
    path = tmp_path / "run.json"
    (tmp_path / "run.json.2").write_text("somebody's")
    asides = []
    for seed in range(4):
        _, aside = begin(path, replace(RUN, plan=replace(RUN.plan, seed=seed)))
        asides.append(aside.name if aside else None)

    assert asides == [None, "run.json.1", "run.json.3", "run.json.4"]
    assert (tmp_path / "run.json.2").read_text() == "somebody's"
    assert read_run(path).plan.seed == 3
    assert read_run(tmp_path / "run.json.4").plan.seed == 2


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_only_files_are_moved_aside(tmp_path: Path, kind: str) -> None:
    """A folder or a device given by mistake stays where it is."""
    path = tmp_path / "run.json"
    if kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)

    with pytest.raises(ConfigError, match="not a regular file"):
        begin(path, RUN)

    assert [entry.name for entry in tmp_path.iterdir()] == ["run.json"]


def test_place_that_cannot_be_written(tmp_path: Path) -> None:
    """The reason is in one line, before anything was measured."""
    (tmp_path / "file").write_text("")

    with pytest.raises(DocumentError, match="cannot be written") as error:
        begin(tmp_path / "file" / "run.json", RUN)

    assert "\n" not in str(error.value)


def test_document_that_cannot_be_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An earlier document in a folder that is not ours ends the run, unharmed."""
    path = tmp_path / "run.json"
    path.write_text("earlier")

    def refuse(*_words: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.replace", refuse)

    with pytest.raises(DocumentError, match="cannot be moved aside: Permission denied"):
        begin(path, RUN)
    assert path.read_text() == "earlier"


def test_resume_goes_on_where_the_document_ends(tmp_path: Path) -> None:
    """Launches stay, more can be asked for, and the note on time is gone."""
    path = tmp_path / "run.json"
    book, _ = begin(path, RUN)
    book.note("a fact", f"{OUT_OF_TIME}3 s ran out after 1 of 2 launches")
    book.keep(launch(0))
    again = resume(path, None)

    assert again.run == replace(book.run, notes=("a fact",))
    assert resume(path, 7).run.plan.launches == 7
    assert read_run(path) == book.run


@pytest.mark.parametrize("launches", [None, 1, 2])
def test_resume_of_a_finished_run_is_refused(
    tmp_path: Path, launches: int | None
) -> None:
    """Nothing is left to do, unless more is asked for."""
    path = tmp_path / "run.json"
    book, _ = begin(path, RUN)
    for index in range(2):
        book.keep(launch(index))

    with pytest.raises(ConfigError, match="launches are done; ask for more"):
        resume(path, launches)
    assert not resume(path, 3).run.is_complete


def test_resume_without_a_document(tmp_path: Path) -> None:
    """There is nothing to continue, and the way to begin is named."""
    with pytest.raises(ConfigError, match="no such file; leave --resume out"):
        resume(tmp_path / "run.json", None)


def test_resume_of_a_document_cut_short(tmp_path: Path) -> None:
    """Half a document is named as damaged, and is not touched."""
    path = tmp_path / "run.json"
    begin(path, RUN)
    half = path.read_bytes()[:-20]
    path.write_bytes(half)

    with pytest.raises(DocumentError, match="not complete JSON"):
        resume(path, None)
    assert path.read_bytes() == half


def test_each_look_at_a_whole_run_is_counted(tmp_path: Path) -> None:
    """More launches after a verdict are one more chance to be misled."""
    book, _ = begin(tmp_path / "run.json", RUN)
    book.keep(launch(0))
    assert resume(book.path, None).run.looks == 1

    book.keep(launch(1))
    again = resume(book.path, 3)

    assert again.run.looks == 2
    again.keep(launch(2))
    assert resume(book.path, 4).run.looks == 3
