"""Killed in the middle of an escalation and started again: one question, one update, one row, or none."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.surface.permission_sets import PermissionSet
from tests.denos import deno_or_skip
from tests.service.capabilityplaces import (
    PYTHON,
    TYPESCRIPT,
    YES,
    Language,
    Workplace,
    listing,
    served,
    workplace,
)
from tests.service.conftest import MakeAround

READS = "open('data/x.txt').read()"
EXECUTION = "execution-of-a-caller"


@pytest.fixture
def place(around: MakeAround, project: Path) -> Iterator[Workplace]:
    """A ledger of its own, and a workspace."""
    with workplace(around(environ={"PATH": "/usr/bin:/bin"}), project) as made:
        yield made


def begun(place: Workplace, when: str, *hosts: str) -> subprocess.Popen[str]:
    """The execution in a process of its own."""
    words = [str(place.project), place.around.environ["HOME"], "it", EXECUTION, when, *hosts]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.service.capabilitycrash", *words],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def started(place: Workplace, when: str) -> subprocess.CompletedProcess[str]:
    """The same, when it is over."""
    with begun(place, when) as process:
        out, err = process.communicate(timeout=50)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def killed(place: Workplace, when: str) -> None:
    """As above, where it ends by a kill."""
    done = started(place, when)
    assert done.returncode == -signal.SIGKILL, done.stderr


def asked(place: Workplace) -> int:
    """How many questions were ever put."""
    return len(place.events("approval.requested"))


def test_killed_between_approval_and_retry(place: Workplace) -> None:
    """ESCALATION AC4, AC5: the update and its row are there; the next start is the retry, unasked."""
    place.save(READS)
    killed(place, "after-approval")
    assert place.stored().permission_set is PermissionSet.READONLY
    [row] = place.decisions()
    assert (row.approved, row.from_set, row.to_set) == (True, "minimal", "readonly")
    over = place.run(execution_id=EXECUTION)
    assert (over.result, len(over.attempts)) == ("in data", 1)
    consent = place.events("run.decided")[-1]["payload"]["consent"]
    assert (consent["attempt"], consent["permissionSet"]) == (2, "readonly")
    assert consent["requestId"] == place.events("approval.requested")[0]["payload"]["requestId"]
    assert (asked(place), len(place.decisions())) == (1, 1)


def test_killed_before_it_could_ask(place: Workplace) -> None:
    """Nothing was asked, nothing is stored; the next start asks, once."""
    place.save(READS)
    killed(place, "before-asking")
    assert (asked(place), place.decisions()) == (0, [])
    assert place.stored().permission_set is PermissionSet.MINIMAL
    assert place.run(YES, execution_id=EXECUTION).result == "in data"
    assert asked(place) == 1


def test_killed_while_it_waited(place: Workplace) -> None:
    """ESCALATION §yes-once: the question is still there; the next start joins it, and puts no other."""
    place.save(READS)
    killed(place, "while-waiting")
    [pending] = place.desk.pending()
    over = place.run(YES, execution_id=EXECUTION)
    assert over.result == "in data"
    assert over.escalated is not None
    assert over.escalated.request_id == pending.request_id
    assert (asked(place), len(place.decisions())) == (1, 1)


def test_answered_while_nobody_ran(place: Workplace) -> None:
    """The answer came between the processes: the next start runs in the approved set at once."""
    place.save(READS)
    killed(place, "while-waiting")
    [pending] = place.desk.pending()
    place.desk.answer(pending.request_id, YES)
    over = place.run(execution_id=EXECUTION)
    assert (over.result, len(over.attempts), asked(place)) == ("in data", 1, 1)


def test_killed_after_the_retry(place: Workplace) -> None:
    """What it wrote was taken over once; started again it is the retry again, and asks nobody."""
    place.save(READS)
    killed(place, "after-retry")
    over = place.run(execution_id=EXECUTION)
    assert (over.result, asked(place)) == ("in data", 1)


def test_one_that_always_needs_more_is_stopped_across_processes(place: Workplace) -> None:
    """ESCALATION AC5: one escalation for an execution, also when it was killed behind the first."""
    deno_or_skip()
    place.save(
        'try { await fetch("https://api.example.com/"); }'
        ' catch (problem) { if (problem.name === "NotCapable") throw problem; }'
        ' return Deno.readTextFileSync("beside.txt");',
        TYPESCRIPT,
    )
    killed(place, "after-approval")
    assert place.stored().permission_set is PermissionSet.NETWORK_API
    for _ in range(2):
        over = place.run(YES, execution_id=EXECUTION)
        assert len(over.attempts) == 1
        assert over.escalated is not None
        assert over.escalated.code == Code.ESCALATION_SPENT
    assert (asked(place), len(place.decisions())) == (1, 1)
    assert place.stored().permission_set is PermissionSet.NETWORK_API


def test_one_execution_in_two_processes_asks_once(place: Workplace) -> None:
    """ESCALATION §yes-once: whoever comes second finds the first one's question; both have a result."""
    place.save(READS)
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: started(place, "never"), range(2)))
    assert [each.returncode for each in both] == [0, 0], both[0].stderr + both[1].stderr
    assert all('"in data"' in each.stdout for each in both)
    assert (asked(place), len(place.decisions())) == (1, 1)


def test_nothing_is_left_of_a_killed_attempt(place: Workplace) -> None:
    """Killed while the code runs: the workspace is as it was, and its script lies in no file."""
    deno_or_skip()
    with served() as server:
        place.save(
            'Deno.writeTextFileSync("output/a", "a");'
            f'await fetch("http://{server.place}/written"); await new Promise(() => {{'
            " setInterval(() => {}, 1000); });",
            TYPESCRIPT,
            PermissionSet.MCP_STANDARD,
        )
        before = listing(place.project)
        with begun(place, "never", server.place) as process:
            while not server.paths:
                assert process.poll() is None
                time.sleep(0.01)
            inside = boxes_of(process.pid)
            process.kill()
            process.wait(30)
        assert inside
        for pid in inside:
            while Path(f"/proc/{pid}/exe").exists():
                time.sleep(0.01)
    assert listing(place.project) == before
    assert not Path("/capability").exists()


WAITS = {
    PYTHON: "import time\ntime.sleep(60)",
    TYPESCRIPT: "await new Promise((done) => setTimeout(done, 60_000));",
}


@pytest.mark.parametrize("when", ["never", "as-task"])
@pytest.mark.parametrize("language", WAITS)
def test_what_was_killed_is_on_record_and_stands_in_nobodys_way(
    place: Workplace, language: Language, when: str
) -> None:
    """The next run here writes the entry that the killed process could not, and runs."""
    deno_or_skip()
    place.save(WAITS[language], language)
    with begun(place, when) as process:
        while not place.events("permit.spent"):
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    place.save("1 + 1", name="other")
    assert place.run(name="other").result == 2
    killed_entry, _ = place.events("tool.audit")
    said = killed_entry["payload"]
    assert said["execution"]["status"] == "killed"
    assert said["tool"]["version"] == ("1" if when == "never" else "unknown")
    assert said["context"]["workflowId"] == EXECUTION


def boxes_of(pid: int) -> list[int]:
    """The processes below one, all of them."""
    found: list[int] = []
    for each in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, each.read_text().split()):
            found += [child, *boxes_of(child)]
    return found
