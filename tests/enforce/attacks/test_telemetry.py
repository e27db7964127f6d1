"""Forged telemetry: what a program can do to the record of what it did."""

from pathlib import Path

import pytest

from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import Outcome
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.enforce.violations import Operation
from consentry.surface.lattice import Surface
from consentry.surface.protected import protected_roots
from tests.enforce.attacks.attackers import PRELUDE, Attacker
from tests.enforce.boxes import ENVIRONMENT, PYTHON, program_of, run_in_box

FORGED = "PermissionDenied: Requires read access to /root/.ssh/id_rsa"


def _outcome(workspace: Path, code: str) -> Outcome:
    engine = NativeEngine(None, protected_roots())
    try:
        program = program_of([PYTHON, "-I", "-S", "-c", PRELUDE + code], workspace)
        surface = Surface.of(read=["./"], write=["/tmp/"])
        plan = engine.compile(Confinement(surface, workspace, program, ENVIRONMENT))
        outcome = engine._held_run(plan, (), Io(keeps=True))
    finally:
        engine.close()
    return outcome


def test_words_are_no_evidence(tmp_path: Path) -> None:
    """A program that prints a denial was denied nothing; one that is silent was, and it is told."""
    outcome = _outcome(tmp_path, f"print({FORGED!r})\nprint({FORGED!r}, file=sys.stderr)")
    assert FORGED.encode() in outcome.stdout
    assert (outcome.violations, outcome.complete) == ((), True)
    secret = tmp_path.parent / f"{tmp_path.name}-secret"
    secret.touch()
    quiet = _outcome(tmp_path, f"try: read({str(secret)!r})\nexcept OSError: pass")
    assert [(each.operation, each.resource) for each in quiet.violations] == [
        (Operation.READ, str(secret))
    ]


FLOOD = """
for number in range(3, 300):
    for content in (b"\\xff" * 64, b"\\x20\\0\\0\\0" + b"i" * 32, b"g", b"l", b"b"):
        try:
            os.write(number, content)
        except OSError:
            pass
    try:
        os.close(number)
    except OSError:
        pass
try:
    read("/etc/shadow")
except OSError:
    pass
os._exit(7)
"""


def test_no_descriptor_leads_to_the_report(attacker: Attacker) -> None:
    """Writing to and closing every number changes neither the status nor the notes."""
    told = attacker.runs(FLOOD)
    assert (told.status, told.problem) == (7, None)
    assert ["read", "/etc/shadow"] in told.noted
    assert told.notes["problems"] == told.notes["left_out"] == 0


def test_without_the_observer_nothing_would_be_known(attacker: Attacker) -> None:
    """The notes come from the filter's listener, and from nothing that the program says."""
    told = attacker.runs(FLOOD, without=["filter"])
    assert told.status == 7
    assert told.noted == []


def test_a_program_that_hides_its_memory_is_seen(attacker: Attacker) -> None:
    """It may forbid others to look at it; the observer is not one of those it can forbid."""
    code = "call(157, 4, 0, 0, 0, 0)\ntry: read('/etc/shadow')\nexcept OSError: pass"
    told = attacker.runs(code)
    assert ["read", "/etc/shadow"] in told.noted
    assert told.notes["problems"] == 0


BROKEN = """
def quietly(*arguments):
    try:
        call(*arguments)
    except OSError:
        pass
mine = socket.socket()
other = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
for size in (0, 1, 2, 3, 4, 7, 20, 127, 128, 2**31, 2**63):
    for family in (1, 2, 10, 16, 65535):
        address = family.to_bytes(2, "little") + b"\\0\\x35"
        quietly(42, mine.fileno(), address, ctypes.c_ulong(size))
        quietly(44, other.fileno(), b"x", 1, 0, address, ctypes.c_ulong(size))
for place in (0, 1, 4096, 2**47 - 1, 2**63, 2**64 - 1):
    quietly(59, ctypes.c_void_p(place), ctypes.c_void_p(place), ctypes.c_void_p(place))
    quietly(59, b"/usr/bin/true", ctypes.c_void_p(place), ctypes.c_void_p(place))
    quietly(437, -100, b"/usr", ctypes.c_void_p(place), 24)
    quietly(257, ctypes.c_ulong(2**64 - 1), ctypes.c_void_p(place), 0, 0)
    quietly(82, ctypes.c_void_p(place), b"x")
    quietly(46, other.fileno(), ctypes.c_void_p(place), 0)
    quietly(307, other.fileno(), ctypes.c_void_p(place), ctypes.c_ulong(2**64 - 1), 0)
for number in (-1, 0, 1, 99, 2**31 - 1, 2**32 - 100):
    quietly(257, ctypes.c_ulong(number), b"some/name", 0, 0)
quietly(257, ctypes.c_ulong(mine.fileno()), b"../../etc/shadow", 0, 0)
print("alive")
"""


def test_no_argument_brings_the_observer_down(attacker: Attacker) -> None:
    """Short addresses, wild pointers and odd descriptors; what could not be read is counted."""
    told = attacker.runs(BROKEN)
    assert (told.status, told.out, told.problem) == (0, "alive\n", None)
    assert told.notes["problems"] > 0


MANY = """
for number in range(int(sys.argv[1])):
    try:
        os.open("/nowhere/%d" % number, os.O_RDONLY)
    except OSError:
        pass
print("done")
"""


def test_more_names_than_can_be_kept_are_counted(attacker: Attacker) -> None:
    """The notes are bounded; what did not fit is a number, and makes the record incomplete."""
    told = attacker.runs(MANY, words=["300"], without=["room for notes"])
    assert told.out == "done\n"
    assert told.notes["left_out"] > 200
    assert attacker.runs(MANY, words=["300"]).notes["left_out"] == 0


def test_sixty_thousand_names_make_the_record_incomplete(tmp_path: Path) -> None:
    """With the real bound."""
    outcome = _outcome(tmp_path, MANY.replace("int(sys.argv[1])", "60_000"))
    assert outcome.stdout == b"done\n"
    assert not outcome.complete


def test_long_names_do_not_fill_the_launchers_memory(tmp_path: Path) -> None:
    """The bound is on bytes as well."""
    code = PRELUDE + (
        "for number in range(9000):\n"
        "    try:\n        os.open(('/%05d' % number).ljust(4090, 'x'), os.O_RDONLY)\n"
        "    except OSError:\n        pass\n"
    )
    run = run_in_box([PYTHON, "-I", "-S", "-c", code], workspace=tmp_path)
    assert run.ended.notes["left_out"] > 0
    kept = sum(len(note[1]) for note in run.ended.notes["notes"])
    assert kept <= 32 << 20


@pytest.mark.parametrize("number", [9, 15, 34])
def test_ending_itself_is_told_as_it_was(attacker: Attacker, number: int) -> None:
    """By a signal from inside: that signal, whoever it was meant to look like."""
    told = attacker.runs(f"os.kill(os.getpid(), {number})")
    assert told.status == -number
