"""Every attack is made twice where the tests run as root: from root's boxes and from a user's."""

import os
from collections.abc import Iterator

import pytest

from tests.enforce import hosts
from tests.enforce.attacks.attackers import NOBODY, Attacker, Ground, Helper
from tests.enforce.bareruns import BareHost


@pytest.fixture(scope="session")
def helpers() -> Iterator[dict[int, Helper]]:
    """Processes of other users, started when they are first needed."""
    started: dict[int, Helper] = {}
    yield started
    for helper in started.values():
        helper.close()


@pytest.fixture(scope="session")
def bare_hosts() -> Iterator[dict[int, BareHost]]:
    """Hosts without namespaces, one for each user, made when they are first needed."""
    made: dict[int, BareHost] = {}
    yield made
    for host in made.values():
        host.close()


@pytest.fixture(params=hosts.users(), ids=lambda uid: f"uid{uid}")
def host(request: pytest.FixtureRequest, bare_hosts: dict[int, BareHost]) -> BareHost:
    """A host without namespaces, and whose runs are made there."""
    if request.param not in bare_hosts:
        bare_hosts[request.param] = BareHost(request.param)
    return bare_hosts[request.param]


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
