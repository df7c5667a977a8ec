"""Settings mean what they say, or the error says where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from pathlib import Path

from ci import ConfigError
from ci.config import (
    MAX_BYTES,
    Settings,
    change_policy,
    decode_settings,
    parse_size,
    read_settings,
)
from ci.model import Policy


def refusal(text: str) -> str:
    """Return the message with which settings are refused."""
    with pytest.raises(ConfigError) as caught:
        decode_settings(text.encode(), "gate.yaml")
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("15%", 0.15),
        ("15 %", 0.15),
        (" 0.15 ", 0.15),
        (".5", 0.5),
        ("150%", 1.5),
        ("0.5%", 0.005),
        ("1e-2", 0.01),
        ("100%", 1.0),
    ],
)
def test_a_size_is_a_percentage_or_a_fraction(text: str, size: float) -> None:
    """Both spellings of one size are one number."""
    assert parse_size(text) == pytest.approx(size)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("15", "15 is ambiguous; write 15% or 0.15"),
        ("5", "5 is ambiguous; write 5% or 0.05"),
        ("1", "1 is ambiguous; write 1% or 0.01"),
        ("1.05", "1.05 is ambiguous; write 1.05% or 0.0105"),
        ("abc", "'abc' is not a size; write 15% or 0.15"),
        ("nan", "'nan' is not a size; write 15% or 0.15"),
        ("inf%", "'inf%' is not a size; write 15% or 0.15"),
        ("-1", "'-1' is not a size; write 15% or 0.15"),
        ("-5%", "'-5%' is not a size; write 15% or 0.15"),
        ("", "'' is not a size; write 15% or 0.15"),
        ("15%%", "'15%%' is not a size; write 15% or 0.15"),
        ("1_5%", "'1_5%' is not a size; write 15% or 0.15"),
        ("0", "0 is not a usable size; it must be above 0 and finite"),
        ("0%", "0% is not a usable size; it must be above 0 and finite"),
        ("1e999%", "1e999% is not a usable size; it must be above 0 and finite"),
    ],
)
def test_what_is_no_size_is_refused_with_what_to_write(text: str, message: str) -> None:
    """Karanjot786/TermUI#228: a threshold read as NaN never alarms."""
    with pytest.raises(ConfigError) as caught:
        parse_size(text)

    assert str(caught.value) == message


@given(st.floats(min_value=1e-6, max_value=0.999999))
def test_every_spelling_of_a_fraction_is_the_same_size(size: float) -> None:
    """A size survives both of its spellings."""
    assert parse_size(f"{size!r}") == size
    assert parse_size(f"{100 * size!r}%") == pytest.approx(size)


def test_sizes_are_set_by_section() -> None:
    """``thresholds`` is for runs of this gate, ``single`` for result sets."""
    text = """
    thresholds: {gate: 4%, warn: 0.02, alert: "20%"}
    single: {warn: 10%, alert: 150%}
    """

    assert decode_settings(text.encode(), "gate.yaml") == Settings(
        policy=Policy(
            gate=0.04, warn=0.02, alert=0.2, single_warn=0.1, single_alert=1.5
        )
    )


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}", "thresholds: {}"])
def test_what_is_not_set_is_the_default(text: str) -> None:
    """An empty file sets nothing."""
    assert decode_settings(text.encode(), "gate.yaml") == Settings()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "thresholds: {warn: 15}",
            "gate.yaml: thresholds.warn: 15 is ambiguous; write 15% or 0.15",
        ),
        (
            'thresholds: {warn: "15"}',
            "gate.yaml: thresholds.warn: 15 is ambiguous; write 15% or 0.15",
        ),
        (
            "single: {alert: 1.05}",
            "gate.yaml: single.alert: 1.05 is ambiguous; write 1.05% or 0.0105",
        ),
        (
            "thresholds: {warn: .nan}",
            "gate.yaml: thresholds.warn: 'nan' is not a size; write 15% or 0.15",
        ),
        (
            "thresholds: {gate: -0.05}",
            "gate.yaml: thresholds.gate: '-0.05' is not a size; write 15% or 0.15",
        ),
        (
            "thresholds: {wran: 5%}",
            (
                "gate.yaml: thresholds: unknown setting `wran`; "
                "known are gate, warn, alert"
            ),
        ),
        (
            "threshold: {}",
            "gate.yaml: unknown setting `threshold`; known are thresholds, single",
        ),
        (
            "thresholds: {warn: true}",
            "gate.yaml: thresholds.warn: Expected `float | str | null`, got `bool`",
        ),
        ("- 1", "gate.yaml: Expected `object`, got `array`"),
        (
            "single: {warn: 40%}",
            "gate.yaml: the warn size, 40%, is above the alert size, 30%; set both",
        ),
        (
            "thresholds: {warn: 20%}",
            "gate.yaml: the warn size, 20%, is above the alert size, 10%; set both",
        ),
        (
            "thresholds: {warn: 5%, warn: 6%}",
            "gate.yaml: not YAML at line 1: the key 'warn' stands twice",
        ),
        (
            "thresholds: [}",
            "gate.yaml: not YAML at line 1: expected the node content, but found '}'",
        ),
    ],
)
def test_a_fault_is_named_with_its_place(text: str, message: str) -> None:
    """File, key, what is wrong, what to write: in one line."""
    assert refusal(text) == message


@pytest.mark.parametrize(
    "text", ["!!python/object/apply:os.getcwd []", "\x00", "a: &x [*x", "[" * 5000]
)
def test_hostile_settings_are_one_line(text: str) -> None:
    """Nothing is executed and nothing escapes as a traceback."""
    assert refusal(text).startswith("gate.yaml: ")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """Whoever names a file means it."""
    path = tmp_path / "none.yaml"

    with pytest.raises(ConfigError) as caught:
        read_settings(path)

    assert str(caught.value) == f"{path}: cannot be read: No such file or directory"


def test_a_file_above_the_bound_is_refused(tmp_path: Path) -> None:
    """Settings are small; a large file is another file."""
    path = tmp_path / "gate.yaml"
    path.write_bytes(b"#" * (MAX_BYTES + 1))

    with pytest.raises(ConfigError, match="is it the right file"):
        read_settings(path)


def test_a_changed_policy_keeps_the_rest() -> None:
    """Flags set one size and leave the others."""
    assert change_policy(Policy(), {"gate": 0.2}, "--gate") == Policy(gate=0.2)


@pytest.mark.parametrize(
    "value", ['!!int ""', '!!float ""', "!!bool maybe", "!!timestamp soon"]
)
def test_a_tag_that_does_not_fit_is_no_internal_error(value: str) -> None:
    """PyYAML's constructors raise whatever comes; the file is at fault, not we."""
    assert refusal(f"thresholds: {{gate: {value}}}") == (
        "gate.yaml: a tag does not fit its value; leave it out"
    )


def test_a_size_that_rounds_to_zero_is_named_itself() -> None:
    """Not as a warn size above the alert size, which nobody set."""
    with pytest.raises(ConfigError, match="1e-323% is not a usable size"):
        parse_size("1e-323%")
