"""What entries add up to (CONSENT §audit-5), counted a second time by hand."""

from typing import Any

import pytest

from consentry.base.clock import Instant
from consentry.record.auditfields import ExecutionStatus
from consentry.record.report import GROUPS, Period, Tally
from consentry.surface.lattice import Surface
from consentry.surface.wire import surface_to_json
from tests.record.reportsamples import DAY, END, PERIOD, START, counted, entry

REFUSED = {"consentGiven": False, "consentTimestamp": None}
SHADOW = {"operation": "read", "resource": "/etc/shadow", "rule": "never", "times": 3}


def test_every_part_sums_up_to_all_runs() -> None:
    """Statuses, steps, levels and methods each count every run once."""
    runs = [entry(n, execution={"status": s.value}) for n, s in enumerate(ExecutionStatus)]
    runs += [entry(9, user=REFUSED), entry(9, user={"level": "strict"})]
    report = counted(runs)
    assert report.runs == len(runs) == sum(report.statuses.values())
    assert sum(each.total for each in report.over_time) == report.runs
    assert sum(each.total for each in report.levels) == report.runs
    assert sum(each.total for each in report.methods) == report.runs
    assert {status for each in GROUPS.values() for status in each} == set(ExecutionStatus)


def test_runs_stand_in_the_step_they_were_recorded_in() -> None:
    """Steps are whole days in UTC, from the first to the last, empty ones included."""
    report = counted([entry(0), entry(0), entry(7, execution={"status": "limit"})])
    assert len(report.over_time) == 30
    assert report.over_time[0].counts == {"success": 2}
    assert report.over_time[7].counts == {"stopped": 1}
    assert report.over_time[8].total == 0
    assert report.over_time[0].start == START


@pytest.mark.parametrize(
    ("days", "step"),
    [(1, 1 / 24), (4, 1 / 24), (30, 1), (99, 1), (400, 7), (2000, 28), (9999, 364)],
)
def test_a_chart_has_at_most_a_hundred_steps(days: int, step: float) -> None:
    """Hours for some days, days for some months, and so on."""
    period = Period(START, Instant(START.unix_ms + days * DAY), END)
    assert period.width_ms == step * DAY
    assert len(period.steps()) <= 101


def test_decisions_are_counted_by_level_and_method() -> None:
    """Yes and no apart; a command line has no level, and an early refusal does not know it."""
    own = {"consentMethod": "command_line"}
    runs = [
        entry(user={"level": "strict", "consentMethod": "strict_approval"}),
        entry(user={**REFUSED, "level": "strict", "consentMethod": "strict_approval"}),
        entry(user=own),
        entry(user=REFUSED),
    ]
    report = counted(runs)
    levels = [(each.word, each.given, each.refused) for each in report.levels]
    assert levels == [("strict", 1, 1), ("own line", 1, 0), ("not known", 0, 1)]
    methods = [(each.word, each.given, each.refused) for each in report.methods]
    assert methods == [
        ("explicit_approval", 0, 1),
        ("strict_approval", 1, 1),
        ("command_line", 1, 0),
    ]


def test_violations_are_counted_by_kind_in_attempts_and_runs() -> None:
    """Three attempts in one run are three attempts in one run."""
    write = {"operation": "write", "resource": "x", "rule": "r"}
    runs = [
        entry(sandbox={"violations": [SHADOW, {**SHADOW, "resource": "/etc/passwd"}]}),
        entry(sandbox={"violations": [write], "violationsComplete": False}),
        entry(),
    ]
    report = counted(runs)
    found = [(each.operation, each.times, each.runs) for each in report.violations]
    assert found == [("read", 6, 1), ("write", 1, 1)]
    assert (report.runs_with_violations, report.runs_incomplete) == (2, 1)


def test_entries_past_their_time_are_left_out_and_counted() -> None:
    """CONSENT §manifest-6: by the `retainLogs` of each tool, seen from now; nonsense counts as none."""
    old = {"name": "a", "version": "1"}
    runs = [
        entry(0, tool={**old, "auditConfig": {"retainLogs": "20d", "includeInReport": True}}),
        entry(20, tool={**old, "auditConfig": {"retainLogs": "20d", "includeInReport": True}}),
        entry(0, tool={**old, "auditConfig": {"retainLogs": "soon", "includeInReport": True}}),
        entry(0),
    ]
    report = counted(runs)
    assert (report.runs, report.past_retention) == (3, 1)


