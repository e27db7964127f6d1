"""Processes and users of the host: none is seen or signalled, and nobody else can be become."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from consentry.enforce.facts import HostView
from consentry.enforce.native.otherids import ids_behind_root
from tests.enforce.attacks.attackers import Attacker, as_user

_MOST_INSIDE = 64
"""No process of these boxes has a higher number, so that none is taken for the victim."""

ID = shutil.which("id", path="/usr/bin:/bin") or "/usr/bin/id"


@pytest.fixture
def victim(attacker: Attacker) -> Iterator["subprocess.Popen[bytes]"]:
    """A process of the host that belongs to the very user that the program runs as."""
    user = ids_behind_root(HostView()) if attacker.uid == 0 else attacker.uid
    mark = f"mark-{os.urandom(6).hex()}"
    with ExitStack() as held:
        while True:
            process = held.enter_context(
                subprocess.Popen([mark, "600"], executable="/bin/sleep", cwd="/", **as_user(user))
            )
            held.callback(process.kill)
            if process.pid > _MOST_INSIDE:
                break
        yield process


def _attempts(victim: "subprocess.Popen[bytes]") -> dict[str, str]:
    assert isinstance(victim.args, list)
    mark = str(victim.args[0]).encode()
    return {
        "seen": f"{mark!r} in read('/proc/{victim.pid}/cmdline')",
        "signalled": f"os.kill({victim.pid}, {int(signal.SIGUSR1)})",
    }


def test_no_process_of_the_host_is_seen_or_signalled(
    attacker: Attacker, victim: "subprocess.Popen[bytes]"
) -> None:
    """Not even one of the same user: its number means nobody inside, or somebody inside."""
    found = attacker.tries({"seen": _attempts(victim)["seen"]})
    assert found["seen"] in ("ENOENT", "False", "EACCES")
    attacker.tries({"signalled": _attempts(victim)["signalled"]})
    assert victim.poll() is None


def test_processes_of_the_box_signal_each_other(attacker: Attacker) -> None:
    """As processes of one user do."""
    setup = (
        "import time\n"
        "def signalled():\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n        time.sleep(60)\n        os._exit(0)\n"
        "    os.kill(pid, signal.SIGUSR1)\n"
        "    return -os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])\n"
    )
    found = attacker.tries({"own": "signalled()"}, setup=setup)
    assert found == {"own": str(int(signal.SIGUSR1))}


def test_without_its_own_numbers_they_are(
    attacker: Attacker, victim: "subprocess.Popen[bytes]"
) -> None:
    """In the host's numbering, and without Landlock's scopes, the process is found and ended."""
    found = attacker.tries(_attempts(victim), without=["pids", "landlock"])
    assert found == {"seen": "True", "signalled": "None"}
    assert victim.wait(30) == -signal.SIGUSR1


@pytest.fixture
def lender(attacker: Attacker) -> Path:
    """A program that lends the identity of root to whoever starts it, and says who it is."""
    if os.getuid() != 0:
        pytest.skip("only root can make a program that lends root's identity")
    program = attacker.place / "lender/id"
    program.parent.mkdir()
    shutil.copy(ID, program)
    program.chmod(0o4755)
    return program


LENT = ["owners", "no new privileges", "filter", "landlock"]


def _lent(attacker: Attacker, lender: Path, without: list[str]) -> str:
    """Whose identity a program of the box has when it has started the lender."""
    said = f"status({str(lender)!r}, '-u')"
    told = attacker.runs(
        f"print({said}, flush=True)", run_any=True, without=without, shown=[str(lender.parent)]
    )
    return told.out.split()[0]


def test_no_program_lends_another_identity(attacker: Attacker, lender: Path) -> None:
    """Where mounts would let it, the promise that no program gives new powers still holds."""
    inside = ids_behind_root(HostView()) if attacker.uid == 0 else attacker.uid
    assert _lent(attacker, lender, ["owners", "landlock"]) == str(inside)


def test_without_that_promise_root_is_lent(attacker: Attacker, lender: Path) -> None:
    """To a box of root's; in that of an ordinary user there is no root to become."""
    expected = 0 if attacker.uid == 0 else attacker.uid
    assert _lent(attacker, lender, LENT) == str(expected)


@pytest.fixture
def roots_own(attacker: Attacker) -> Path:
    """A file that only root may read."""
    if attacker.uid != 0:
        pytest.skip("an ordinary user's program is that user")
    return attacker.put("outside/secret", mode=0o600)


def test_a_program_of_root_is_not_root(attacker: Attacker, roots_own: Path) -> None:
    """A file of root's that shows as it is, with no rule about it, stays closed to it."""
    found = attacker.tries(
        {"read": f"read({str(roots_own)!r})", "who": "os.getuid()"},
        without=["landlock", "owners"],
        shown=[str(roots_own.parent)],
    )
    assert found == {"read": "EACCES", "who": str(ids_behind_root(HostView()))}


def test_what_root_grants_of_its_own_is_read(attacker: Attacker, roots_own: Path) -> None:
    """By being shown as that other user's."""
    read = ["./outside/"]
    wish = {"workspace": str(attacker.place), "read": read, "write": ["/tmp/"]}
    found = attacker.tries({"read": f"read({str(roots_own)!r})"}, **wish)
    assert found == {"read": "b'SECRET'"}


def test_left_as_root_it_reads_what_is_roots(attacker: Attacker, roots_own: Path) -> None:
    """Without the change of user the same file is open, capabilities or not."""
    found = attacker.tries(
        {"read": f"read({str(roots_own)!r})", "who": "os.getuid()"},
        without=["landlock", "owners", "another user"],
        shown=[str(roots_own.parent)],
    )
    assert found == {"read": "b'SECRET'", "who": "0"}
