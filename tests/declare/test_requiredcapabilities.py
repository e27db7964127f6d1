"""What an action needs follows from its commands, and from nothing that the module says."""

from itertools import permutations

import pytest

from consentry.base.errors import BadInput
from consentry.declare.hostdescription import CommandDeclaration, HostDescription, MutationScope
from consentry.declare.requiredcapabilities import (
    INVOKES_UNASKED,
    WRITES,
    required_capabilities,
)
from consentry.surface.catalog import capability_catalog

HOST = HostDescription(
    "board",
    "2.0.0",
    (
        CommandDeclaration("notes.add", MutationScope.DOC),
        CommandDeclaration("notes.share", MutationScope.SYNC, capabilities=("state.read",)),
        CommandDeclaration("notes.list", MutationScope.LOCAL, capabilities=("state.read",)),
        CommandDeclaration(
            "notes.export", MutationScope.LOCAL, capabilities=("state.read", "export.user.file")
        ),
        CommandDeclaration("view.zoom", MutationScope.LOCAL),
    ),
)


def needed(*calls: str) -> tuple[str, ...]:
    """What a person's call needs."""
    return required_capabilities(calls, HOST, is_automation=False)


def needed_unasked(*calls: str) -> tuple[str, ...]:
    """What the same call needs from automation."""
    return required_capabilities(calls, HOST, is_automation=True)


@pytest.mark.parametrize(
    ("calls", "capabilities"),
    [
        (("view.zoom",), ()),
        (("notes.list",), ("state.read",)),
        (("notes.add",), ("state.write.tx",)),
        (("notes.share",), ("state.read", "state.write.tx")),
        (("notes.export", "notes.list"), ("export.user.file", "state.read")),
        (
            ("notes.share", "view.zoom", "notes.export", "notes.share"),
            ("export.user.file", "state.read", "state.write.tx"),
        ),
    ],
)
def test_it_is_what_the_commands_take(
    calls: tuple[str, ...], capabilities: tuple[str, ...]
) -> None:
    """CONTRACTS §2-derive: theirs together, and the right to write where changes last; each once."""
    assert needed(*calls) == capabilities


def test_automation_needs_one_more_and_none_less() -> None:
    """CONTRACTS §2-derive: the same as when a person clicks, and `automation.invoke` besides."""
    for command in HOST.commands:
        by_a_person = needed(command.command_id)
        assert needed_unasked(command.command_id) == tuple(sorted({*by_a_person, INVOKES_UNASKED}))


def test_the_order_of_calls_does_not_matter() -> None:
    """CONTRACTS §2-derive: whatever the order, the answer is the same and sorted."""
    calls = ("notes.share", "notes.export", "notes.add")
    answers = {needed_unasked(*each) for each in permutations(calls)}
    assert len(answers) == 1
    assert list(answers.pop()) == sorted(needed_unasked(*calls))


@pytest.mark.parametrize("unknown", ["", "notes.ad", "NOTES.ADD", "notes.add ", "x" * 100_000])
def test_an_unknown_command_is_an_error(unknown: str) -> None:
    """CONTRACTS §2-derive: what a command takes that the host does not have, nobody knows."""
    with pytest.raises(BadInput) as caught:
        needed("notes.add", unknown)
    assert "is not a command of the host" in caught.value.message
    assert len(caught.value.message) < 200
    assert str(caught.value.where) == "`calls[1]`"


def test_both_added_ids_are_of_the_catalog() -> None:
    """CONTRACTS §2-derive: what is added here is something that can be asked for and granted."""
    catalog = capability_catalog()
    assert all(catalog.find(each) for each in (WRITES, INVOKES_UNASKED))
