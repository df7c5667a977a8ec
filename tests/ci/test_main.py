"""``benchgate VERB`` hands over, and costs nothing before it does."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

import pytest

from ci.__main__ import main


def test_help_names_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    """What there is can be found without the README."""
    assert main(["--help"]) == 0

    printed = capsys.readouterr()
    assert "\n  run      " in printed.out
    assert "\n  compare  " in printed.out
    assert printed.err == ""


def test_the_version_is_the_package_s(capsys: pytest.CaptureFixture[str]) -> None:
    """One line, the name and the version."""
    assert main(["--version"]) == 0

    assert capsys.readouterr().out == "benchgate 0.1.0\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no verb given"),
        (["comapre"], "unknown verb 'comapre'"),
        (["--fast"], "unknown verb '--fast'"),
    ],
)
def test_an_unknown_verb_is_one_line(
    capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    """The status is that of bad input, and the verbs are listed."""
    assert main(words) == 2

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == f"benchgate: {message}; the verbs are run, compare\n"


def test_a_verb_gets_the_rest_and_gives_its_status(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The verb's own error and status come through."""
    assert main(["compare", "none.json"]) == 2

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == (
        "benchgate compare: none.json: no such file; check the path\n"
    )


def test_help_loads_neither_numpy_nor_a_verb() -> None:
    """Asking for help is instant."""
    code = (
        "import sys; from ci.__main__ import main; main(['--help']); "
        "print([m for m in ('numpy', 'msgspec', 'ci.compare') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )

    assert done.stdout.splitlines()[-1] == "[]"


def test_the_package_runs_as_a_module() -> None:
    """``python -m ci`` is the console script."""
    done = subprocess.run(
        [sys.executable, "-m", "ci", "--version"],
        check=False,
        capture_output=True,
        text=True,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "benchgate 0.1.0\n", "")


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    ("word", "closed", "status"),
    [("--help", ">&-", 0), ("--version", ">&-", 0), ("nonsense", "2>&-", 2)],
)
def test_a_closed_stream_is_no_regression(word: str, closed: str, status: int) -> None:
    """A traceback would exit with 1, which means one."""
    command = shlex.join([sys.executable, "-m", "ci", word])
    done = subprocess.run(["sh", "-c", f"exec {command} {closed}"], check=False)

    assert done.returncode == status
