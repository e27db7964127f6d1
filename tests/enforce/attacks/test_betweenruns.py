"""Leaks between runs: what one leaves behind, and what two at a time could do to each other."""

from threading import Thread

from tests.enforce.attacks.attackers import Attacker, Helper, Told

KEY = 0x5EC2E7
PLACES = ("/tmp/left", "/dev/shm/left", "/home/user/left", "left")
LEAVE = "".join(f"write({place!r})\n" for place in PLACES) + (
    f"identity = libc.shmget({KEY}, 4096, 0o1666)\n"
    "assert identity >= 0\n"
    f"print(libc.shmget({KEY}, 0, 0) >= 0, [os.path.exists(p) for p in {PLACES}])\n"
)
LOOK = (
    f"identity = libc.shmget({KEY}, 0, 0)\n"
    f"print(identity >= 0, [p for p in {PLACES} if os.path.exists(p)])\n"
    "identity >= 0 and libc.shmctl(identity, 0, None)\n"
)


def test_nothing_is_left_for_the_next_run(attacker: Attacker) -> None:
    """Its own folders, its memory and its layer are gone; within the run they all worked."""
    assert attacker.runs(LEAVE).out == "True [True, True, True, True]\n"
    assert attacker.runs(LOOK).out == "False []\n"
    assert not list(attacker.ws.iterdir())


def test_without_a_namespace_of_its_own_memory_is_left(attacker: Attacker) -> None:
    """Shared memory of the host outlives the box, and the next one finds it."""
    weak = ["ipc"]
    assert attacker.runs(LEAVE, without=weak).out.startswith("True")
    assert attacker.runs(LOOK, without=weak).out.startswith("True")
    assert attacker.runs(LOOK, without=weak).out.startswith("False")


def test_without_the_layer_files_are_left(attacker: Attacker) -> None:
    """What is written goes to the host's folder, and is there the next time."""
    weak = ["layer", "landlock"]
    attacker.runs(LEAVE, without=weak)
    assert attacker.runs(LOOK, without=weak).out == "False ['left']\n"


SIGNALS = (
    "def answers(pid):\n"
    "    try:\n        os.kill(pid, 0)\n    except OSError:\n        return False\n"
    "    return True\n"
)
OTHERS = {
    "seen": "[p for p in os.listdir('/proc') if p.isdigit() and int(p) > 1"
    " and b'MARK-OF-THE-OTHER' in read(f'/proc/{p}/cmdline')"
    " and b'attempt' not in read(f'/proc/{p}/cmdline')]",
    "answering": "len([p for p in range(2, 4000) if answers(p)]) <= 3",
    "the first": "answers(1)",
}


def test_two_runs_of_one_user_do_not_meet(attacker: Attacker) -> None:
    """At the same time and with the same number for a user, neither sees the other's processes."""
    other = attacker
    helper = None
    if attacker.helper is not None:
        helper = Helper(attacker.uid)
        other = Attacker(attacker.uid, attacker.place, helper)
    told: list[Told] = []
    code = (
        "import time\nwrite('/tmp/started')\ntime.sleep(2)\nprint('survived') # MARK-OF-THE-OTHER"
    )
    thread = Thread(target=lambda: told.append(other.runs(code)))
    thread.start()
    try:
        found = attacker.tries(OTHERS, setup=SIGNALS)
    finally:
        thread.join()
        if helper is not None:
            helper.close()
    assert found == {"seen": "[]", "answering": "True", "the first": "False"}
    assert told[0].out == "survived\n"
    mark = {"seen": "len([p for p in os.listdir('/proc') if p.isdigit()]) > 6"}
    assert attacker.bare(mark) == {"seen": "True"}


def test_keys_are_not_shared(attacker: Attacker) -> None:
    """A key would outlive the run in the keyring of its user; with no filter it is made."""
    make = {"key": "call(248, b'user', b'left', b'x', 1, -2) > 0"}
    assert attacker.tries(make) == {"key": "EPERM"}
    assert attacker.tries(make, without=["filter"]) == {"key": "True"}
