"""Identities: four forms and no other; roles that fit them."""

import pytest

from consentry.base.errors import BadInput
from consentry.decide.identity import (
    SYSTEM,
    Identity,
    Role,
    check_identity,
    check_person,
    check_role,
    is_person,
    local_identity,
    policy_identity,
    web_identity,
)
from consentry.record.eventfields import ROLES
from tests.decide.samples import DIGEST


def test_the_four_forms() -> None:
    """Each is what it is made to be."""
    assert local_identity(0, "root", "host") == "local:0:root@host"
    assert local_identity(1000, "DOMAIN\\a user@REALM", "h").endswith(":DOMAIN\\a user@REALM@h")
    assert web_identity("a@b.example") == "web:a@b.example"
    assert policy_identity(DIGEST) == "policy:" + "a" * 64
    assert check_identity("by", "system") == SYSTEM


@pytest.mark.parametrize(
    "text",
    [
        "",
        "root",
        "System",
        "system ",
        "local:root@host",
        "local:01:root@host",
        "local:-1:root@host",
        "local:٣:root@host",
        "local:0:@host",
        "local:0:root@",
        "local:0:root",
        "web:",
        "web:a\nb",
        "web:a\u202eb",
        "policy:" + "a" * 63,
        "policy:" + "A" * 64,
        "policy:sha256:" + "a" * 64,
        "tool:build",
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    """Also what only looks like one: other digits, control and direction marks."""
    with pytest.raises(BadInput, match="`by`"):
        check_identity("by", text)


def test_persons_are_told_from_policies_and_the_system() -> None:
    """A subject is not a person either."""
    assert is_person(local_identity(1, "a", "b"))
    assert is_person(web_identity("a"))
    assert not is_person(SYSTEM)
    for text in ("system", "policy:" + "0" * 64, "tool:x"):
        with pytest.raises(BadInput):
            check_person("givenBy", text)


@pytest.mark.parametrize("role", list(Role))
def test_the_role_system_is_for_what_is_no_person(role: Role) -> None:
    """And every other role for persons."""
    person, policy = web_identity("a"), policy_identity(DIGEST)
    fits, other = (policy, person) if role is Role.SYSTEM else (person, policy)
    check_role("role", Identity(fits), role)
    with pytest.raises(BadInput):
        check_role("role", Identity(other), role)


def test_the_ledger_knows_the_same_roles() -> None:
    """What is kept here can be recorded there."""
    assert tuple(Role) == ROLES
