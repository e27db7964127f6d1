"""Attacks on what waits, by doors to the kernel that are mounted at other places than their own."""

import json
import os
from typing import Any

import pytest

from consentry.enforce.native import calls
from tests.enforce import hosts
from tests.enforce.heldruns import Ground, said_in_order
from tests.enforce.shownfolders import shown_folder

pytestmark = [
    pytest.mark.skipif(shown_folder() is None, reason="this user can write no folder it shows"),
    pytest.mark.skipif(os.getuid() != 0, reason="only root mounts one for the others"),
]

ASKS = """
print(tried(read, P + "/out/proc/sys/kernel/ostype").strip())
print(tried(read, P + "/out/proc/self/status").split()[0])
print(read(P + "/out/secret"))
"""
NO_DOORS = """
from consentry.enforce.native import heldplan
heldplan.doors_to_the_kernel = lambda mounts: ()
"""


def run_beside_a_door(ground: Ground, owner: str = "") -> dict[str, Any]:
    """The program in a box of a host that has another `/proc`, as the trees of containers do."""
    place = ground.place / "out/proc"
    place.mkdir(exist_ok=True)

    def mount() -> None:
        calls.checked(calls._libc.unshare(calls.CLONE_NEWNS), "unshare")
        calls.mount("none", "/", "", calls.MS_REC | calls.MS_PRIVATE)
        calls.mount("proc", str(place), "proc", 0)

    ground.put("asked", "")
    wish = {"place": str(ground.place), "code": ASKS, "answers": {"/out": "granted"}}
    script = "from tests.enforce.heldruns import main\nmain()"
    said = hosts.run_as(0, script, before=mount, REQUEST=json.dumps({**wish, "owner": owner}))
    told: dict[str, Any] = json.loads(said)
    return told


def test_a_door_is_never_asked_for_wherever_it_is_mounted(ground: Ground) -> None:
    """Not even with somebody who says yes to everything; the file beside it is asked for."""
    if ground.uid != 0:
        pytest.skip("the mount is root's")
    told = run_beside_a_door(ground)
    assert said_in_order(told) == ["ENOENT", "ENOENT", "SECRET"]
    assert [each[2] for each in told["asked"]] == [str(ground.place / "out/secret")]


def test_without_knowing_the_doors_a_yes_opens_the_kernel(ground: Ground) -> None:
    """And `self` is there whoever opens it, which is the launcher."""
    if ground.uid != 0:
        pytest.skip("the mount is root's")
    told = run_beside_a_door(ground, NO_DOORS)
    assert said_in_order(told) == ["Linux", "Name:", "SECRET"]
