"""A report as the comment on a pull request and as text in a terminal.

The only place where a verdict becomes text. Data is shaped here and in the
neighbours it imports, the template only lays out. Refuses to judge: a verdict
is taken as it stands in the report.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import jinja2

from ci import cells, footnotes, terminal, text, wording
from ci.markdown import Markdown, code, prose, table_line
from ci.model import BYTES, SECONDS, Report, Row, Unit, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LIMIT: Final = 65_536
"""GitHub refuses a longer comment (422). Counted here in bytes of UTF-8, which
are at least as many as characters or UTF-16 units."""

MARKER: Final = Markdown("<!-- benchgate -->")
"""The first line, by which the comment is found again."""

ONE_TABLE: Final = 60
"""Up to so many rows stand in one open table; beyond, quiet rows are folded."""

OPEN: Final = 12
"""Up to so many explanations are open from the start."""

_QUIET: Final = frozenset({Verdict.IMPROVED, Verdict.UNCHANGED})
_SLACK: Final = 600
_NOTES_ROOM: Final = 8_000
_METHOD_ROOM: Final = 12_000

# What gets room first. A cut never takes a row while a lesser one stays.
_MAIN, _EVIDENCE = "main", "evidence"
_ORDER: Final = (
    (Verdict.CONTAMINATED, (_MAIN,)),
    (Verdict.ALERT, (_MAIN,)),
    (Verdict.FAILED, (_MAIN, _EVIDENCE)),
    (Verdict.WARN, (_MAIN,)),
    (Verdict.INCONCLUSIVE, (_MAIN, _EVIDENCE)),
    (Verdict.REMOVED, (_MAIN, _EVIDENCE)),
    (Verdict.ADDED, (_MAIN, _EVIDENCE)),
    (Verdict.ALERT, (_EVIDENCE,)),
    (Verdict.WARN, (_EVIDENCE,)),
    (Verdict.IMPROVED, (_MAIN,)),
    (Verdict.UNCHANGED, (_MAIN,)),
    (Verdict.CONTAMINATED, (_EVIDENCE,)),
    (Verdict.IMPROVED, (_EVIDENCE,)),
    (Verdict.UNCHANGED, (_EVIDENCE,)),
)


@dataclass(slots=True, kw_only=True)
class _Kept:
    """The table lines that found room, by their place in the report."""

    main: dict[int, Markdown] = field(default_factory=dict)
    evidence: dict[int, Markdown] = field(default_factory=dict)


def render_comment(report: Report) -> str:
    """Return the comment as Markdown, at most `LIMIT` long, worst rows kept."""
    frame = _frame(report)
    empty = _fill(frame, report, _Kept())
    kept = _fit(report.rows, LIMIT - _SLACK - _bytes(empty))
    return _fill(frame, report, kept)


def render_terminal(report: Report, *, width: int, is_color: bool) -> str:
    """Return the same for a terminal of ``width`` cells, with every row."""
    return terminal.lay_out(report, width=width, is_color=is_color)


def _frame(report: Report) -> dict[str, object]:
    """Shape everything around the tables, which is bounded on its own."""
    is_short = wording.is_green(report)
    notes, notes_left = _some((prose(note) for note in report.notes), _NOTES_ROOM)
    method, method_left = _some(
        map(Markdown, footnotes.method(report, code)), _METHOD_ROOM
    )
    if method_left:
        method.append(Markdown(f"and {text.many(method_left, 'more fact')}"))
    attention = [] if is_short else wording.attention(report, code)
    return {
        "marker": MARKER,
        "headline": Markdown(wording.headline(report)),
        "summary": Markdown(wording.summary(report, code)),
        "attention": Markdown(" ".join(attention)),
        "notes": notes,
        "notes_cut": _left(notes_left, "more note"),
        "is_short": is_short,
        "columns": table_line(cells.COLUMNS),
        "evidence_columns": table_line(cells.EVIDENCE_COLUMNS),
        "method": method,
        "blind_spots": [Markdown(spot) for spot in footnotes.blind_spots(report)],
        "next_steps": [Markdown(s) for s in footnotes.next_steps(report, code)],
    }


def _fill(frame: dict[str, object], report: Report, kept: _Kept) -> str:
    """Lay the tables out in the order of the report and say what was left out."""
    rows = report.rows
    visible, folded = _split(rows, sorted(kept.main), is_short=bool(frame["is_short"]))
    cut = [row for place, row in enumerate(rows) if place not in kept.main]
    silent = sum(
        cells.has_evidence(row) and place not in kept.evidence
        for place, row in enumerate(rows)
    )
    return _template().render(
        frame,
        visible=[kept.main[place] for place in visible],
        folded=[kept.main[place] for place in folded],
        folded_title=Markdown(f"{text.many(len(folded), 'more scenario')}"),
        cut=_cut(cut),
        evidence=_evidence(rows, kept),
        evidence_cut=_left(silent, "more row"),
    )


def _evidence(rows: tuple[Row, ...], kept: _Kept) -> list[dict[str, object]]:
    """Part what rows rest on: those with something to explain, and the others."""
    loud: list[Markdown] = []
    quiet: list[Markdown] = []
    for place in sorted(kept.evidence):
        is_quiet = rows[place].verdict in _QUIET
        (quiet if is_quiet else loud).append(kept.evidence[place])
    return [
        {
            "title": Markdown(title),
            "opening": Markdown(" open" if lines is loud and len(loud) <= OPEN else ""),
            "lines": lines,
        }
        for title, lines in (
            ("What these verdicts rest on", loud),
            ("What the quiet rows rest on", quiet),
        )
        if lines
    ]


def _split(
    rows: tuple[Row, ...], places: list[int], *, is_short: bool
) -> tuple[list[int], list[int]]:
    """Part a long table after its last row that needs attention."""
    if is_short or len(places) <= ONE_TABLE:
        return places, []
    last = max(
        (n for n, p in enumerate(places) if rows[p].verdict in wording.ATTENTION),
        default=-1,
    )
    return places[: last + 1], places[last + 1 :]


def _fit(rows: tuple[Row, ...], room: int) -> _Kept:
    """Give out ``room`` bytes in `_ORDER`, and stop at the first refusal."""
    kept = _Kept()
    places: dict[Verdict, list[int]] = {verdict: [] for verdict in Verdict}
    for place, row in enumerate(rows):
        places[row.verdict].append(place)
    for verdict, parts in _ORDER:
        for place in places[verdict]:
            lines = list(_lines(rows[place], parts))
            room -= sum(_bytes(line) + 1 for _, line in lines)
            if room < 0:
                return kept
            for part, line in lines:
                (kept.main if part == _MAIN else kept.evidence)[place] = line
    return kept


def _lines(row: Row, parts: tuple[str, ...]) -> Iterator[tuple[str, Markdown]]:
    if _MAIN in parts:
        base, head, change = cells.values(row)
        mark = wording.MARKS[row.verdict]
        shown = code(row.scenario), _value(base, row.unit), _value(head, row.unit)
        yield _MAIN, table_line((mark, *shown, change))
    if _EVIDENCE in parts and cells.has_evidence(row):
        said = cells.evidence(row)
        numbers = said.interval, said.resolution, said.sizes, said.launches
        yield (
            _EVIDENCE,
            table_line((code(row.scenario), *numbers, prose(said.why) or text.ABSENT)),
        )


def _value(shown: str, unit: Unit) -> Markdown:
    is_ours = unit.name in {SECONDS.name, BYTES.name}
    return Markdown(shown) if is_ours else prose(shown)


def _cut(rows: list[Row]) -> Markdown:
    if not rows:
        return Markdown()
    many = text.many(len(rows), "scenario")
    return Markdown(
        f"**{many} more, left out because a comment is limited in length: "
        f"{wording.counts(rows)}.** The report document holds them all."
    )


def _left(number: int, noun: str) -> Markdown:
    if not number:
        return Markdown()
    return Markdown(f"and {text.many(number, noun)}, in the report document")


def _some(items: Iterable[Markdown], room: int) -> tuple[list[Markdown], int]:
    """Take items while there is room; return them and how many were left."""
    taken, left = [], 0
    for item in items:
        room -= _bytes(item) + 3
        if room < 0:
            left += 1
        else:
            taken.append(item)
    return taken, left


def _bytes(markdown: str) -> int:
    return len(markdown.encode())


def _only_inert(value: object) -> object:
    """Refuse text that went through no filter (called for each value printed)."""
    if isinstance(value, str) and not isinstance(value, Markdown) and value.strip():
        raise TypeError(f"not made inert before the template: {value[:40]!r}")
    return value


@cache
def _template() -> jinja2.Template:
    here = Path(__file__).parent
    environment = jinja2.Environment(
        # A wheel carries the templates inside the package, a checkout beside it.
        loader=jinja2.FileSystemLoader([here / "templates", here.parent / "templates"]),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 - Markdown, not HTML: see _only_inert
        finalize=_only_inert,
        keep_trailing_newline=True,
    )
    return environment.get_template("comment.md.j2")
