"""A graph is held against its package and host: it reaches no further, and asks no less."""

from dataclasses import replace

import pytest

from consentry.base.errors import BadDocument
from consentry.declare.actiongraph import ActionGraph, Approval
from consentry.declare.actiongraphcheck import approval_of, check_action_graph
from consentry.declare.hostdescription import (
    ApprovalLevel,
    ApprovalRule,
    CommandDeclaration,
    HostDescription,
    MutationScope,
)
from tests.declare.actiongraphs import (
    HARD,
    HOST,
    MODULE,
    PACKAGE,
    SOFT,
    action,
    button,
    check,
    package_with,
    refused,
)

OWN_SOFT = ApprovalRule("why", ApprovalLevel.SOFT)
OWN_HARD = ApprovalRule("why", ApprovalLevel.HARD)


def test_a_graph_that_fits() -> None:
    """CONTRACTS §2-calls: commands that are bound, paths they change, and their undo."""
    check(
        action("notes.add", mutates=("/notes/4",), undo_command="notes.remove"),
        action(
            "view.zoom", "notes.add", "notes.add", mutates=("/notes",), undo_command="view.zoom"
        ),
        action("notes.share", mutates=("/shared",), requires_approval=SOFT),
        action("board.clear", requires_approval=HARD),
    )


def test_the_graph_of_another_module() -> None:
    """CONTRACTS §2-shape: a graph counts for the package it names, and for no other."""
    with pytest.raises(BadDocument) as caught:
        check_action_graph(ActionGraph("other-module"), PACKAGE, HOST)
    assert [each.where.field for each in caught.value.problems] == ["moduleId"]
    check_action_graph(ActionGraph(MODULE), PACKAGE, HOST)


def test_a_graph_reaches_no_further_than_the_bindings() -> None:
    """CONTRACTS §2-calls: a command of the host without a binding is refused, and with one it passes."""
    reaching = action("view.zoom", "account.delete")
    assert refused(reaching) == [
        (
            "actions[0].calls[1]: the package has no binding for `account.delete`; "
            "call what the package is bound to; a graph reaches no further"
        )
    ]
    bound = package_with((button("a", "account.delete"), button("z", "view.zoom")))
    check_action_graph(ActionGraph(MODULE, (reaching,)), bound, HOST)


@pytest.mark.parametrize("unknown", ["notes.ad", "Notes.add", "notes.*", "*", "notes."])
def test_a_command_that_the_host_does_not_have(unknown: str) -> None:
    """CONTRACTS §2-calls: ids are exact; wildcards and prefixes name no command."""
    help_line = "call a command that the host's description has"
    assert refused(action("view.zoom", unknown), action("view.zoom", undo_command=unknown)) == [
        f"actions[0].calls[1]: `{unknown}` is not a command of the host; {help_line}",
        f"actions[1].undoCommand: `{unknown}` is not a command of the host; {help_line}",
    ]


def test_an_action_calls_something() -> None:
    """CONTRACTS §2-calls: what calls nothing would need nothing, and be allowed everywhere."""
    assert refused(action()) == [
        "actions[0].calls: the action calls no command; name a command, or remove it"
    ]


def test_an_undo_is_no_way_around_the_bindings() -> None:
    """CONTRACTS §2-calls: it is bound, or the host's own undo of what is called; else refused."""
    check(action("notes.add", undo_command="notes.remove"))
    check(action("view.zoom", undo_command="notes.add"))
    for undo in ("account.delete", "notes.remove"):
        assert refused(action("view.zoom", undo_command=undo)) == [
            (
                f"actions[0].undoCommand: `{undo}` neither undoes a called command nor has a binding; "
                "name the undo of a command that is called, or null"
            )
        ]


@pytest.mark.parametrize("path", ["/system", "/notesx", "/Notes", "/account", "/", "/a/b", "/c"])
def test_only_writable_paths(path: str) -> None:
    """CONTRACTS §2-calls: `mutates` has writable state paths only, also where a command changes others."""
    (said,) = refused(action("board.clear", mutates=("/notes", path), requires_approval=HARD))
    assert said == (
        f"actions[0].mutates[1]: `{path}` is not a writable state path of the host; "
        "what can be written lies below `/notes`, `/trash`, `/shared`, `/a~1b`, `/c~0d`"
    )


def test_only_what_a_called_command_changes() -> None:
    """CONTRACTS §2-calls: a writable path that no called command says it changes is refused."""
    claiming = action("notes.add", mutates=("/notes", "/shared/x"))
    assert refused(claiming) == [
        (
            "actions[0].mutates[1]: no called command says that it changes `/shared/x`; "
            "name only what the called commands change"
        )
    ]
    check(replace(claiming, calls=("notes.add", "notes.share"), requires_approval=SOFT))


def test_a_host_without_writable_state() -> None:
    """CONTRACTS §2-calls: an empty list denies every path."""
    host = replace(HOST, writable_paths=())
    with pytest.raises(BadDocument, match="is not a writable state path") as caught:
        check_action_graph(
            ActionGraph(MODULE, (action("notes.add", mutates=("/notes",)),)), PACKAGE, host
        )
    assert caught.value.help_line == "leave it out; this host has no writable state"


