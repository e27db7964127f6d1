"""Who is at this terminal, in the words that are recorded.

Root that came by sudo is recorded as the person who called it. The name is the account's, for
reading; the number is what counts. The machine is the one whose state directory is used. An
identity names and proves nothing: root, and every process of the same user, can write the same.
"""

import pwd
from collections.abc import Callable

from consentry.decide.identity import Identity, local_identity
from consentry.service.surroundings import Surroundings, caller_behind_sudo


def account_name(uid: int) -> str | None:
    """What the user database calls this account."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def local_user(
    around: Surroundings, machine_id: str, name_of: Callable[[int], str | None] = account_name
) -> Identity:
    """The person at this terminal of this machine."""
    caller = caller_behind_sudo(around)
    uid = around.uid if caller is None else caller
    name = name_of(uid)
    # An account may have no name, or one that is not fit to be read; its number is both.
    readable = name if name and name.isprintable() else str(uid)
    return local_identity(uid, readable, machine_id)
