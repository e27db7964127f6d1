"""The name and the code of a capability: what is taken, and what code is known by.

Nothing here is heavy: what ends any request looks here for whose it was.
"""

import re
from typing import Final

from consentry.base.canonical import Digest, digest_bytes
from consentry.base.codes import Code
from consentry.base.errors import BadInput, ConsentryError, UsageProblem
from consentry.base.ids import check_id
from consentry.decide.fields import check_words, problem

PREFIX: Final = "capability"
"""Of the ids of capabilities, and of what is about one."""

TASK: Final = "task"
"""Of what is about the code of a task."""

MOST_CODE: Final = 1024 * 1024
"""So many bytes of UTF-8 may the code of a capability have."""

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.ASCII)


def check_name(name: str) -> str:
    """Returns the name, or raises: lower-case letters, digits, `.`, `_`, `-`, and not like an id."""
    if _NAME.fullmatch(name) is None:
        raise problem(
            "name",
            f"`{name}` is not a name of 1 to 64 lower-case letters, digits, `.`, `_` and `-`, "
            "with a letter or digit first",
        )
    if is_capability_id(name):
        raise problem("name", f"`{name}` would be taken for the id of a capability")
    return name


def subject_of(capability_id: str, *, ephemeral: bool = False) -> str:
    """What questions, permits and records name: a capability, or a task whose id stands for one's."""
    return f"{TASK if ephemeral else PREFIX}:{capability_id}"


def is_capability_id(text: str) -> bool:
    """Whether that is what a capability may be known by in the store and the log."""
    try:
        check_id(text, PREFIX)
    except ConsentryError:
        return False
    return True


def check_code(code: str) -> str:
    """Returns the code if it can be saved, or raises `capability-code`."""
    try:
        check_words("code", code)
    except BadInput as wrong:
        raise UsageProblem(Code.CAPABILITY_CODE, f"the code is no text: {wrong.message}") from None
    size = len(code.encode())
    if size > MOST_CODE:
        raise UsageProblem(
            Code.CAPABILITY_CODE, f"the code has {size} bytes, and {MOST_CODE} are the most"
        )
    return code


def digest_of_code(code: str) -> Digest:
    """What a version of a capability is known by: the digest of its code in UTF-8."""
    return digest_bytes(code.encode())
