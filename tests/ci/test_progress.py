"""Progress is plain lines in a log and a bar on a terminal."""

from __future__ import annotations

import io
import re

from ci.progress import LineProgress, make_progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Claim to be one."""
        return True


def test_log_gets_a_line_at_both_ends_of_a_launch() -> None:
    """Two lines a launch, however many scenarios it has, and nothing in between."""
    stream = io.StringIO()
    with make_progress(stream) as progress:
        assert isinstance(progress, LineProgress)
        for launch in range(2):
            progress.begin(launch, 2, 3)
            for scenario in "abc":
                progress.advance(scenario)

    lines = stream.getvalue().splitlines()
    assert [re.sub(r"\d+\.\d s", "T", line) for line in lines] == [
        "launch 1 of 2: 3 scenarios",
        "launch 1 of 2: T",
        "launch 2 of 2: 3 scenarios",
        "launch 2 of 2: T",
    ]


def test_log_of_a_launch_cut_short_has_no_end() -> None:
    """A launch that stopped early does not claim to be done."""
    stream = io.StringIO()
    with make_progress(stream) as progress:
        progress.begin(0, 1, 3)
        progress.advance("a")

    assert stream.getvalue() == "launch 1 of 1: 3 scenarios\n"


def test_terminal_gets_a_bar_that_goes_away() -> None:
    """A terminal is drawn on; at the end the cursor is given back."""
    stream = Terminal()
    with make_progress(stream) as progress:
        assert not isinstance(progress, LineProgress)
        progress.begin(1, 4, 10)
        progress.advance("a")
        assert progress._bar.tasks[0].total == 40
        assert progress._bar.tasks[0].completed == 11
        assert progress._bar.tasks[0].description == "launch 2 of 4"

    assert "\x1b[?25h" in stream.getvalue()


def test_hostile_names_do_not_reach_the_bar() -> None:
    """Ids are hostile text; no progress prints them."""
    for stream in (io.StringIO(), Terminal()):
        with make_progress(stream) as progress:
            progress.begin(0, 1, 2)
            progress.advance("[red]evil\x1b[2J")

        assert "evil" not in stream.getvalue()
