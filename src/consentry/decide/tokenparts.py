"""Which token is meant: the one in hand, or the one of that kind in a bundle.

Told by a class, and one of the few functions that the capability fence lets be told so: it makes nothing.
"""

from typing import TypeVar

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.decide.tokenrecords import refused
from consentry.decide.tokens import (
    CapabilityBundle,
    FsReadWriteCapability,
    GitLocalOpsCapability,
    NpmInstallCapability,
)

Part = TypeVar("Part", NpmInstallCapability, FsReadWriteCapability, GitLocalOpsCapability)


def part_of(token: object, wanted: type[Part]) -> Part:
    """The token of that kind; raises where there is none."""
    if isinstance(token, CapabilityBundle):
        for each in token.parts:
            if isinstance(each, wanted):
                return each
        raise refused(token.token_id, f"has no `{wanted.__name__}` in it")
    if not isinstance(token, wanted):
        name = type(token).__name__
        raise Refused(
            Code.TOKEN_REFUSED,
            f"this is done with a `{wanted.__name__}`, and `{name}` is none; nothing was done",
        )
    return token