def test_only_what_its_tool_wants_is_listed() -> None:
    """CONSENT §manifest-6: `includeInReport` decides about the list, and not about the counts."""
    hidden = {"auditConfig": {"includeInReport": False}}
    line = entry()
    del line["tool"]["auditConfig"]
    report = counted([entry(), entry(tool=hidden), line])
    assert (report.runs, report.listed, report.unlisted) == (3, 1, 2)


def test_the_slowest_come_first_by_their_median() -> None:
    """One slow run does not make a tool slow; a run that did not begin took no time."""

    def took(name: str, *spans: int) -> list[dict[str, Any]]:
        start = str(START)
        return [
            entry(
                tool={"name": name},
                execution={"startTime": start, "endTime": str(Instant(START.unix_ms + each))},
            )
            for each in spans
        ]

    refused = entry(tool={"name": "c"}, execution={"startTime": None, "endTime": None})
    report = counted([*took("a", 10, 20, 9000), *took("b", 100, 200, 300), refused])
    rows = [(e.tool, e.runs, e.median_ms, e.slowest_ms) for e in report.slowest]
    assert rows == [("b", 3, 200, 300), ("a", 3, 20, 9000)]


def test_one_tool_can_be_asked_for() -> None:
    """Others do not count, not even as left out."""
    period = Period(START, END, END, "lint")
    runs = [entry(tool={"name": "lint"}), entry(tool={"name": "build"})]
    assert counted(runs, period).runs == 1


def test_granted_is_held_against_used() -> None:
    """A pattern is used by a file it matches, a program by its start, a host by a connection."""
    surface = Surface.of(
        read=["latex/**/*.tex", "latex/**/*.bib", "/opt/x/", "~/fonts/*"],
        write=["out/*.pdf", "out/*.log"],
        run=["pdflatex", "bibtex"],
        net=["example.org:443", "*.example.net:443"],
        env=["HOME", "TEXINPUTS"],
    )
    run = entry(
        impact={
            "filesRead": [{"path": "latex/a.tex"}, {"path": "/home/x/fonts/f"}],
            "filesWritten": [{"path": "out/a.pdf"}],
        },
        sandbox={
            "programs": [{"path": "/usr/bin/pdftex", "arguments": ["pdflatex"], "times": 1}],
            "network": [
                {"host": "a.example.net", "port": 443, "allowed": True},
                {"host": "example.org", "port": 443, "allowed": False},
            ],
            "environment": ["HOME"],
        },
    )
    tally = Tally(PERIOD)
    tally.add(run, surface_to_json(surface))
    (tool,) = tally.finished().powers
    unused = {use.power.value: use.unused for use in tool.uses}
    assert unused == {
        "files to read": ("/opt/x/", "latex/**/*.bib"),
        "files to write": ("out/*.log",),
        "programs to start": ("bibtex",),
        "hosts to reach": ("example.org:443",),
        "environment": ("TEXINPUTS",),
    }
    assert [use.used for use in tool.uses] == [2, 1, 1, 1, 1]


@pytest.mark.parametrize(
    "blind",
    [{"filesReadSeen": False}, {"filesReadUnlisted": 3}],
)
def test_a_run_that_was_not_watched_is_not_judged(blind: dict[str, Any]) -> None:
    """That nothing was seen says nothing where nobody looked."""
    tally = Tally(PERIOD)
    tally.add(entry(impact=blind), surface_to_json(Surface.of(read=["a"])))
    (tool,) = tally.finished().powers
    assert (tool.judged, tool.not_judged) == (0, 1)


def test_nothing_is_a_report_too() -> None:
    """Without a single run there are steps without runs, and nothing else."""
    report = counted([])
    assert (report.runs, report.listed, report.statuses) == (0, 0, {})
    assert {each.total for each in report.over_time} == {0}
