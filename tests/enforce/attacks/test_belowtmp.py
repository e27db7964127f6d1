"""A workspace below `/tmp`: it lies in a folder that is the run's to write, and stays closed.

Landlock only adds up, so its rule for the run's own `/tmp` covers a workspace there as well. What
keeps that from being written is its mount.
"""

import pytest

from tests.enforce.attacks.attackers import Attacker

FOLDER = "/tmp"
WAYS = {
    "write": "write('mine')",
    "truncate": "os.truncate('mine', 0)",
    "make": "write('new')",
    "remove": "os.unlink('mine')",
    "mode": "os.chmod('mine', 0o777)",
    "rename": "os.rename('mine', '/tmp/moved')",
    "link": "os.link('mine', '/tmp/linked')",
}
ONLY_READ = {"read": ["./"], "write": ["/tmp/"]}


def test_what_may_only_be_read_is_not_written(attacker: Attacker) -> None:
    """By no call, while the folder around it is written at will."""
    mine = attacker.put("ws/mine")
    found = attacker.tries({**WAYS, "beside": "write('/tmp/beside')"}, **ONLY_READ)
    assert found.pop("beside") == "done"
    assert set(found.values()) <= {"EROFS", "EXDEV"}, found
    assert mine.read_text(encoding="utf-8") == "SECRET"
    assert [each.name for each in attacker.ws.iterdir()] == ["mine"]


def test_what_may_be_written_is(attacker: Attacker) -> None:
    """In the layer, which the commit takes over."""
    mine = attacker.put("ws/mine")
    state = attacker.place / "state"
    state.mkdir()
    attacker.own(state)
    told = attacker.runs("write('mine', b'WRITTEN')", write=["./", "/tmp/"], commit=str(state))
    assert (told.status, told.violations) == (0, [])
    assert mine.read_text(encoding="utf-8") == "WRITTEN"


@pytest.mark.parametrize("lacking", [["read-only"], ["read-only", "landlock"]])
def test_without_the_mount_it_would_be(attacker: Attacker, lacking: list[str]) -> None:
    """Landlock or not."""
    mine = attacker.put("ws/mine")
    found = attacker.tries({"write": WAYS["write"]}, **ONLY_READ, without=lacking)
    assert found == {"write": "done"}
    assert mine.read_text(encoding="utf-8") == "EVIL"
