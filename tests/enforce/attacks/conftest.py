"""Every attack is made twice where the tests run as root: from root's boxes and from a user's."""

import os
from collections.abc import Iterator

import pytest

from tests.enforce.attacks.attackers import NOBODY, Attacker, Ground, Helper


@pytest.fixture(scope="session")
def helpers() -> Iterator[dict[int, Helper]]:
    """Processes of other users, started when they are first needed."""
    started: dict[int, Helper] = {}
    yield started
    for helper in started.values():
        helper.close()


@pytest.fixture(params=["caller", "user"] if os.getuid() == 0 else ["caller"])
def attacker(request: pytest.FixtureRequest, helpers: dict[int, Helper]) -> Iterator[Attacker]:
    """Somebody with a workspace, where a run has no folder of its own unless the module says so."""
    folder: str = getattr(request.module, "FOLDER", "/var/tmp")
    if request.param == "caller":
        with Ground(os.getuid(), folder) as place:
            yield Attacker(os.getuid(), place)
        return
    if NOBODY not in helpers:
        helpers[NOBODY] = Helper(NOBODY)
    with Ground(NOBODY, folder) as place:
        yield Attacker(NOBODY, place, helpers[NOBODY])
