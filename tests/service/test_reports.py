"""Reports from a real ledger: what is counted, what is listed, and how much is held."""

import tracemalloc
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from consentry.base.clock import Instant, SystemClock
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, LedgerProblem
from consentry.base.ids import Uuid7Ids
from consentry.declare.tool import ConsentLevel
from consentry.record.auditfields import ConsentMethod
from consentry.record.events import EventType
from consentry.record.report import Report
from consentry.record.reporthtml import report_page
from consentry.service.ledgers import ledger_for_reading, ledger_for_writing, ledger_place
from consentry.service.rehearsals import commit_run, discard_run
from consentry.service.reports import ReportSource, asked_period
from consentry.service.surroundings import Surroundings
from consentry.service.takeover import Arrival
from tests.record.payloads import sample_draft
from tests.record.samples import CONTEXT
from tests.service.conftest import MakeAround
from tests.service.rehearsing import Workshop
from tests.service.toolplaces import PATH, OwnPlace, explicitly

CLOCK = SystemClock()


def source(around: Surroundings, **asked: Any) -> ReportSource:
    """A report of the last month, unless it is asked for otherwise."""
    words = {"since": None, "start": None, "end": None, "tool": None, **asked}
    return ReportSource(ledger_for_reading(around), asked_period(CLOCK, **words))


def counted(around: Surroundings, **asked: Any) -> Report:
    """Its counts."""
    found = source(around, **asked)
    report = found.counted()
    if found.history is not None:
        found.history.database.close()
    return report


@pytest.fixture
def place(around: MakeAround, project: Any) -> OwnPlace:
    """A user with tools of the user's own."""
    made = OwnPlace(around(environ=PATH), project)
    (project / "in").mkdir()
    (project / "in/a.txt").write_text("a\n")
    return made


def shell(place: OwnPlace, name: str, script: str, **audit: Any) -> None:
    """A tool that runs a line of shell, and may read some of the workspace."""
    needs = [{"pattern": each, "purpose": "to read"} for each in ("in/*.txt", "in/*.log")]
    cat = {"command": "cat", "arguments": [], "purpose": "to look"}
    place.tool(
        name,
        fileRead=needs,
        processExecution=[cat],
        entrypoint={"command": "sh", "arguments": ["-c", script]},
        auditConfig=audit,
    )


def test_a_report_counts_what_the_ledger_holds(place: OwnPlace) -> None:
    """CONSENT §audit-5: real runs of tools, by level and method, with what was refused and used."""
    shell(place, "reads", "cat in/a.txt")
    shell(place, "steals", "cat /etc/shadow in/a.txt; :")
    shell(place, "fails", "exit 3")
    place.run("reads")
    place.run("steals")
    with pytest.raises(ConsentryError):
        place.run("reads", decide=_gone)
    place.run("fails", decide=_strictly)
    entries = place.entries()
    report = counted(place.around)
    assert report.runs == len(entries)
    statuses = [each["execution"]["status"] for each in entries]
    assert dict(report.statuses) == {each: statuses.count(each) for each in set(statuses)}
    assert sum(each.total for each in report.over_time) == len(entries)
    levels = {each.word: each.total for each in report.levels}
    assert levels == {"explicit": 2, "strict": 1, "not known": 1}
    attempts = [each for entry in entries for each in entry["sandbox"]["violations"]]
    assert [each.operation for each in report.violations] == ["read"]
    assert report.violations[0].times == sum(each["times"] for each in attempts)
    powers = {
        each.tool: {use.power.value: use.unused for use in each.uses} for each in report.powers
    }
    assert powers["reads"]["files to read"] == ("in/*.log",)
    assert powers["fails"]["programs to start"] == ("cat",)


def _strictly(bound: Any, journal: Any) -> Any:
    return replace(
        explicitly(bound, journal),
        method=ConsentMethod.STRICT_APPROVAL,
        level=ConsentLevel.STRICT,
    )


def _gone(bound: Any, journal: Any) -> Any:
    """A decision about bytes that are others by now."""
    tool = replace(bound.facts, digest="sha256:" + "0" * 64)
    return replace(explicitly(bound, journal), tool=tool)


def test_what_became_of_an_effect_is_counted(around: MakeAround, project: Any) -> None:
    """A rehearsal that was committed ended well; one that was thrown away is discarded."""
    shop = Workshop(around(environ=PATH), project)
    runs = [shop.run(f"echo {name} > {name}", Arrival.WHEN_COMMITTED) for name in "ab"]
    with shop.place() as opened:
        commit_run(opened, runs[0].audit_id)
        discard_run(opened, runs[1].audit_id)
    assert dict(counted(shop.around).statuses) == {"success": 1, "discarded": 1}


