"""GUARD §decide-pass: no attack of the tables passes without a wish, and each is really judged.

The tables (`*.txt`) have one sample for each way to hide a power that was ever tried: names that are
not looked at, modules and objects that are handed on, constants that are worked out wrongly, files that
run although their names say that they do not.
"""

import pytest

from consentry.examine.verdict import Status
from tests.examine.attacks.reader import Attack, attacks, failures, judged

THEMES = (
    "dependencies",
    "dockerfiles",
    "files",
    "javascript",
    "makefiles",
    "notebooks",
    "python_builtins",
    "python_changed_values",
    "python_constants",
    "python_containers",
    "python_decoys",
    "python_imports",
    "python_modules_handed_on",
    "python_names",
    "python_names_worked_out",
    "python_objects_handed_on",
    "python_targets",
    "shell",
    "workflows",
)
ATTACKS = [
    pytest.param(each, id=f"{theme}: {each.name}") for theme in THEMES for each in attacks(theme)
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_passes(attack: Attack) -> None:
    """The answer is BLOCKED or UNKNOWN, for a reason found in the code and not by a fault in reading."""
    verdict = judged(attack)
    assert not failures(verdict)
    assert verdict.status is not Status.PASS


@pytest.mark.parametrize("attack", ATTACKS[::9])
def test_an_attack_is_judged_the_same_twice(attack: Attack) -> None:
    """GUARD §deterministic: byte for byte, attacks included."""
    assert judged(attack).to_json() == judged(attack).to_json()


@pytest.mark.parametrize("attack", ATTACKS[::9])
def test_what_is_taken_back_is_no_gain(attack: Attack) -> None:
    """GUARD §vector-2: the same change the other way round brings no power that it takes away."""
    back = judged(Attack(attack.name, attack.after, attack.before, attack.around))
    there = judged(attack)
    gained = {step.atom for step in there.delta.gained}
    assert not gained & {step.atom for step in back.delta.gained}
