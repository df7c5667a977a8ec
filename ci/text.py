"""Numbers and foreign text as people read them, whatever the medium.

Each cell carries its own unit, and no number is ever printed as a word: what
is absent or not finite is a dash. Refuses to know Markdown or terminals.
"""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Final

from ci.model import BYTES, SECONDS, Commit, Unit

ABSENT: Final = "—"
EMPTY_NAME: Final = "(empty name)"

_TIME: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_SIZE: Final = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"))
_BARE: Final = frozenset({"", "count", "counts", "unit", "units", "1"})
"""Unit names that add nothing to the number."""

_HUGE: Final = 1e9
"""From here on a number is written with an exponent instead of its digits."""
_EXACT_INTEGER: Final = 2.0**53
_SHORT_SHA: Final = 12

_INVISIBLE_CATEGORIES: Final = frozenset(
    {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"}
)
_INVISIBLE_LETTERS: Final = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}.union(
        range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)
    )
)
"""Characters that draw nothing although their category says otherwise
(Unicode, Default_Ignorable_Code_Point, and the blank Braille pattern)."""


def _escape(code: int) -> str:
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004


class _Visible(dict[int, str]):
    """A table for `str.translate` that fills itself as characters are met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        is_drawn = character == " " or not (
            unicodedata.category(character) in _INVISIBLE_CATEGORIES
            or code in _INVISIBLE_LETTERS
        )
        self[code] = character if is_drawn else _escape(code)
        return self[code]


_VISIBLE: Final = _Visible()
_LOOKS_ESCAPED: Final = re.compile(r"\\(?=u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})")
_LOST_SPACE: Final = re.compile(r"^ | (?=$)|(?<= ) ")


def visible(text: str) -> str:
    r"""Write every character that cannot be seen as its number.

    Reversible, so distinct texts stay distinct: a backslash that would read as
    such a number is itself written as one.

    >>> print(visible("a\u202eb\n"))
    a\u202eb\u000a
    >>> print(visible(r"C:\users, \u202e"))
    C:\users, \u005cu202e
    """
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    shown = _LOOKS_ESCAPED.sub(_backslash, text).translate(_VISIBLE)
    if not unicodedata.is_normalized("NFC", shown):
        # Two spellings of one letter look alike; write the loose mark out.
        shown = "".join(
            _escape(ord(c)) if unicodedata.combining(c) else c for c in shown
        )
    return shown


def _backslash(_: re.Match[str]) -> str:
    return _escape(ord("\\"))


def name(text: str) -> str:
    r"""Write a name so that no two names look alike, on one line.

    Blanks that a table or a browser would drop are written out.

    >>> print(name(" a  b"), name(""))
    \u0020a \u0020b (empty name)
    """
    shown = visible(text)
    if "  " in shown or shown[:1] == " " or shown[-1:] == " ":
        shown = _LOST_SPACE.sub(lambda _: _escape(ord(" ")), shown)
    return shown or EMPTY_NAME


def sentence(text: str, limit: int | None = None) -> str:
    """Write a reason or a note on one line, cut to ``limit`` characters."""
    shown = visible(" ".join(text.split()))
    if limit is not None and len(shown) > limit:
        return shown[: limit - 1].rstrip() + "…"
    return shown


def value(number: float | None, unit: Unit) -> str:
    """Write a value with its own unit, an exact one with all its digits.

    >>> value(3.751e-05, SECONDS), value(4.777e-07, SECONDS)
    ('37.51 µs', '477.7 ns')
    >>> value(9_600_000, BYTES), value(None, SECONDS)
    ('9.16 MiB', '—')
    """
    if number is None or not math.isfinite(number):
        return ABSENT
    sign = "-" if number < 0 else ""
    number = abs(float(number))
    if unit.name == SECONDS.name:
        return sign + _seconds(number)
    if unit.is_exact:
        amount = _all_digits(number)
        suffix = "B" if unit.name == BYTES.name else unit.name
    elif unit.name == BYTES.name:
        return sign + _bytes(number)
    else:
        amount, suffix = _plain(number), unit.name
    suffix = "" if suffix.lower() in _BARE else sentence(suffix, 40)
    return f"{sign}{amount} {suffix}".rstrip()


def _seconds(number: float) -> str:
    """Choose the unit; a figure that rounds up to 1000 moves to the next one."""
    if number >= _HUGE:
        return f"{number:.3g} s"
    for place, (size, unit) in enumerate(_TIME):
        if number < size and unit != "ns":
            continue
        scaled = number / size
        if unit == "ns" and 0 < scaled < 0.05:  # noqa: PLR2004 - would print as 0
            return f"{scaled:.2g} ns"
        figure = f"{scaled:.1f}" if unit == "ns" else f"{scaled:.2f}"
        if unit != "s" and float(figure) >= 1000:  # noqa: PLR2004
            return f"1.00 {_TIME[place - 1][1]}"
        return f"{figure} {unit}"
    raise AssertionError("the last unit takes everything")


def _bytes(number: float) -> str:
    if number >= _HUGE * _SIZE[0][0]:
        return f"{number:.3g} B"
    for place, (size, unit) in enumerate(_SIZE):
        if number >= size:
            figure = f"{number / size:.2f}"
            if place and float(figure) >= 1024:  # noqa: PLR2004
                return f"1.00 {_SIZE[place - 1][1]}"
            return f"{figure} {unit}"
    return f"{number:.0f} B" if number.is_integer() else f"{number:.1f} B"


def memory(size: int) -> str:
    """Write the size of a machine's memory in GiB.

    >>> memory(8 * 2**30)
    '8.0 GiB memory'
    """
    return f"{size / 2**30:.1f} GiB memory" if size > 0 else "memory not known"


def _plain(number: float) -> str:
    if number.is_integer() and number < _HUGE:
        return f"{number:,.0f}"
    if 1000 <= number < _HUGE:  # noqa: PLR2004
        return f"{number:,.1f}"
    return f"{number:.4g}"


def _all_digits(number: float) -> str:
    if number.is_integer() and number <= _EXACT_INTEGER:
        return f"{number:,.0f}"
    return repr(number)


def change(fraction: float | None, *, is_exact: bool = False) -> str:
    """Write a relative change; an exact one is never rounded to nothing.

    >>> change(0.49), change(-0.0004), change(None)
    ('+49.0%', '+0.0%', '—')
    >>> change(1e-7, is_exact=True)
    '+0.00001%'
    """
    if fraction is None or not math.isfinite(fraction):
        return ABSENT
    percent = fraction * 100
    if not math.isfinite(percent):
        return ABSENT
    if abs(percent) >= _HUGE:
        return f"{percent:+.3g}%"
    if is_exact and 0 < abs(percent) < 0.05:  # noqa: PLR2004
        digits = min(-math.floor(math.log10(abs(percent))), 15)
        return f"{percent:+.{digits}f}%"
    figure = f"{percent:+.1f}"
    return "+0.0%" if figure == "-0.0" else f"{figure}%"


def size(fraction: float | None) -> str:
    """Write a size without a sign: 0.05 is ``5%``, 0.0333 is ``3.3%``.

    >>> size(0.05), size(0.0333), size(1e-4)
    ('5%', '3.3%', '0.01%')
    """
    if fraction is None or not math.isfinite(fraction * 100):
        return ABSENT
    percent = fraction * 100
    if abs(percent) >= _HUGE or 0 < abs(percent) < 0.05:  # noqa: PLR2004
        return f"{percent:.3g}%"
    return f"{percent:.1f}".removesuffix(".0") + "%"


def duration(seconds: float) -> str:
    """Write how long something took, to the second.

    >>> duration(754), duration(8.2)
    ('12 min 34 s', '8 s')
    """
    if not 0 <= seconds < _HUGE:
        return ABSENT
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def many(number: int, noun: str) -> str:
    """Write a count with its noun.

    >>> many(1, "scenario"), many(1200, "launch")
    ('1 scenario', '1,200 launches')
    """
    if number != 1:
        noun += "es" if noun.endswith("ch") else "s"
    return f"{number:,} {noun}"


def shas(base: Commit, head: Commit) -> tuple[str, str]:
    """Shorten two commits as far as they can still be told apart."""
    short = base.sha[:_SHORT_SHA], head.sha[:_SHORT_SHA]
    is_told_apart = short[0] != short[1] or base.sha == head.sha
    return short if is_told_apart else (base.sha, head.sha)
