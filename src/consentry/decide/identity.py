"""Who asked, who answered, and in which role.

    local:1000:name@machine    a person at a terminal of a machine
    web:account                a person logged in to the inbox
    policy:<sha256>            an operator's policy file, by its hash
    system                     nobody: a deadline passed, a policy changed

An identity names; it does not prove. A process of the same user can write the same words, and
`SECURITY.md` says what stands against that.
"""

import re
from enum import StrEnum
from typing import Final, NewType

from consentry.base.canonical import Digest
from consentry.decide.fields import problem

Identity = NewType("Identity", str)

SYSTEM: Final = Identity("system")

_LOCAL = re.compile(r"local:(0|[1-9][0-9]{0,9}):(.+)@([^@]+)", re.ASCII | re.DOTALL)
_WEB = re.compile(r"web:(.+)", re.DOTALL)
_POLICY = re.compile(r"policy:[0-9a-f]{64}", re.ASCII)


class Role(StrEnum):
    """In which capacity somebody acts."""

    OWNER = "owner"
    APPROVER = "approver"
    OPERATOR = "operator"
    VIEWER = "viewer"
    SYSTEM = "system"


def local_identity(uid: int, name: str, machine: str) -> Identity:
    """A person at a terminal."""
    return check_identity("identity", f"local:{uid}:{name}@{machine}")


def web_identity(account: str) -> Identity:
    """A person logged in to the inbox."""
    return check_identity("identity", f"web:{account}")


def policy_identity(policy: Digest) -> Identity:
    """An operator's policy file."""
    return check_identity("identity", f"policy:{policy.removeprefix('sha256:')}")


def check_identity(name: str, text: str) -> Identity:
    """Returns the text if it is an identity, and raises naming the field otherwise."""
    known = text == SYSTEM or any(form.fullmatch(text) for form in (_LOCAL, _WEB, _POLICY))
    if not known or not text.isprintable():
        forms = "local:<uid>:<name>@<machine>, web:<account>, policy:<sha256>, system"
        raise problem(name, f"`{text}` has none of the forms {forms}")
    return Identity(text)


def is_person(identity: Identity) -> bool:
    """Whether it names a person, not a policy or the system itself."""
    return identity.startswith(("local:", "web:"))


def check_person(name: str, text: str) -> None:
    """Raises unless the text is the identity of a person."""
    if not is_person(check_identity(name, text)):
        raise problem(name, f"`{text}` is not a person")


def check_role(name: str, identity: Identity, role: Role) -> None:
    """Raises unless the role fits: `system` where no person acts, and only there."""
    if is_person(identity) == (role is Role.SYSTEM):
        raise problem(name, f"`{identity}` cannot act as `{role}`")
