"""What stands below the table: method, sizes, blind spots, what to do now.

Computed from the report, so that a report never claims what its kind cannot
see. Foreign text goes through ``quote``, as in `ci.wording`.
"""

from __future__ import annotations

import re
import shlex
from typing import Final

from ci import text
from ci.model import Report, Row, Verdict
from ci.wording import ATTENTION, MARKS, Quote, doubt, is_shared_failure

_GPU: Final = re.compile("cuda|gpu", re.IGNORECASE)
_SHA: Final = re.compile("[0-9a-f]{7,64}")
_REGEX_SPECIAL: Final = re.compile(r"[\\.^$*+?{}\[\]|()]")


def legend(report: Report) -> str:
    """Say which sizes the marks stand for, and where they came from."""
    policy = report.policy
    mark = MARKS
    if report.method == "single":
        source = "fixed policy, uncalibrated"
        if "uncalibrated" not in doubt(report):
            source = "policy, raised to what the noise profile asks for"
        return (
            f"{mark[Verdict.WARN]} worse by {text.size(policy.single_warn)} or more, "
            f"{mark[Verdict.ALERT]} by {text.size(policy.single_alert)} or more, "
            f"{mark[Verdict.IMPROVED]} better by {text.size(policy.single_warn)} or "
            f"more. Sizes are {source}. Exact metrics: any difference."
        )
    raised = sum(
        row.thresholds is not None and row.thresholds.source == "runner"
        for row in report.rows
    )
    source = "policy" + (
        f", raised for {text.many(raised, 'scenario')} to what this run can resolve"
        if raised
        else ""
    )
    return (
        f"{mark[Verdict.WARN]} worse by {text.size(policy.warn)} or more, confirmed; "
        f"{mark[Verdict.ALERT]} by {text.size(policy.alert)} or more, confirmed; "
        f"{mark[Verdict.UNCHANGED]} a slowdown of {text.size(policy.gate)} is ruled "
        f"out. Sizes are {source}. Exact metrics: any difference."
    )


def method(report: Report, quote: Quote) -> list[str]:
    """Say how the numbers were taken, of what, and where."""
    lines = []
    if report.method == "single":
        lines.append(f"Two result sets of {quote(report.tool)}, one per side.")
    else:
        control = ", and a second copy of the base as control" * bool(
            report.control_values
        )
        lines.append(
            f"{text.many(report.launches, 'launch')} of base and PR taking turns"
            f"{control}, by {quote(report.tool)}, in {text.duration(report.seconds)}."
        )
    lines.append(f"Change is PR / base - 1. {legend(report)}")
    if report.noise_source and "uncalibrated" not in report.noise_source:
        lines.append(f"Noise known from: {quote(report.noise_source)}")
    for side, commit in (("Base", report.base), ("PR", report.head)):
        if commit is not None:
            said = [commit.sha, commit.asked, commit.date, commit.subject]
            lines.append(f"{side}: {', '.join(quote(part) for part in said if part)}")
    if report.host is not None:
        host = report.host
        system = f"{host.system} {host.release} {host.machine}"
        load = " / ".join(f"{part:.2f}" for part in host.load) or "not known"
        lines.append(
            f"Host: {quote(host.cpu_model)}, {text.many(host.cpus, 'CPU')}, "
            f"{text.memory(host.memory_bytes)}, {quote(system)}, "
            f"Python {quote(host.python)}, load average {load}"
        )
    lines += [f"{quote(key)}: {quote(fact)}" for key, fact in report.facts.items()]
    return lines


def blind_spots(report: Report) -> list[str]:
    """Say what a report of this kind cannot see, from what it is made of."""
    spots = ["Code that no scenario here runs."]
    if any(not row.unit.is_exact for row in report.rows):
        spots += _noise_spots(report)
    failed = sum(row.verdict is Verdict.FAILED for row in report.rows)
    if failed:
        spots.append(
            f"Anything about the {text.many(failed, 'scenario')} marked "
            f"{MARKS[Verdict.FAILED]}: there is no value to compare."
        )
    gpu = [row for row in report.rows if _GPU.search(row.scenario)]
    if not gpu:
        spots.append("Changes that show only on a GPU: no scenario names one.")
    elif missing := sum(row.head is None for row in gpu):
        spots.append(f"{text.many(missing, 'GPU scenario')} without a value here.")
    spots.append("Other machines: these numbers are from one host.")
    return spots


def _noise_spots(report: Report) -> list[str]:
    size = text.size(
        report.policy.single_warn if report.method == "single" else report.policy.gate
    )
    spots = [f"Changes below {size} in one scenario, and their sum over many changes."]
    if report.method == "single":
        once = "each side was measured once, and a busy machine, warm-up and the order"
        return [
            *spots,
            f"Whether a flag is real: {once} of the sides look like changes.",
        ]
    spots.append("What all launches share: one build per side, with its code layout.")
    undecided = sum(_is_undecided(r) and r.resolution is not None for r in report.rows)
    if undecided:
        spots.append(
            f"For {text.many(undecided, 'scenario')} even more than that: see the "
            "smallest change that could have been told."
        )
    return spots


def next_steps(report: Report, quote: Quote) -> list[str]:
    """Say what a reader can do now, with commands that can be pasted."""
    steps = []
    if report.overall is Verdict.CONTAMINATED:
        return ["Run the job again when the machine is quiet."]
    if not report.compared:
        steps.append("Check that both sides were measured by the same suite.")
    if report.method == "single":
        steps.append("Measure both sides again, taking turns, before acting on a flag.")
        return steps
    open_rows = [row for row in report.rows if row.verdict in ATTENTION]
    target = next((row for row in open_rows if not is_shared_failure(row)), None)
    if target is not None:
        pattern = shlex.quote(f"^{regex(target.scenario)}$")
        command = f"python -m ci.run{_sides(report)} --benchmarks {pattern}"
        steps.append(f"Measure one scenario again: {quote(command)}")
        steps.append(f"Then read it: {quote('python -m ci.compare run.json')}")
    if any(row.resolution is not None for row in open_rows if _is_undecided(row)):
        more = f"--launches {2 * max(report.launches, 4)}"
        steps.append(f"To tell smaller changes, measure more: {quote(more)}")
    steps.append("Run the job again to measure everything afresh.")
    return steps


def _sides(report: Report) -> str:
    """Name both commits where a plain command would measure two others."""
    if report.relation != "given" or report.base is None or report.head is None:
        return ""
    base, head = text.shas(report.base, report.head)
    if not (_SHA.fullmatch(base) and _SHA.fullmatch(head)):
        return ""
    return f" --base {base} --head {head}" + " --allow-same" * (base == head)


def _is_undecided(row: Row) -> bool:
    return row.verdict is Verdict.INCONCLUSIVE


def regex(scenario: str) -> str:
    r"""Return a pattern for one name that can be pasted anywhere.

    Characters that a shell, a terminal or Markdown could mistake become a dot.

    >>> print(regex("a.time_b(8, 'f32')"))
    a\.time_b\(8, .f32.\)
    """
    safe = "".join(
        c if c.isascii() and c.isprintable() and c not in "'`" else "."
        for c in scenario
    )
    kept = iter(scenario)
    return "".join(
        "\\" + c if c == original and _REGEX_SPECIAL.match(c) else c
        for c, original in zip(safe, kept, strict=True)
    )
