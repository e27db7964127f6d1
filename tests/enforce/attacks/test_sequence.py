"""The process that starts the commands of a tool in order is out of their reach, from the first on."""

from typing import Final

from tests.enforce.attacks.attackers import Attacker

SEVERAL: Final = "being the only command"
PARENT: Final = "int(read('/proc/%d/stat' % os.getppid()).split()[3])"
SEES: Final = {
    "is ours": f"{PARENT} > 1",
    "its environment": f"len(read('/proc/%d/environ' % {PARENT})) >= 0",
    "its memory": f"os.open('/proc/%d/mem' % {PARENT}, os.O_RDWR) > 0",
    "its descriptors": f"len(os.listdir('/proc/%d/fd' % {PARENT})) > 0",
    "trace it": f"call(101, 0x4206, {PARENT}, 0, 0)",
}


def test_a_command_does_not_reach_what_starts_the_next_one(attacker: Attacker) -> None:
    """Neither its memory nor what it has open; it may be ended, and then nothing is started."""
    found = attacker.tries(SEES, without=[SEVERAL])
    assert found == {
        "is ours": "True",
        "its environment": "EACCES",
        "its memory": "EACCES",
        "its descriptors": "EACCES",
        "trace it": "EPERM",
    }


def test_without_what_closes_it_its_memory_is_open(attacker: Attacker) -> None:
    """The same attack, where it stays open like any other process of the run."""
    ways = {name: SEES[name] for name in ("its environment", "its memory")}
    found = attacker.tries(ways, without=[SEVERAL, "undumpable", "landlock", "filter"])
    assert found == {"its environment": "True", "its memory": "True"}
