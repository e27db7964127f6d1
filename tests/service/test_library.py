"""`consentry.exec`: the same confinement and record as the command, for a program that calls it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.enforce.violations import Operation
from consentry.service.audit import whole_event
from consentry.service.calloptions import ExecOptions
from consentry.service.callresults import RunResult
from consentry.service.ledgers import ledger_for_reading
from consentry.service.library import Library
from consentry.service.surroundings import Surroundings
from tests.service.conftest import MakeAround


@dataclass(frozen=True, slots=True)
class Caller:
    """A program that uses the library."""

    library: Library
    around: Surroundings
    project: Path

    def exec(self, *words: str, **named: Any) -> RunResult:
        """One call."""
        return self.library.exec(words, self.around, ExecOptions(**named))

    def events(self) -> list[dict[str, Any]]:
        """Everything on record, in its order."""
        history = ledger_for_reading(self.around)
        assert history is not None
        with closing(history.database):
            return [dict(whole_event(row)) for row in history.events()]


@pytest.fixture
def caller(around: MakeAround, project: Path) -> Iterator[Caller]:
    """One library, closed when the test is over."""
    with closing(Library()) as library:
        yield Caller(library, around(environ={"PATH": "/usr/bin:/bin", "SHOWN": "yes"}), project)


def test_result_has_output_status_and_record(caller: Caller) -> None:
    """As the program left them, and as the ledger has them."""
    result = caller.exec("sh", "-c", "cat; echo oops >&2; exit 3", programs=["any"], stdin=b"in")
    assert (result.stdout, result.stderr) == (b"in", b"oops\n")
    assert (result.status, result.exit_code, result.signal) == ("failure", 3, None)
    assert result.output_complete
    assert result.violations == ()
    assert caller.events()[-1]["payload"] == result.record
    assert result.record["id"] == result.run_id


def test_what_is_not_named_is_stopped_and_told(caller: Caller, home: Path) -> None:
    """A file, a program and a variable; the very words of the list then allow the first two."""
    (home / "notes").write_text("mine\n")
    script = f"cat {home / 'notes'}; echo $SHOWN"
    stopped = caller.exec("sh", "-c", script)
    assert stopped.stdout == b"\n"
    assert [(each.operation, each.resource) for each in stopped.violations] == [
        (Operation.RUN, "/usr/bin/cat")
    ]
    stopped = caller.exec("sh", "-c", script, programs=["cat"])
    assert [(each.operation, each.resource) for each in stopped.violations] == [
        (Operation.READ, str(home / "notes"))
    ]


def test_what_is_named_works(caller: Caller) -> None:
    """A variable, a program, and a folder that is written when the run has ended."""
    script = "cat word; echo $SHOWN; echo made > out/new"
    (caller.project / "word").write_text("read\n")
    result = caller.exec(
        "sh", "-c", script, programs=["cat"], environment=["SHOWN"], write=[caller.project / "out"]
    )
    assert result.stdout == b"read\nyes\n"
    assert (result.committed, result.discarded) == (True, None)
    assert (caller.project / "out/new").read_text() == "made\n"


def test_limits_end_a_run(caller: Caller) -> None:
    """By time and by output; what was printed until then is there."""
    late = caller.exec("sh", "-c", "echo begun; sleep 60", programs=["sleep"], timeout=0.5)
    assert (late.status, late.stdout) == ("timeout", b"begun\n")
    loud = caller.exec("yes", max_output=1000)
    assert (loud.status, loud.limit) == ("limit", "output")


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize(
    ("rest", "status"),
    [
        ("sleep 60", "timeout"),
        ("yes", "limit"),
        ("kill -KILL $$", "killed"),
        ("kill -INT $$", "killed"),
    ],
)
def test_work_that_was_cut_short_is_dropped_unless_wanted(
    caller: Caller, rest: str, status: str, *, keeps: bool
) -> None:
    """By time, by another limit, by a signal and by what Ctrl-C sends; the status stays."""
    result = caller.exec(
        *("sh", "-c", f"echo half > half; {rest}"),
        programs=["sleep", "yes"],
        write=[caller.project],
        timeout=1,
        max_output=1000,
        keep_partial=keeps,
    )
    assert (result.status, result.committed) == (status, keeps)
    assert (caller.project / "half").exists() is keeps


LOOK = r"""
ok() { if (eval "$1") > /dev/null 2>&1; then printf 1; else printf 0; fi; }
ok ': < beside'; ok ': < data/x'; ok ': > /tmp/x'; ok ': > ~/x'; ok ': > data/x'
ok '/usr/bin/id'; ok '[ -n "$SHOWN" ]'; ok ': < /usr/bin/id'
"""


@pytest.mark.parametrize(
    ("permission_set", "found"),
    [
        (None, "11110001"),
        ("minimal", "00000001"),
        ("readonly", "01000001"),
        ("filesystem", "11110001"),
        ("network-api", "00000001"),
        ("mcp-standard", "11110001"),
    ],
)
def test_a_permission_set_opens_what_its_row_says(
    caller: Caller, permission_set: str | None, found: str
) -> None:
    """Reads beside and in `data`; writes `/tmp`, home and `data`; runs, sees a variable; runtime."""
    (caller.project / "data").mkdir()
    for name, content in (("beside", "x"), ("data/x", "x"), ("look.sh", LOOK)):
        (caller.project / name).write_text(content)
    result = caller.exec("sh", "look.sh", permission_set=permission_set)
    assert result.stdout == found.encode()


def test_input_that_nobody_reads_does_not_block(caller: Caller) -> None:
    """More than a pipe holds, for a program that ends at once."""
    assert caller.exec("true", stdin=bytes(1 << 20)).status == "success"
    assert len(caller.exec("cat", stdin=bytes(1 << 20)).stdout) == 1 << 20


@pytest.mark.parametrize(
    ("words", "named", "code"),
    [
        (("true",), {"permission_set": "trusted"}, Code.NOT_ENFORCEABLE),
        (("true",), {"network": ["127.1"]}, Code.SURFACE_HOST),
        (("true",), {"permission_set": "none-such"}, Code.PERMISSION_SET),
        (("true",), {"permission_set": "minimal", "profile": "x"}, Code.USAGE),
        (("true",), {"view": "open"}, Code.USAGE),
        (("true",), {"attest": True}, Code.NOT_ENFORCEABLE),
        (("true",), {"timeout": 0}, Code.USAGE),
        (("true",), {"timeout": float("nan")}, Code.USAGE),
        (("true",), {"memory": -1}, Code.USAGE),
        (("true",), {"read": "word"}, Code.USAGE),
        (("true",), {"read": ["missing"]}, Code.FILE_UNUSABLE),
        ((), {}, Code.USAGE),
        (("none-such",), {}, Code.PROGRAM_UNKNOWN),
    ],
)
def test_bad_calls_start_nothing(
    caller: Caller, words: tuple[str, ...], named: dict[str, Any], code: Code
) -> None:
    """With a code, before there is a ledger; what was understood and refused is on record."""
    with pytest.raises(ConsentryError) as raised:
        caller.exec(*words, **named)
    assert raised.value.code is code
    if code is Code.NOT_ENFORCEABLE:
        [entry] = [each["payload"] for each in caller.events() if each["type"] == "tool.audit"]
        assert entry["execution"]["status"] == "denied"
    else:
        assert ledger_for_reading(caller.around) is None


def test_session_is_the_life_of_the_object(caller: Caller) -> None:
    """Begun with the first run, shared by all, ended by closing; the record says what set it off."""
    runs = [caller.exec("true") for _ in range(2)]
    caller.library.close()
    events = caller.events()
    [started] = [each["payload"] for each in events if each["type"] == "session.started"]
    [ended] = [each["payload"] for each in events if each["type"] == "session.ended"]
    assert started["kind"] == "library"
    assert ended["endedWhy"] == "ended"
    assert {each.record["context"]["sessionId"] for each in runs} == {started["sessionId"]}  # type: ignore[index,call-overload]
    assert {each.record["context"]["triggeredBy"] for each in runs} == {"api"}  # type: ignore[index,call-overload]


def test_threads_share_one_session_and_one_launcher(caller: Caller) -> None:
    """Every run is confined and recorded, whoever asked."""
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda each: caller.exec("echo", str(each)), range(8)))
    assert [each.stdout for each in results] == [f"{each}\n".encode() for each in range(8)]
    assert len({each.run_id for each in results}) == 8
    assert [each["type"] for each in caller.events()].count("session.started") == 1


def test_closing_leaves_nothing_open(caller: Caller) -> None:
    """Neither a descriptor nor a process; afterwards it can be used again."""
    before = set(Path("/proc/self/fd").iterdir())
    caller.exec("true")
    caller.library.close()
    assert set(Path("/proc/self/fd").iterdir()) == before
    assert caller.exec("true").status == "success"


FRONT_DOOR = """
import os, sys, consentry
result = consentry.exec(["cat"], stdin=b"hello")
print(type(result) is consentry.RunResult, result.stdout)
if os.fork() == 0:
    print(consentry.exec(["true"]).status)
    sys.exit()
os.wait()
print(consentry.exec(["true"]).status)
"""


def test_front_door_serves_a_process_and_its_forked_child(home: Path, project: Path) -> None:
    """Each with a session of its own, both ended at exit without a word."""
    done = subprocess.run(
        [sys.executable, "-u", "-c", FRONT_DOOR],
        cwd=project,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("True b'hello'\nsuccess\nsuccess\n", "")
    around = Surroundings({"HOME": str(home)}, project, os.geteuid())
    history = ledger_for_reading(around)
    assert history is not None
    with closing(history.database):
        types = [dict(whole_event(row))["type"] for row in history.events()]
    assert types.count("session.started") == types.count("session.ended") == 2


def test_importing_loads_nothing(tmp_path: Path) -> None:
    """The launcher of every box imports the package too."""
    probe = "import sys; before = set(sys.modules); import consentry; print(*(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", probe],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    assert {each for each in loaded if each.startswith("consentry")} == {"consentry"}
    assert loaded <= {"consentry", "__future__"}


def test_other_names_are_not_there() -> None:
    """The front door has what it lists."""
    import consentry

    assert consentry.RunResult is RunResult
    with pytest.raises(AttributeError, match="none_such"):
        consentry.none_such  # noqa: B018 - looked up for its error
