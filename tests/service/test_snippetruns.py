"""One snippet from decision to record, with a real ledger and a real worker."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from consentry.base.canonical import digest_bytes
from consentry.base.clock import SystemClock
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused, UsageProblem
from consentry.base.ids import Uuid7Ids
from consentry.enforce.confinement import Limits
from consentry.enforce.engine import NotEnforceable
from consentry.enforce.engines.native import Io
from consentry.enforce.engines.nativecode import NativeCode
from consentry.record.auditfields import ExecutionStatus
from consentry.service.audit import whole_event
from consentry.service.binding import BoundWish
from consentry.service.ledgers import ledger_for_reading, ledger_place
from consentry.service.profiles import find_profile
from consentry.service.sessions import journal_here
from consentry.service.snippetruns import (
    MOST_ARGUMENTS,
    MOST_SOURCE,
    CodeRun,
    CodeRunner,
    CodeWish,
    bind_code,
    carry_out_code,
)
from consentry.service.surroundings import Surroundings
from consentry.store.journal import Journal
from consentry.surface.permission_sets import PermissionSet
from tests.service.conftest import MakeAround


@dataclass(frozen=True, slots=True)
class Place:
    """Where the tests run snippets."""

    around: Surroundings
    project: Path

    def run(self, source: str, **wish: Any) -> CodeRun:
        """A run of its own, with its output kept."""
        return carry_out_code(_wish(source, **wish), self.around, Io(keeps=True))

    def bound(self, wish: CodeWish) -> BoundWish:
        """The wish, bound to the project."""
        return bind_code(wish, self.project, self.around)

    def events(self) -> list[dict[str, Any]]:
        """Everything on record, in its order."""
        history = ledger_for_reading(self.around)
        assert history is not None
        with closing(history.database):
            return [dict(whole_event(row)) for row in history.events()]


def _wish(source: str, **wish: Any) -> CodeWish:
    return CodeWish(source.encode(), wish.pop("name", "snippet.py"), **wish)


@pytest.fixture
def place(around: MakeAround, project: Path) -> Place:
    """The project, with something to read in it."""
    (project / "data").mkdir()
    (project / "data/x.txt").write_text("in data")
    (project / "beside.txt").write_text("beside")
    return Place(around(environ={"PATH": "/usr/bin:/bin"}), project)


@pytest.fixture
def journal(place: Place) -> Iterator[Journal]:
    """The ledger of the place, opened for writing."""
    clock = SystemClock()
    journal = journal_here(place.around, clock, Uuid7Ids(clock))
    with closing(journal.ledger):
        yield journal


def test_decision_permit_and_record_follow_each_other(place: Place) -> None:
    """Decided, permitted for these bytes, spent, run, recorded; each names the one before."""
    source = "open('beside.txt').read() + str(n)"
    run = place.run(source, arguments={"n": 1})
    assert (run.result, run.error, run.status) == ("beside1", None, ExecutionStatus.SUCCESS)
    events = place.events()[-4:]
    assert [each["type"] for each in events] == [
        "run.decided", "permit.made", "permit.spent", "tool.audit",
    ]  # fmt: skip
    decided, made, _, recorded = (each["payload"] for each in events)
    digest = digest_bytes(source.encode())
    assert decided["subject"] == made["subject"] == "snippet:snippet.py"
    assert decided["consentMethod"] == "command_line"
    assert made["digests"]["snippet"] == digest
    assert made["arguments"] == ["snippet.py", "--arg", "n=1"]
    assert recorded == run.entry
    assert recorded["tool"]["version"] == digest
    assert recorded["permitId"] == made["permitId"]
    assert [each["path"] for each in recorded["impact"]["filesRead"]] == ["beside.txt"]
    held = {each["control"] for each in recorded["sandbox"]["controls"]}
    assert {"reads", "writes", "no-network", "memory", "processes"} <= held
    assert "layer" not in held


LOOK = """
def can(do):
    try:
        do()
    except OSError:
        return False
    return True

