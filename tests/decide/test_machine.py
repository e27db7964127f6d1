"""Machines and the scopes that consents name."""

import pytest

from consentry.base.errors import BadInput
from consentry.decide.machine import MachineScope, check_scope
from tests.decide.samples import MACHINE, OTHER_MACHINE, machine


def test_a_machine_is_in_its_own_scope_and_in_those_of_its_labels() -> None:
    """And in no other."""
    mine = machine("build", "farm")
    for scope in (MACHINE, "label:build", "label:farm"):
        assert mine.is_in(MachineScope(scope))
    for scope in (OTHER_MACHINE, "label:buil", "build", "label:", f"label:{MACHINE}"):
        assert not mine.is_in(MachineScope(scope))


def test_scopes_are_ids_or_labels() -> None:
    """Nothing in between."""
    for scope in (MACHINE, "label:farm-2"):
        assert check_scope("machineScope", scope) == scope
    for scope in ("", "host", "label:", "label:A", "farm", MACHINE + "0", "any", "*"):
        with pytest.raises(BadInput, match="machineScope"):
            check_scope("machineScope", scope)


def test_a_new_name_keeps_the_labels_unless_they_are_given() -> None:
    """Sorted, each once, in whatever order they come."""
    mine = machine("farm")
    assert mine.renamed("new", None).labels == ("farm",)
    assert mine.renamed("new", ["b", "a", "b"]).labels == ("a", "b")
    assert mine.renamed("new", []).labels == ()
