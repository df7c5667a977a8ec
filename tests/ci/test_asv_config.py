"""asv.conf.json is found where projects keep it, and its faults are one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ci import ConfigError
from ci.suite.asv_config import NAMES, PLACES, find_config


def write(tree: Path, place: str = "asv.conf.json", **fields: object) -> None:
    """Write a configuration and the folder of its benchmarks."""
    path = tree / place
    (path.parent / "benchmarks").mkdir(parents=True, exist_ok=True)
    known = {"version": 1, "project": "subject", "repo": "."}
    path.write_text(json.dumps(known | fields), encoding="utf-8")


def fault(tree: Path, given: str | None = None) -> str:
    """Return the message of a refusal, which is one line."""
    with pytest.raises(ConfigError) as error:
        find_config(tree, given)
    text = str(error.value)
    assert "\n" not in text
    assert str(tree) not in text
    return text


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", NAMES)
def test_configuration_is_found(tmp_path: Path, place: str, name: str) -> None:
    """The suite is relative to its configuration, which may lie below the root."""
    write(tmp_path, f"{place}/{name}")

    found = find_config(tmp_path, None)

    assert found.project == "subject"
    assert found.suite == Path(place) / "benchmarks"
    assert found.source == Path(place) / name


def test_root_comes_first(tmp_path: Path) -> None:
    """Of two configurations the one in the root is meant."""
    write(tmp_path, "asv_bench/asv.conf.json", project="other")
    write(tmp_path)

    assert find_config(tmp_path, None).project == "subject"


def test_given_file_is_the_only_one_looked_at(tmp_path: Path) -> None:
    """A file named by the user stands alone; a wrong name finds no other."""
    write(tmp_path)
    write(tmp_path, "perf/mine.json", project="mine")

    assert find_config(tmp_path, "perf/mine.json").project == "mine"
    assert fault(tmp_path, "perf/other.json") == (
        "--asv-config: perf/other.json is not in the head commit; commit it"
    )


def test_comments_are_allowed(tmp_path: Path) -> None:
    """Most configurations in use hold comments."""
    write(tmp_path)
    text = (tmp_path / "asv.conf.json").read_text()
    (tmp_path / "asv.conf.json").write_text("// mine\n" + text)

    assert find_config(tmp_path, None).project == "subject"


def test_no_configuration_says_where_it_was_looked_for(tmp_path: Path) -> None:
    """The places are named, and the flag that names another."""
    text = fault(tmp_path)

    assert "asv_bench" in text
    assert "--asv-config" in text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"version": 99}, "newer than what this version of asv understands"),
        ({"version": "1"}, "cannot be read by asv"),
        ({"benchmark_dir": 5}, "benchmark_dir is 5; write a folder's name"),
        ({"benchmark_dir": None}, "benchmark_dir is None; write a folder's name"),
        ({"benchmark_dir": "gone"}, "'gone' is not a folder of the head commit"),
        ({"benchmark_dir": "asv.conf.json"}, "is not a folder of the head commit"),
        ({"benchmark_dir": ".."}, "lies outside of the repository"),
        ({"benchmark_dir": "/"}, "lies outside of the repository"),
        ({"benchmark_dir": "."}, "is the root of the repository"),
        ({"benchmark_dir": "benchmarks/.."}, "is the root of the repository"),
    ],
)
def test_setting_that_cannot_be_used(
    tmp_path: Path, fields: dict[str, object], said: str
) -> None:
    """The file is named, and what is wrong in it."""
    write(tmp_path, **fields)
    text = fault(tmp_path)

    assert text.startswith("asv.conf.json: ")
    assert said in text


@pytest.mark.parametrize(
    "content", [b"", b"{bad", b"[]", b"{}", b"null", b"5", b"\xff\xfe{", b"[" * 100_000]
)
def test_file_that_is_no_configuration(tmp_path: Path, content: bytes) -> None:
    """Anything but an object of settings is told, whatever asv makes of it."""
    (tmp_path / "asv.conf.json").write_bytes(content)

    assert fault(tmp_path).startswith("asv.conf.json: cannot be read by asv: ")