read = lambda name: can(lambda: open(name).read())
write = lambda name: can(lambda: open(name, "w").write("x"))
[read("beside.txt"), read("data/x.txt"), write("/tmp/x"), write("/home/user/x"), write("data/x.txt")]
"""


@pytest.mark.parametrize(
    ("permission_set", "found"),
    [
        (None, [True, True, True, True, False]),
        (PermissionSet.MINIMAL, [False, False, False, False, False]),
        (PermissionSet.READONLY, [False, True, False, False, False]),
        (PermissionSet.FILESYSTEM, [True, True, True, True, False]),
    ],
)
def test_a_permission_set_opens_what_its_row_says(
    place: Place, permission_set: PermissionSet | None, found: list[bool]
) -> None:
    """Reading beside and in `data`, writing `/tmp`, the home folder, and the workspace."""
    assert place.run(LOOK, permission_set=permission_set).result == found
    assert (place.project / "data/x.txt").read_text() == "in data"


def test_what_cannot_be_enforced_is_refused(place: Place) -> None:
    """Another view than the usual one; the refusal is on record, and nothing was permitted."""
    file = place.project.parent / "visible.yaml"
    file.write_text("sandboxConfig: {profiles: {seen: {view: visible}}}")
    with pytest.raises(NotEnforceable):
        place.run("1", profile=find_profile(str(file), place.around))
    assert [each["type"] for each in place.events()][-1] == "tool.audit"
    assert "permit.made" not in {each["type"] for each in place.events()}


PROFILE = """
sandboxConfig:
  profiles:
    reports:
      filesystem:
        readOnly: ["${WORKSPACE}"]
        readWrite: ["${WORKSPACE}/output"]
        noAccess: ["${WORKSPACE}/output/keys"]
"""
WRITES = """
import os
def tried(path, text):
    try:
        return open(path, "w").write(text)
    except OSError:
        return None