def test_the_settings_of_a_tool_are_honoured(place: OwnPlace) -> None:
    """CONSENT §manifest-6: not listed where it says so, no files at the lowest level, gone in time."""
    shell(place, "hidden", "cat in/a.txt", includeInReport=False)
    shell(place, "quiet", "cat in/*.txt", logLevel="minimal")
    shell(place, "short", "cat in/a.txt", retainLogs="1ms")
    shell(place, "usual", "cat in/a.txt")
    for name in ("hidden", "quiet", "short", "usual"):
        place.run(name)
    found = source(place.around)
    report = found.counted()
    assert (report.runs, report.listed, report.past_retention) == (3, 2, 1)
    listed = {each["tool"]["name"]: each for each in found.listed()}
    assert set(listed) == {"quiet", "usual"}
    assert listed["quiet"]["impact"]["filesRead"] == []
    assert [each["path"] for each in listed["usual"]["impact"]["filesRead"]] == ["in/a.txt"]
    assert "in/a.txt" not in "".join(report_page(report, found.heads, [listed["quiet"]]))


def test_a_period_and_a_tool_can_be_named(place: OwnPlace) -> None:
    """Times as written or so long ago; what cannot be is refused before anything is opened."""
    shell(place, "one", "true")
    shell(place, "two", "true")
    place.run("one")
    between = str(CLOCK.now())
    place.run("two")
    assert counted(place.around, tool="one").runs == 1
    assert counted(place.around, start=between).runs == 1
    assert counted(place.around, since="1hour", end=between).runs == 1
    with pytest.raises(ConsentryError) as raised:
        source(place.around, since="1day", start=between)
    assert raised.value.code is Code.USAGE
    with pytest.raises(ConsentryError) as raised:
        source(place.around, since="1day", end="2days")
    assert raised.value.code is Code.USAGE


def test_without_a_ledger_there_is_an_empty_report(around: MakeAround) -> None:
    """Nothing was recorded, which is an answer; nothing is made."""
    assert counted(around()).runs == 0
    assert not ledger_place(around()).database.exists()


def test_a_ledger_that_does_not_verify_is_not_reported(place: OwnPlace) -> None:
    """A report would vouch for it."""
    shell(place, "one", "true")
    place.run("one")
    database = ledger_for_writing(place.around).database
    with closing(database), database.writing() as transaction:
        transaction.run("UPDATE ledger_event SET body = replace(body, 'success', 'failure')", ())
    with pytest.raises(LedgerProblem) as raised:
        counted(place.around)
    assert raised.value.code is Code.CHAIN_BROKEN


def _with_long_lists(around: Surroundings, runs: int) -> None:
    """So many runs that read two thousand files each."""
    ids = Uuid7Ids(CLOCK)
    files = [{"path": f"folder/file-{n}", "hash": "sha256:" + f"{n:064x}"} for n in range(2000)]
    impact = {"filesRead": files, "filesWritten": [], "filesDeleted": [], "committed": True}
    tool = {"name": "big", "version": "1", "auditConfig": {"includeInReport": True}}
    with closing(ledger_for_writing(around)) as ledger:
        for _ in range(runs):
            more: dict[str, Any] = {"impact": impact, "tool": tool, "id": ids.new("audit")}
            more["timestamp"] = str(CLOCK.now())
            ledger.append(sample_draft(EventType.TOOL_AUDIT, ids, CLOCK, CONTEXT, **more))


def _peak(work: Callable[[], None]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_lists(around: MakeAround, tmp_path: Any) -> None:
    """Six times as many runs with long lists need hardly more: each is let go of."""
    peaks = []
    for number, runs in enumerate((8, 48)):
        home = tmp_path / f"homes/other-{number}"
        home.mkdir(parents=True)
        there = replace(around(), environ={"HOME": str(home)})
        _with_long_lists(there, runs)

        def work(there: Surroundings = there, runs: int = runs) -> None:
            found = source(there)
            report = found.counted()
            assert (report.runs, report.listed) == (runs, runs)
            written = sum(len(each) for each in report_page(report, found.heads, found.listed()))
            assert written > 0

        work()
        peaks.append(_peak(work))
    assert peaks[1] < 1.5 * peaks[0]


def test_a_moment_has_its_own_step() -> None:
    """The end of a period is not in it, and neither is what was before it."""
    period = asked_period(CLOCK, "1hour", None, None, None)
    assert period.steps()[0] <= period.since.unix_ms < period.until.unix_ms
    assert Instant(period.steps()[-1]) < period.until
