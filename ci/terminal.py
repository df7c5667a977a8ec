"""A report as lines for a terminal, aligned by what each character occupies.

Laid out by hand, because `rich.table` takes seconds for ten thousand rows; the
widths and the colors are rich's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.style import Style

from ci import cells, footnotes, text, wording
from ci.model import Report, Row, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

_GAP: Final = "  "
_LEAST_NAME: Final = 16
"""Narrower than this a name is not folded; the line then runs over."""

_STYLES: Final = {
    Verdict.ALERT: Style(color="red", bold=True),
    Verdict.FAILED: Style(color="red"),
    Verdict.WARN: Style(color="yellow"),
    Verdict.IMPROVED: Style(color="green"),
    Verdict.INCONCLUSIVE: Style(color="cyan"),
    Verdict.CONTAMINATED: Style(color="magenta"),
}


def lay_out(report: Report, *, width: int, is_color: bool) -> str:
    """Return the table, the notes and, last because it stays in sight, the result."""
    headline = wording.headline(report)
    if is_color:
        headline = _paint(headline, Style(bold=True))
    blocks = [
        _table(report.rows, width, is_color=is_color),
        [f"Note: {text.sentence(note)}" for note in report.notes],
        footnotes.method(report, text.name),
        ["What this cannot catch:", *_listed(footnotes.blind_spots(report))],
        ["What to do next:", *_listed(footnotes.next_steps(report, text.name))],
        [
            headline,
            wording.summary(report, text.name),
            *wording.attention(report, text.name),
        ],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _listed(lines: list[str]) -> list[str]:
    return [f"- {line}" for line in lines]


def _table(rows: tuple[Row, ...], width: int, *, is_color: bool) -> list[str]:
    names = [text.name(row.scenario) for row in rows]
    figures = [cells.values(row) for row in rows]
    heads = cells.COLUMNS
    widths = [
        max([cell_len(heads[2 + n]), *(cell_len(cell[n]) for cell in figures)])
        for n in range(3)
    ]
    mark_width = cell_len(heads[0])
    name_width = max([cell_len(heads[1]), *map(cell_len, names)])
    others = mark_width + sum(widths) + len(_GAP) * 4
    name_width = min(name_width, max(width - others, _LEAST_NAME))
    header = [
        heads[0],
        _left(heads[1], name_width),
        *(_right(head, size) for head, size in zip(heads[2:], widths, strict=True)),
    ]
    lines = [_GAP.join(header), "─" * (others + name_width)]
    indent = " " * (mark_width + len(_GAP))
    for row, name, figure in zip(rows, names, figures, strict=True):
        first, *rest = _fold(name, name_width)
        mark = _left(wording.MARKS[row.verdict], mark_width)
        right = [_right(c, size) for c, size in zip(figure, widths, strict=True)]
        style = _STYLES.get(row.verdict) if is_color else None
        if style is not None:
            right[-1] = _paint(right[-1], style)
        lines.append(_GAP.join((mark, _left(first, name_width), *right)))
        lines += [indent + part for part in rest]
        lines += [f"{indent}  {line}" for line in _why(row)]
    return lines


def _why(row: Row) -> Iterator[str]:
    """Explain, in at most one line, a row that cannot stand without a word."""
    said = cells.evidence(row)
    parts = []
    if row.verdict is Verdict.INCONCLUSIVE and row.resolution is not None:
        parts.append(f"could have told {said.resolution} or more")
    is_flag = row.verdict in {Verdict.ALERT, Verdict.WARN}
    if is_flag and row.thresholds is not None and row.thresholds.source == "runner":
        parts.append(f"flagged from {said.sizes}")
    if said.why:
        parts.append(text.sentence(said.why))
    if parts:
        yield "; ".join(parts)


def _fold(name: str, width: int) -> list[str]:
    """Break a name into parts of at most ``width`` cells, losing nothing."""
    if cell_len(name) <= width:
        return [name]
    parts, part, used = [], "", 0
    for character in name:
        size = cell_len(character)
        if used + size > width:
            parts.append(part)
            part, used = "", 0
        part += character
        used += size
    return [*parts, part]


def _left(cell: str, width: int) -> str:
    return cell + " " * (width - cell_len(cell))


def _right(cell: str, width: int) -> str:
    return " " * (width - cell_len(cell)) + cell


def _paint(cell: str, style: Style) -> str:
    return style.render(cell, color_system=ColorSystem.STANDARD)
