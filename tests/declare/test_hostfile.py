"""The description of a host is read strictly, from a file and from Python by the same rules."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.errors import BadDocument, BadInput
from consentry.base.values import replace
from consentry.declare.hostdescription import (
    ApprovalLevel,
    ApprovalRule,
    CommandDeclaration,
    HostDescription,
    MutationScope,
    QueuePolicy,
)
from consentry.declare.hostfile import check_host, read_host
from consentry.surface.catalog import capability_catalog
from tests.declare.modulesamples import HOST

CATALOG_IDS = [each.capability_id for each in capability_catalog().entries]
ROLES = ["owner", "approver", "operator", "viewer"]


def document() -> dict[str, Any]:
    """The description of the sample host, as it is written."""
    plain: dict[str, Any] = json.loads(json.dumps(HOST.to_json()))
    return plain


def read(described: object, name: str = "board.json") -> HostDescription:
    """Reads a document that is given as values."""
    return read_host(json.dumps(described, indent=1).encode(), name)


def test_a_description_is_read_as_it_was_written() -> None:
    """What `to_json` writes is the format."""
    assert read(HOST.to_json()) == HOST
    assert read(HOST.to_json()).digest == HOST.digest


def test_most_keys_may_be_left_out() -> None:
    """Only six must be there; the others have the values of an unwritten command."""
    least = {
        "hostVersion": 1,
        "hostId": "abc",
        "appVersion": "1.0.0",
        "commands": [{"commandId": "a", "mutationScope": "sync"}],
    }
    assert read(least) == HostDescription(
        "abc", "1.0.0", (CommandDeclaration("a", MutationScope.SYNC),)
    )


def test_yaml_is_taken_too() -> None:
    """By the name of the file, as for every document."""
    text = 'hostVersion: 1\nhostId: abc\nappVersion: "1.0.0"\ncommands: []\n'
    assert read_host(text.encode(), "host.yaml") == HostDescription("abc", "1.0.0")


@pytest.mark.parametrize("key", ["hostVersion", "hostId", "appVersion", "commands"])
def test_what_must_be_there(key: str) -> None:
    """A missing key is named."""
    described = document()
    del described[key]
    with pytest.raises(BadDocument) as caught:
        read(described)
    assert [each.where.field for each in caught.value.problems] == [key]


@pytest.mark.parametrize("key", ["commandId", "mutationScope"])
def test_what_a_command_must_have(key: str) -> None:
    """A missing key of a command is named, with its index."""
    described = document()
    del described["commands"][1][key]
    with pytest.raises(BadDocument) as caught:
        read(described)
    assert f"commands[1].{key}" in [each.where.field for each in caught.value.problems]


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """The sample with one change."""
    described = document()
    change(described)
    return described


def of_command(**keys: object) -> dict[str, Any]:
    """The sample whose first command has these keys."""
    return changed(lambda whole: whole["commands"][0].update(keys))


WRONG = {
    "an unknown key": (changed(lambda whole: whole.update(more=1)), "more"),
    "another version": (changed(lambda whole: whole.update(hostVersion=2)), "hostVersion"),
    "a version that is text": (changed(lambda whole: whole.update(hostVersion="1")), "hostVersion"),
    "an id too short": (changed(lambda whole: whole.update(hostId="ab")), "hostId"),
    "an id with a line's end": (changed(lambda whole: whole.update(hostId="abc\n")), "hostId"),
    "no version": (changed(lambda whole: whole.update(appVersion="1.0")), "appVersion"),
    "no pointer": (changed(lambda whole: whole.update(writablePaths=["notes"])), None),
    "a tilde alone": (changed(lambda whole: whole["writablePaths"].append("/a~2")), None),
    "commands that are no list": (changed(lambda whole: whole.update(commands={})), "commands"),
    "a command that is none": (
        changed(lambda whole: whole["commands"].append("notes.list")),
        "commands[5]",
    ),
    "a command twice": (
        changed(lambda whole: whole["commands"].append(whole["commands"][0])),
        "commands[5]",
    ),
    "an unknown key of a command": (of_command(handler="x"), "commands[0].handler"),
    "an id in capitals": (of_command(commandId="Notes.list"), "commands[0].commandId"),
    "an id with two dots": (of_command(commandId="notes..list"), "commands[0].commandId"),
    "an id with a dot behind": (of_command(commandId="notes."), "commands[0].commandId"),
    "an id too long": (of_command(commandId="a" * 129), "commands[0].commandId"),
    "an id with a line's end behind": (of_command(commandId="notes\n"), "commands[0].commandId"),
    "a scope that is none": (of_command(mutationScope="all"), "commands[0].mutationScope"),
    "an empty label": (of_command(label=""), "commands[0].label"),
    "no catalog id": (of_command(capabilities=["state.*"]), "commands[0].capabilities[0]"),
    "a capability twice": (
        of_command(capabilities=["state.read", "state.read"]),
        "commands[0].capabilities[1]",
    ),
    "nothing for a list": (of_command(capabilities=None), "commands[0].capabilities"),
    "approval by true": (of_command(requiresApproval=True), "commands[0].requiresApproval"),
    "approval without a reason": (
        of_command(requiresApproval={"level": "soft"}),
        "commands[0].requiresApproval.reason",
    ),
    "approval of another level": (
        of_command(requiresApproval={"reason": "r", "level": "none"}),
        "commands[0].requiresApproval.level",
    ),
    "an approver that is no role": (
        of_command(requiresApproval={"reason": "r", "level": "soft", "approver": "system"}),
        "commands[0].requiresApproval.approver",
    ),
    "a role that no person has": (of_command(role="system"), "commands[0].role"),
    "a queue that is none": (of_command(queue="later"), "commands[0].queue"),
    "nothing for the queue": (of_command(queue=None), "commands[0].queue"),
    "undone by another host": (of_command(undoCommand="files.undo"), "commands[0].undoCommand"),
    "what cannot be written": (of_command(mutates=["/settings"]), "commands[0].mutates[0]"),
    "what only begins so": (of_command(mutates=["/notesx"]), "commands[0].mutates[0]"),
    "what is above": (of_command(mutates=[""]), "commands[0].mutates[0]"),
    "a tag with a space": (of_command(auditTags=["a b"]), "commands[0].auditTags[0]"),
    "a tag too long": (of_command(auditTags=["a" * 65]), "commands[0].auditTags[0]"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str) -> None:
    """Each is one error, and names its place in the file."""
    described, field = WRONG[name]
    with pytest.raises(BadDocument) as caught:
        read(described)
    first = caught.value.problems[0]
    assert (first.where.file, first.where.line is not None) == ("board.json", True)
    if field is not None:
        assert [each.where.field for each in caught.value.problems] == [field]


def test_everything_that_is_wrong_is_told_at_once() -> None:
    """In the order of the document, with file, line and column."""
    described = of_command(role="system", queue="later", undoCommand="files.undo")
    with pytest.raises(BadDocument) as caught:
        read(described)
    assert [str(each.where).split(" ")[0] for each in caught.value.problems] == [
        "board.json:18:12",
        "board.json:19:13",
        "board.json:20:19",
    ]


BUILT_WRONG = {
    "a command twice": replace(HOST, commands=(*HOST.commands, HOST.commands[0])),
    "an id that is none": replace(HOST, host_id="Note Board"),
    "a version that is none": replace(HOST, app_version="2"),
    "half of a surrogate pair": replace(
        HOST, commands=(CommandDeclaration("a.b", MutationScope.DOC, label="\ud800"),)
    ),
    "what cannot be written": replace(HOST, writable_paths=()),
    "an unknown capability": replace(
        HOST, commands=(CommandDeclaration("a", MutationScope.LOCAL, capabilities=("state",)),)
    ),
}


def test_the_sample_host_is_checked() -> None:
    """What is right passes, and the sample that other tests use is right."""
    check_host(HOST)
    assert read(HOST.to_json()).command("notes.add") == HOST.command("notes.add")


@pytest.mark.parametrize("name", BUILT_WRONG)
def test_one_that_was_built_in_python_keeps_the_same_rules(name: str) -> None:
    """The same errors as for a file with the same content."""
    host = BUILT_WRONG[name]
    with pytest.raises(BadInput) as built:
        check_host(host)
    with pytest.raises(BadInput) as written:
        read(host.to_json(), "host.json")
    assert str(built.value) == str(written.value)


def test_a_command_needs_at_least_one_capability() -> None:
    """MODULES §deny-1: what lasts needs `state.write.tx` by itself, all else has to say what it takes."""
    local: dict[str, Any] = {"commandId": "view.zoom", "mutationScope": "local"}
    for command in (local, {**local, "capabilities": []}):
        with pytest.raises(BadDocument) as caught:
            read({**document(), "commands": [command]})
        [problem] = caught.value.problems
        assert (problem.where.field, problem.message) == (
            "commands[0]",
            "`view.zoom` needs no capability, so no grant could allow it",
        )
    for right in ({"mutationScope": "doc"}, {"capabilities": ["state.read"]}):
        assert read({**document(), "commands": [{**local, **right}]}).command("view.zoom")


@pytest.mark.parametrize(
    "wrong", [{"capabilities": ["state.*"]}, {"capabilities": 1}, {"mutationScope": "none"}]
)
def test_what_is_wrong_with_a_command_is_told_once(wrong: dict[str, Any]) -> None:
    """A need that cannot be read is not also told as none."""
    command = {"commandId": "view.zoom", "mutationScope": "local", **wrong}
    with pytest.raises(BadDocument) as caught:
        read({**document(), "commands": [command]})
    assert len(caught.value.problems) == 1


IDS = st.from_regex(r"[a-z][a-z0-9]{0,5}([.-][a-z0-9]{1,4}){0,3}", fullmatch=True)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)
COMMANDS = st.lists(
    st.builds(
        CommandDeclaration,
        IDS,
        st.sampled_from(MutationScope),
        label=st.none() | TEXTS,
        capabilities=st.lists(st.sampled_from(CATALOG_IDS), unique=True).map(tuple),
        requires_approval=st.none()
        | st.builds(
            ApprovalRule,
            TEXTS,
            st.sampled_from(ApprovalLevel),
            st.none() | st.sampled_from(ROLES),
        ),
        role=st.none() | st.sampled_from(ROLES),
        queue=st.sampled_from(QueuePolicy),
        mutates=st.lists(st.sampled_from(["/a", "/a/~0b", "/a/~1/c", "/é"]), unique=True).map(
            tuple
        ),
        audit_tags=st.lists(IDS, unique=True, max_size=3).map(tuple),
    ).filter(lambda command: command.capabilities or command.mutation_scope.is_lasting),
    unique_by=lambda command: command.command_id,
    max_size=4,
).map(tuple)


@given(COMMANDS)
def test_any_right_description_is_read_as_it_was_written(
    commands: tuple[CommandDeclaration, ...],
) -> None:
    """Whatever its commands are."""
    host = HostDescription("any-host", "1.0.0-rc.1+b", commands, ("/a", "/é"))
    check_host(host)
    assert read(host.to_json()) == host