[tried("output/sum", "42"), tried("output/keys", "x"), tried("data/x.txt", "x")]
"""


def _with_profile(place: Place, source: str, **wish: Any) -> CodeRun:
    file = place.project.parent / "reports.yaml"
    file.write_text(PROFILE)
    return place.run(source, profile=find_profile(str(file), place.around), **wish)


@pytest.mark.parametrize("is_there", [False, True])
def test_what_a_snippet_may_write_is_taken_over(place: Place, is_there: bool) -> None:  # noqa: FBT001
    """When it has ended, with the digest on record; what is denied or beside it is as it was."""
    if is_there:
        (place.project / "output").mkdir()
        (place.project / "output/sum").write_text("before")
    run = _with_profile(place, WRITES)
    assert (run.error, run.result[0], run.result[2]) == (None, 2, None)  # type: ignore[index]
    assert (place.project / "output/sum").read_text() == "42"
    assert not (place.project / "output/keys").exists()
    assert (place.project / "data/x.txt").read_text() == "in data"
    entry: Any = run.entry
    [written] = entry["impact"]["filesWritten"]
    assert (written["path"], written["hash"]) == ("output/sum", digest_bytes(b"42"))
    assert entry["sandbox"]["profile"] == "profile:reports"
    assert "layer" in {each["control"] for each in entry["sandbox"]["controls"]}
    assert {each.operation for each in run.facts.violations} == {"write"}


def test_what_a_limit_ended_is_not_taken_over(place: Place) -> None:
    """Half of something is nothing; and a snippet that raises has ended by itself."""
    cut = "open('output/sum', 'w').write('half')\nwhile True: pass"
    assert _with_profile(place, cut, limits=Limits(wall_seconds=1)).status == "timeout"
    assert not (place.project / "output").exists()
    raised = _with_profile(place, "open('output/sum', 'w').write('whole')\n1 / 0")
    assert raised.error is not None
    assert (place.project / "output/sum").read_text() == "whole"


def test_written_files_of_one_run_are_there_for_the_next(place: Place, journal: Journal) -> None:
    """In the workspace, where they were taken over; and belong to whoever called."""
    file = place.project.parent / "reports.yaml"
    file.write_text(PROFILE)
    profile = find_profile(str(file), place.around)
    count = (
        "import os\n"
        "seen = sorted(os.listdir('output')) if os.path.exists('output') else []\n"
        "open(f'output/{len(seen)}', 'w').write('x')\n"
        "seen"
    )
    wish = _wish(count, profile=profile)
    state = ledger_place(place.around).folder
    with closing(NativeCode(None)) as engine:
        runner = CodeRunner(engine, journal, state, None)
        for number in range(5):
            bound = place.bound(wish)
            plan = engine.compile(bound.confinement, bound.protected)
            run = runner.run(wish, bound, plan, Io(keeps=True))
            assert (run.result, run.error) == ([str(each) for each in range(number)], None)
    assert {path.owner() for path in (place.project / "output").iterdir()} == {
        place.project.owner()
    }


def test_trusted_is_never_given(place: Place) -> None:
    """Not by a line, and so not to a snippet."""
    with pytest.raises(Refused) as raised:
        place.run("1", permission_set=PermissionSet.TRUSTED)
    assert raised.value.code is Code.NOT_ENFORCEABLE


def test_a_permit_for_other_bytes_is_refused(place: Place, journal: Journal) -> None:
    """What was decided is what runs, and only after the permit was spent."""
    decided, other = _wish("1"), _wish("2")
    bound = place.bound(decided)
    with closing(NativeCode(None)) as engine:
        plan = engine.compile(bound.confinement, bound.protected)
        runner = CodeRunner(engine, journal, ledger_place(place.around).folder, None)
        run = runner.run(decided, bound, plan, Io(keeps=True))
        permit = run.facts.permit
        for permit_for, source in (
            (permit, other.source),
            (replace(permit, spent_at=None, spent_by=None), b"1"),
        ):
            with pytest.raises(Refused) as raised:
                engine.run_code(plan, permit_for, source, {}, Io(keeps=True))
            assert raised.value.code is Code.PERMIT_REFUSED


def test_other_words_and_a_larger_surface_are_refused(place: Place, journal: Journal) -> None:
    """A permit is for one line."""
    wish = _wish("1", permission_set=PermissionSet.MINIMAL)
    bound = place.bound(wish)
    with closing(NativeCode(None)) as engine:
        plan = engine.compile(bound.confinement, bound.protected)
        runner = CodeRunner(engine, journal, ledger_place(place.around).folder, None)
        permit = runner.run(wish, bound, plan, Io(keeps=True)).facts.permit
        for other in (_wish("1"), replace(wish, arguments={"n": 1}), replace(wish, name="b.py")):
            wider = place.bound(other)
            with pytest.raises(Refused) as raised:
                engine.run_code(
                    engine.compile(wider.confinement, wider.protected),
                    permit, b"1", {}, Io(keeps=True),
                )  # fmt: skip
            assert raised.value.code is Code.PERMIT_REFUSED


def test_without_a_ledger_nothing_runs(place: Place, journal: Journal) -> None:
    """A ledger that does not take the decision: an error, and the worker was not even made."""
    wish = _wish("1")
    bound = place.bound(wish)
    said_to = (place.project / "said").open("wb")
    with closing(NativeCode(None)) as engine, said_to:
        plan = engine.compile(bound.confinement, bound.protected)
        runner = CodeRunner(engine, journal, ledger_place(place.around).folder, None)
        journal.ledger.close()
        with pytest.raises(ConsentryError):
            runner.run(
                replace(wish, source=b"print('ran')"), bound, plan, Io(stdout=said_to.fileno())
            )
    assert (place.project / "said").read_bytes() == b""


def test_a_worker_that_cannot_start_is_on_record(place: Place) -> None:
    """A module that is nowhere: refused by the engine, and the record says why nothing started."""
    with pytest.raises(Refused, match="No module named 'nowhere'"):
        place.run("1", preload=("nowhere",))
    entry = place.events()[-1]["payload"]
    assert entry["execution"]["status"] == "not_started"
    assert entry["execution"]["problem"]["code"] == "engine-failed"


@pytest.mark.parametrize(
    ("source", "limits", "status", "limit"),
    [
        ("while True: pass", Limits(wall_seconds=0.4), ExecutionStatus.TIMEOUT, None),
        ("while True: pass", Limits(cpu_seconds=1), ExecutionStatus.LIMIT, "cpu_seconds"),
        (
            "x = b'x' * (200 << 20)\nwhile True: pass",
            Limits(memory_bytes=64 << 20, wall_seconds=20),
            ExecutionStatus.LIMIT,
            "memory_bytes",
        ),
        (
            "f = open('/tmp/f', 'wb')\nfor _ in range(120): f.write(bytes(1 << 20))\nwhile True: pass",
            Limits(memory_bytes=64 << 20, wall_seconds=20),
            ExecutionStatus.LIMIT,
            "memory_bytes",
        ),
        ("print('x' * 100_000)", Limits(output_bytes=1000), ExecutionStatus.LIMIT, "output"),
    ],
)
def test_a_limit_ends_the_run(
    place: Place, source: str, limits: Limits, status: ExecutionStatus, limit: str | None
) -> None:
    """Time, processor time, memory and output; told apart in the record."""
    run = place.run(source, limits=limits)
    assert (run.status, run.outcome.limit) == (status, limit)
    assert run.error is not None


def test_a_denied_read_names_the_option_that_allows_it(place: Place) -> None:
    """The very option makes the same snippet work; what no option allows says so."""
    other = Path(__file__).parents[2] / "pyproject.toml"
    if other.is_relative_to("/tmp"):
        pytest.skip("inside, /tmp is the run's own")
    source = f"open({str(other)!r}).readline()"
    run = place.run(source)
    [violation] = run.facts.violations
    assert (violation.operation, violation.allow) == ("read", f"--read {other}")
    assert place.run(source, read=(str(other),)).result == other.read_text().splitlines(True)[0]
    [written] = place.run("open('new', 'w')").facts.violations
    assert (written.operation, written.allow) == ("write", None)


def test_protected_places_inside_the_workspace_are_not_there(place: Place, home: Path) -> None:
    """A workspace may contain what is never granted; a snippet does not see it."""
    (home / "work/.git").mkdir(parents=True)
    (home / ".ssh").mkdir()
    (home / ".ssh/id").write_text("key")
    run = carry_out_code(
        _wish(f"open({str(home / '.ssh/id')!r}).read()"),
        place.around, Io(keeps=True), workspace=str(home / "work"),
    )  # fmt: skip
    assert run.error is not None
    assert "key" not in str(run.result)


@pytest.mark.parametrize(
    "wish",
    [
        {"preload": ("os; import x",)},
        {"preload": ("",)},
        {"arguments": {"not a name": 1}},
        {"arguments": {"n": object()}},
        {"arguments": {"n": float("nan")}},
        {"arguments": {"n": "x" * MOST_ARGUMENTS}},
        {"name": "bad\udcff.py"},
    ],
)
def test_bad_input_is_one_error_and_no_record(place: Place, wish: dict[str, Any]) -> None:
    """Said before anything is recorded."""
    with pytest.raises(UsageProblem):
        place.run("1", **wish)
    assert ledger_for_reading(place.around) is None


def test_a_snippet_has_a_largest_size(place: Place) -> None:
    """One byte more is refused."""
    with pytest.raises(UsageProblem, match="at most"):
        place.run("1" + " " * MOST_SOURCE)
    assert place.run("1" + " " * (MOST_SOURCE - 1)).result == 1


def test_numpy_works(place: Place) -> None:
    """Preloaded, with numbers of its own in every run."""
    pytest.importorskip("numpy", reason="this interpreter has no numpy")
    source = "import numpy\n[float(numpy.linalg.norm([3, 4])), numpy.random.random()]"
    first, second = (place.run(source, preload=("numpy",)).result for _ in range(2))
    assert isinstance(first, list)
    assert isinstance(second, list)
    assert first[0] == second[0] == 5.0
    assert first[1] != second[1]
