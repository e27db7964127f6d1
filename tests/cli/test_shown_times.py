"""Times are shown local with their offset, and stored and handed to programs in UTC (CONTRACTS §9)."""

import json
import os
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from consentry.base.clock import Instant, ManualClock
from consentry.service.ledgers import ledger_for_writing
from consentry.service.surroundings import Surroundings
from tests.cli.conftest import CommandLine
from tests.record.samples import Drafts

STORED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
SHOWN = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d")
RACES = ("--type", "FilesystemRaceDetected")
WINTER, SUMMER = "2026-01-15T12:00:01.000Z", "2026-07-15T22:30:01.000Z"


@dataclass(frozen=True, slots=True)
class Zone:
    """What `TZ` is set to, and how both moments read on clocks there."""

    name: str
    shown: tuple[str, str]

    @property
    def offsets(self) -> set[timedelta]:
        """How far clocks there are from UTC."""
        return {offset_of(time) for time in self.shown}


ZONES = {
    "America/New_York": (
        "EST5EDT,M3.2.0,M11.1.0",
        ("2026-01-15 07:00:01-05:00", "2026-07-15 18:30:01-04:00"),
    ),
    "Asia/Kolkata": ("IST-5:30", ("2026-01-15 17:30:01+05:30", "2026-07-16 04:00:01+05:30")),
}


@pytest.fixture(params=["America/New_York", "Asia/Kolkata"])
def zone(request: pytest.FixtureRequest) -> Zone:
    """By its name, or, where this system has no rules of that name, by the rule itself."""
    rule, shown = ZONES[request.param]
    is_known = Path("/usr/share/zoneinfo", request.param).exists()
    return Zone(request.param if is_known else rule, shown)


@pytest.fixture
def at_work(consentry: CommandLine) -> CommandLine:
    """The command where an event was recorded in winter, and one in summer."""
    ledger = ledger_for_writing(Surroundings(consentry.environ, consentry.cwd, uid=os.geteuid()))
    drafts = Drafts()
    for moment in (WINTER, SUMMER):
        before = Instant(Instant.parse(moment).unix_ms - 1000)
        drafts.clock = ManualClock(before)
        ledger.append(drafts.make())
    ledger.close()
    return consentry


def offset_of(shown: str) -> timedelta:
    """How far a shown time is from UTC."""
    offset = datetime.fromisoformat(shown).utcoffset()
    assert offset is not None
    return offset


def test_the_log_shows_local_times_and_has_stored_ones(at_work: CommandLine, zone: Zone) -> None:
    """Winter and summer have the offsets they had then; JSON is the same in every zone."""
    lines = at_work("audit", "log", *RACES, TZ=zone.name).out.splitlines()
    assert tuple(line.partition("  ")[0] for line in lines) == zone.shown
    events = json.loads(at_work("audit", "log", *RACES, "--json", TZ=zone.name).out)["events"]
    assert [event["timestampUtc"] for event in events] == [WINTER, SUMMER]


def test_every_command_that_shows_a_time_shows_it_local(
    at_work: CommandLine, zone: Zone, tmp_path: Path
) -> None:
    """Sessions, checkpoints, proofs, archives and purges; the stored moment is the shown one."""
    file, later = str(tmp_path / "checkpoint.json"), str(tmp_path / "later.json")
    at_work("audit", "checkpoint", "--out", file, "--quiet", TZ=zone.name)
    at_work("audit", "checkpoint", "--out", later, "--quiet", TZ=zone.name)
    [session] = json.loads(at_work("session", "list", "--json", TZ=zone.name).out)["sessions"]
    words = (
        ("session", "list"),
        ("session", "end", "--quiet"),
        ("session", "end", session["sessionId"]),
        ("session", "list", "--all"),
        ("audit", "verify"),
        ("audit", "verify", "--checkpoint", file),
        ("audit", "proof", "--from", file, "--to", later, "--out", str(tmp_path / "proof.json")),
        ("audit", "retain", "--dry-run", "--before", SUMMER),
        ("purge", "--dry-run"),
    )
    for each in words:
        ended = at_work(*each, TZ=zone.name)
        assert ended.status == 0, ended
        assert STORED.search(ended.out) is None, each
        shown = SHOWN.findall(ended.out)
        assert bool(shown) is (each[-1] != "--quiet"), each
        assert {offset_of(time) for time in shown} <= zone.offsets, each
    started = datetime.fromisoformat(session["startedAt"]).replace(microsecond=0)
    listed = SHOWN.search(at_work("session", "list", "--all", TZ=zone.name).out)
    assert listed is not None
    assert datetime.fromisoformat(listed[0]) == started


def test_what_is_stored_does_not_depend_on_the_zone(at_work: CommandLine, zone: Zone) -> None:
    """Every time of every event and session: UTC, milliseconds, a final Z."""
    at_work("audit", "checkpoint", "--quiet", TZ=zone.name)
    at_work("session", "end", TZ=zone.name)
    events = json.loads(at_work("audit", "log", "--json", TZ=zone.name).out)["events"]
    sessions = json.loads(at_work("session", "list", "--all", "--json", TZ=zone.name).out)[
        "sessions"
    ]
    times = [event["timestampUtc"] for event in events]
    times += [event["payload"]["startedAt"] for event in events if "startedAt" in event["payload"]]
    times += [time for each in sessions for time in (each["startedAt"], each["endedAt"])]
    assert len(times) >= 6
    assert all(STORED.fullmatch(time) for time in times), times


def test_a_refusal_shows_its_time_local(at_work: CommandLine, zone: Zone, tmp_path: Path) -> None:
    """The error names the checkpoint by its local time."""
    file = tmp_path / "checkpoint.json"
    at_work("audit", "checkpoint", "--out", str(file), "--quiet", TZ=zone.name)
    [*_, last] = json.loads(at_work("audit", "log", "--json", TZ=zone.name).out)["events"]
    ended = at_work("audit", "proof", last["eventId"], "--checkpoint", str(file), TZ=zone.name)
    assert ended.status == 3
    assert STORED.search(ended.err) is None
    assert SHOWN.search(" ".join(ended.err.split())) is not None, ended.err
