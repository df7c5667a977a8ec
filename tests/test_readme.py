"""The README says what the program does: help, statuses, marks and commands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ci import asking, compare
from ci.model import Verdict
from ci.wording import MARKS

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
VERBS = ("run", "compare")
UPDATE = "BENCHGATE_UPDATE_README"


def help_of(verb: str) -> str:
    """Return the help of a verb as a terminal of 80 columns shows it."""
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", f"ci.{verb}", "--help"],
        capture_output=True,
        text=True,
        env=environment,
        cwd=ROOT,
        check=True,
    )
    return done.stdout


def block(verb: str) -> re.Pattern[str]:
    """Return the pattern of a verb's help in the README."""
    return re.compile(rf"(<!-- help: {verb} -->\n\n```\n)(.*?)(```\n)", re.DOTALL)


@pytest.mark.parametrize("verb", VERBS)
def test_help_stands_in_the_readme_word_for_word(verb: str) -> None:
    """The README shows the help as it is.

    Run the tests with BENCHGATE_UPDATE_README=1 to write it anew.
    """
    expected = help_of(verb)
    text = README.read_text(encoding="utf-8")
    if os.environ.get(UPDATE):
        text = block(verb).sub(lambda m: m[1] + expected + m[3], text)
        README.write_text(text, encoding="utf-8")
    found = block(verb).search(text)

    assert found is not None
    assert expected == found[2]


def test_marks_in_the_readme_are_those_of_the_table() -> None:
    """Every verdict has its mark and machine name in the README's table."""
    rows = [
        line
        for line in README.read_text(encoding="utf-8").splitlines()
        if line.startswith("|") and "`" in line
    ]

    for verdict in Verdict:
        assert any(MARKS[verdict] in row and f"`{verdict}`" in row for row in rows)


def commands() -> list[list[str]]:
    """Return the words of every command of a verb in the README's code blocks."""
    text = README.read_text(encoding="utf-8")
    blocks = re.findall(r"```\w*\n(.*?)```", text, re.DOTALL)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    return [
        shlex.split(line.split("  ")[0])
        for line in lines
        if line.startswith(("python -m ci.", "benchgate run", "benchgate compare"))
        and "[" not in line  # a usage line, not a command
    ]


def test_every_command_in_the_readme_is_understood() -> None:
    """No command line in the README has a flag that does not exist."""
    parsers = {"run": asking.build_parser(), "compare": compare.build_parser()}
    found = commands()
    for words in found:
        verb = words[2].removeprefix("ci.") if words[0] == "python" else words[1]
        rest = words[3:] if words[0] == "python" else words[2:]
        rest = rest[: rest.index(">")] if ">" in rest else rest

        parsers[verb].parse_args(rest)

    assert len(found) >= 5


def test_make_has_the_commands_of_the_readme() -> None:
    """`make gate` and `make test` exist, and CI runs the README's test command."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

    for target in ("gate", "test"):
        assert f"make {target}" in README.read_text(encoding="utf-8")
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    assert "make test" in script
