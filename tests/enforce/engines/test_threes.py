"""Every control that an engine claims is delivered, and by what it says: three times the same attack.

CONSENT §sandbox-3: the engines that are commands, as root and as an ordinary user. A claim that is not
delivered fails here, and so does one for which there is no attack.
"""

import json
import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from consentry.enforce.engine import Control
from consentry.enforce.engines.boxcommand import BoxCommandEngine
from consentry.enforce.engines.registry import FROM_CHEAPEST
from tests.elsewhere import folder_elsewhere
from tests.enforce import hosts
from tests.enforce.engines.benches import engines_here, made, users_of
from tests.enforce.engines.threes import THREES
from tests.enforce.engines.weakened import WEAKENED, WHOLE

_HERE = engines_here()
_PAIRS = [(name, uid) for name in WHOLE for uid in users_of(name)]
_ALSO_LOST = {
    # What holds the one is a part of what holds the other.
    ("bubblewrap", Control.SYSTEM_CALLS): {Control.NO_NEW_POWERS},
    ("nsjail", Control.SYSTEM_CALLS): {Control.NO_NEW_POWERS},
    # All of firejail is left out.
    ("firejail", Control.PROCESSES_APART): set(THREES),
}


@dataclass(frozen=True, slots=True)
class Threes:
    """What became of every attack in one engine, by control."""

    engine: str
    told: Mapping[str, Mapping[str, Any]]


@pytest.fixture(
    scope="module",
    params=_PAIRS,
    ids=[f"{name}-{'user' if uid else 'root'}" for name, uid in _PAIRS],
)
def threes(request: pytest.FixtureRequest) -> Threes:
    """As one user, in a process of that user's."""
    name, uid = request.param
    if name not in _HERE:
        pytest.skip(f"{made(name).missing()}: what it is told is tested, not what it holds")
    with folder_elsewhere() as place:
        if uid != os.getuid():
            os.chown(place, uid, uid)
        elif name == "firejail" and place.is_relative_to(pwd.getpwuid(uid).pw_dir):
            pytest.skip("it takes no grant in a home, and this user may write nowhere else")
        call = f"print_threes({name!r}, {str(place)!r})"
        told = hosts.run_as(uid, f"from tests.enforce.engines.threes import print_threes; {call}")
    return Threes(name, json.loads(told))


@pytest.mark.parametrize("control", THREES)
def test_a_claim_is_delivered_by_its_means(threes: Threes, control: Control) -> None:
    """The attack fails; what is granted works; without the means it succeeds, and the probe says so."""
    told = threes.told[control]
    assert told["held"], "claimed, and not shown to hold"
    assert not told["attack"], "the attack reached its goal in a whole box"
    assert told["granted"], "what is granted does not work"
    assert told["weakened"], "the attack is none: it fails without the means as well"
    assert told["claimed"], (
        "without the means it is claimed all the same, so that the probe decides"
    )
    assert control in told["lost"], "the probe did not find out"
    assert told["lacking"]
    assert told["open"], "no attack of the score-card reached its goal"


@pytest.mark.parametrize("control", THREES)
def test_its_means_hold_that_control_and_no_other(threes: Threes, control: Control) -> None:
    """So that it is known which of them was taken away."""
    also = _ALSO_LOST.get((threes.engine, control), set())
    assert set(threes.told[control]["lost"]) == {control, *also}


@pytest.mark.parametrize("name", WHOLE)
def test_there_are_three_for_every_claim(name: str) -> None:
    """Of each engine that is a command, whether or not it is on this machine."""
    engine = made(name)
    assert isinstance(engine, BoxCommandEngine)
    claimed = {each.control for each in engine.claims()}
    assert claimed == set(THREES) == set(WEAKENED[name])


def test_every_command_that_makes_a_box_has_its_threes() -> None:
    """One that is added later as well."""
    commands = {name for name in FROM_CHEAPEST if isinstance(made(name), BoxCommandEngine)}
    assert commands == set(WHOLE)
