"""Other names for a program: aliases, the loader, memory, copies, and what is loaded into one."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.enforce.attacks.attackers import Attacker, Told
from tests.enforce.boxes import PYTHON

LOADER = next(iter(sorted(Path("/lib64").glob("ld-linux*"))), Path("/lib/ld-linux-aarch64.so.1"))
TRUE = shutil.which("true", path="/usr/bin:/bin") or "/usr/bin/true"
HELD_BY = ["landlock", "noexec", "filter"]

SETUP = f"""
def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()
def placed(path):
    write(path, bytes_of({TRUE!r}))
    return path
def from_memory(flags=0):
    file = os.memfd_create("program", flags)
    os.write(file, bytes_of({TRUE!r}))
    return file
def by_descriptor(file):
    pid = os.fork()
    if pid == 0:
        nothing = (ctypes.c_char_p * 2)(b"true", None)
        libc.execveat(file, b"", nothing, (ctypes.c_char_p * 1)(None), 0x1000)
        os._exit(200 + ctypes.get_errno())
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code > 200:
        raise OSError(code - 200, "exec")
    return code
def unnamed(folder):
    file = os.open(folder, os.O_RDWR | os.O_TMPFILE, 0o755)
    os.write(file, bytes_of({TRUE!r}))
    again = os.open("/proc/self/fd/%d" % file, os.O_RDONLY)
    os.close(file)
    return again
def quietly(*words):
    os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
    return status(*words)
