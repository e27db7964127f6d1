"""Which token is meant: the one in hand, or the one of that kind in a bundle.

Told by a class, and one of the few functions that the capability fence lets be told so: it makes nothing.
"""

from typing import TypeVar

from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused
from consentry.decide.tokenrecords import refused
from consentry.decide.tokens import (
    CapabilityBundle,
    FsReadWriteCapability,
    GitLocalOpsCapability,
    NpmInstallCapability,
)

Part = TypeVar("Part", NpmInstallCapability, FsReadWriteCapability, GitLocalOpsCapability)


def part_of(token: object, wanted: type[Part]) -> Part:
    """The token of that kind, read anew from what it says; raises where there is none.

    A class derived from one of the four, or a set that answers for itself, could say one thing when its
    digest is asked for and another when the operation looks.
    """
    found: object = token
    if type(token) is CapabilityBundle:
        found = next((each for each in token.parts if type(each) is wanted), None)
        if found is None:
            raise refused(token.token_id, f"has no `{wanted.__name__}` in it")
    if type(found) is not wanted:
        name = type(found).__name__
        raise Refused(
            Code.TOKEN_REFUSED,
            f"this is done with a `{wanted.__name__}`, and `{name}` is none; nothing was done",
        )
    try:
        return wanted.from_text(found.model_dump_json(warnings="error"))
    except (BadInput, ValueError, TypeError) as problem:
        raise Refused(
            Code.TOKEN_REFUSED, f"this was never minted, so nothing was done: {problem}"
        ) from problem