@pytest.mark.parametrize(
    ("command", "said", "complaint"),
    [
        ("view.zoom", False, None),
        ("view.zoom", True, None),
        ("view.zoom", OWN_SOFT, None),
        ("notes.share", False, "no approval is required, and `notes.share` requires soft approval"),
        ("notes.share", OWN_SOFT, None),
        ("notes.share", OWN_HARD, None),
        ("notes.share", True, None),
        ("board.clear", False, "no approval is required, and `board.clear` requires hard approval"),
        (
            "board.clear",
            OWN_SOFT,
            "soft approval is required, and `board.clear` requires hard approval",
        ),
        ("board.clear", OWN_HARD, None),
        ("board.clear", True, None),
    ],
)
def test_no_action_asks_less_than_its_commands(
    command: str, said: Approval, complaint: str | None
) -> None:
    """CONTRACTS §2-approval: false and soft are refused where a command is hard; more is always fine."""
    written = action("view.zoom", command, requires_approval=said)
    if complaint is None:
        check(written)
        return
    (found,) = refused(written)
    assert found.startswith(f"actions[0].requiresApproval: {complaint}; ")


@pytest.mark.parametrize(
    ("own", "is_fine"), [(None, True), ("operator", True), ("owner", True), ("viewer", False)]
)
def test_an_action_names_no_other_approver(own: str | None, is_fine: bool) -> None:  # noqa: FBT001 - a column
    """CONTRACTS §2-approval: the commands' approver, none, or the owner, who has every role."""
    written = action("board.clear", requires_approval=replace(OWN_HARD, approver=own))
    if is_fine:
        check(written)
    else:
        assert refused(written)[0].startswith(
            "actions[0].requiresApproval: different approvers are named: `viewer`, `operator`; "
        )


def host_with(*rules: ApprovalRule | None) -> HostDescription:
    """A host whose commands `c0`, `c1`, … have these rules."""
    return HostDescription(
        "h",
        "1.0.0",
        tuple(
            CommandDeclaration(f"c{index}", MutationScope.LOCAL, requires_approval=rule)
            for index, rule in enumerate(rules)
        ),
    )


@pytest.mark.parametrize(
    ("approvers", "is_fine"),
    [
        (("operator", "viewer"), False),
        (("operator", None), True),
        (("operator", "owner"), True),
        (("operator", "viewer", "owner"), True),
    ],
)
def test_commands_of_different_approvers(
    approvers: tuple[str | None, ...],
    is_fine: bool,  # noqa: FBT001 - a column
) -> None:
    """CONTRACTS §2-approval: nobody stands for two roles but the owner, so they are actions apart."""
    host = host_with(*(replace(OWN_HARD, approver=each) for each in approvers))
    ids = tuple(each.command_id for each in host.commands)
    package = package_with(tuple(button(each, each) for each in ids))
    graph = ActionGraph(MODULE, (action(*ids, requires_approval=OWN_HARD),))
    if is_fine:
        check_action_graph(graph, package, host)
    else:
        with pytest.raises(BadDocument, match="different approvers are named"):
            check_action_graph(graph, package, host)


def test_all_that_is_wrong_is_told_at_once() -> None:
    """CONTRACTS §2-calls: in the order of the graph, each by its field, the same each time."""
    bad = action("nope", "board.clear", mutates=("/x", "/y"), undo_command="nope")
    found = [each.partition(":")[0] for each in refused(bad, bad)]
    fields = ("calls[0]", "mutates[0]", "mutates[1]", "requiresApproval", "undoCommand")
    assert found == [f"actions[{index}].{field}" for index in (0, 1) for field in fields]
    assert refused(bad, bad) == refused(bad, bad)


def test_hostile_names_do_not_swell_messages() -> None:
    """CONTRACTS §2-calls: a name of a megabyte is clipped in what is said about it."""
    long = "x" * 1_000_000
    for said in refused(action(long, mutates=(f"/{long}",), undo_command=long)):
        assert len(said) < 400


@pytest.mark.parametrize(
    ("own", "rules", "expected"),
    [
        (False, (None,), None),
        (False, (None, SOFT), SOFT),
        (False, (SOFT, HARD), HARD),
        (OWN_SOFT, (None,), OWN_SOFT),
        (OWN_SOFT, (SOFT,), SOFT),
        (OWN_HARD, (SOFT,), OWN_HARD),
        (OWN_SOFT, (HARD,), HARD),
        (OWN_HARD, (HARD,), HARD),
        (OWN_HARD, (replace(SOFT, approver="viewer"),), replace(OWN_HARD, approver="viewer")),
        (replace(OWN_SOFT, approver="owner"), (HARD,), replace(HARD, approver="owner")),
    ],
)
def test_the_strictest_counts(
    own: Approval, rules: tuple[ApprovalRule | None, ...], expected: ApprovalRule | None
) -> None:
    """CONTRACTS §2-approval: the strictest level and approver; of two as strict the host's own reason."""
    host = host_with(*rules)
    ids = [each.command_id for each in host.commands]
    assert approval_of(action(*ids, requires_approval=own), host) == expected
    if all(rule is None for rule in rules) or own is False:
        backwards = approval_of(action(*reversed(ids), requires_approval=own), host)
        assert backwards == expected


def test_a_bare_true_is_hard() -> None:
    """CONTRACTS §2-approval: a yes is remembered only where somebody wrote `soft`."""
    found = approval_of(action("view.zoom", requires_approval=True), HOST)
    assert found is not None
    assert found.level is ApprovalLevel.HARD
    assert found.reason