"""
ATTACKS = {
    "by its name": f"status({TRUE!r})",
    "by the root of a process": f"status('/proc/self/root{TRUE}')",
    "by a link": f"os.symlink({TRUE!r}, 'alias') or status('alias')",
    "by the loader": f"quietly('{LOADER}', {TRUE!r})",
    "by the loader from the workspace": f"quietly('{LOADER}', placed('./copy1'))",
    "by the loader from tmp": f"quietly('{LOADER}', placed('/tmp/copy1'))",
    "from memory": "by_descriptor(from_memory())",
    "from memory by the loader": f"quietly('{LOADER}', '/proc/self/fd/%d' % from_memory())",
    "by an open descriptor": f"by_descriptor(os.open({TRUE!r}, os.O_RDONLY))",
    "a copy in the workspace": "status(placed('copy2'))",
    "a copy in tmp": "status(placed('/tmp/copy2'))",
    "a copy in shared memory": "status(placed('/dev/shm/copy2'))",
    "a copy in the home": "status(placed('/home/user/copy2'))",
    "a script for another interpreter": (
        "write('script', b'#!/bin/sh\\nexit 0\\n') and status('./script')"
    ),
    "a file without a name": "by_descriptor(unnamed('/tmp'))",
}


def test_no_other_program_is_started(attacker: Attacker) -> None:
    """One program was granted; nothing else gets to run by any of these names."""
    found = attacker.tries(ATTACKS, setup=SETUP)
    started = {name for name, word in found.items() if word == "0"}
    assert started == set(), found
    assert "SIGSEGV" not in found.values()
    refused = {"EACCES", "EPERM", "ENOENT", "126", "127"}
    assert set(found.values()) <= refused, found


def test_the_granted_program_is_started_by_each_of_its_names(attacker: Attacker) -> None:
    """The list is of files, and every name of a file on it will do."""
    same = {
        "again": f"status({PYTHON!r}, '-I', '-S', '-c', '')",
        "by the root of a process": f"status('/proc/self/root{PYTHON}', '-I', '-S', '-c', '')",
        "by the loader": f"status('{LOADER}', {PYTHON!r}, '-I', '-S', '-c', '')",
    }
    assert set(attacker.tries(same).values()) == {"0"}


def test_whoever_may_start_any_program_may_use_them(attacker: Attacker) -> None:
    """With the power to run anything, the names of installed programs all work."""
    installed = ("by its name", "by the root of a process", "by a link", "by the loader")
    names = (*installed, "a copy in the workspace", "a script for another interpreter")
    found = attacker.tries({n: ATTACKS[n] for n in names}, setup=SETUP, run_any=True)
    assert found == dict.fromkeys(names, "0")


def test_without_rights_and_mounts_and_filter_everything_starts(attacker: Attacker) -> None:
    """Taken away together, each of the names leads to a running program."""
    found = attacker.tries(ATTACKS, setup=SETUP, without=HELD_BY)
    held_by_more = {"a copy in shared memory"}
    assert {name for name, word in found.items() if word != "0"} <= held_by_more, found


@pytest.mark.parametrize("kept", HELD_BY)
def test_no_single_control_holds_them_all(attacker: Attacker, kept: str) -> None:
    """Each of the three leaves a way open that the others close."""
    found = attacker.tries(ATTACKS, setup=SETUP, without=[name for name in HELD_BY if name != kept])
    assert "0" in found.values()


def test_nothing_is_loaded_into_the_granted_program(attacker: Attacker) -> None:
    """A library in a place that can be written is not mapped as code, whoever names it."""
    library = next(Path("/usr/lib").glob("*/libm.so.6"))
    setup = SETUP + f"write('/tmp/evil.so', bytes_of('{library}'))\n"
    ways = {
        "ctypes": "ctypes.CDLL('/tmp/evil.so') and 'loaded'",
        "the workspace": "write('evil.so', bytes_of('/tmp/evil.so')) and"
        " ctypes.CDLL('./evil.so') and 'loaded'",
        "installed": f"ctypes.CDLL('{library}') and 'loaded'",
    }
    found = attacker.tries(ways, setup=setup)
    assert found["installed"] == "loaded"
    assert "failed to map" in found["ctypes"]
    assert "failed to map" in found["the workspace"]
    weak = attacker.tries(ways, setup=setup, without=["noexec"])
    assert set(weak.values()) == {"loaded"}


def test_a_poisoned_path_changes_nothing(attacker: Attacker) -> None:
    """A program in the workspace with the name of a granted one is not started in its place."""
    attacker.put("ws/python3", "#!/bin/sh\necho EVIL\n", 0o755)
    told = attacker.runs("print('GOOD')", env={"PATH": f"{attacker.ws}:/usr/bin"})
    assert told.out == "GOOD\n"
    found = attacker.tries(
        {"lookup": "status('python3', '-I', '-S', '-c', '', path='./python3')"},
        env={"PATH": f"{attacker.ws}:/usr/bin"},
    )
    assert found == {"lookup": "EACCES"}


def _swapped(attacker: Attacker, **wish: Any) -> Told:
    """A run of a program in whose place another one comes after it was looked at."""
    tool = attacker.put("ws/tool", "#!/bin/sh\necho LOOKED-AT\n", 0o755)
    evil = attacker.put("ws/evil", "#!/bin/sh\necho EVIL\n", 0o755)
    moved = [(str(tool), str(attacker.ws / "away")), (str(evil), str(tool))]
    return attacker.runs("", argv=[str(tool)], moved=moved, **wish)


def test_a_program_that_was_swapped_is_not_started(attacker: Attacker) -> None:
    """Between the look at it and the box another file comes to its name: nothing runs."""
    told = _swapped(attacker)
    assert told.problem == ["replaced", 0, str(attacker.ws / "tool")]
    assert told.out == ""


def test_a_program_that_was_left_alone_is_started(attacker: Attacker) -> None:
    """The same program, by the same name."""
    tool = attacker.put("ws/tool", "#!/bin/sh\necho LOOKED-AT\n", 0o755)
    assert attacker.runs("", argv=[str(tool)]).out == "LOOKED-AT\n"


def test_without_the_identity_the_swapped_program_runs(attacker: Attacker) -> None:
    """The name alone leads to whatever was put there."""
    assert _swapped(attacker, without=["identity"]).out == "EVIL\n"
