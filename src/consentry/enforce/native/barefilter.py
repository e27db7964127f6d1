"""What else is refused to a program that has no namespaces of its own around it.

It stands in the host's own tree, beside the host's own processes, and Landlock governs neither the
mode, owner, times and marks of a file, nor who watches a folder, nor what System V shares, nor the
limits and priorities of another process of the same user. Here these calls are refused altogether,
also where they would be harmless: an argument that is a name cannot be judged.

This filter is put on before the usual one, and takes nothing back of it.
"""

import errno
from typing import Final

from consentry.enforce.native.seccompfilter import ALLOW, ERRNO, FilterProgram
from consentry.enforce.native.syscallnumbers import NUMBERS

REFUSED: Final = (
    # modes, owners, times and marks
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime",
    "utimes", "futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat",
    "removexattr", "lremovexattr", "fremovexattr", "removexattrat", "file_setattr",
    # what happens in folders that may not be listed
    "inotify_init", "inotify_init1",
    # what the whole host shares
    "shmget", "shmat", "shmctl", "semget", "semop", "semctl", "semtimedop", "msgget", "msgsnd",
    "msgrcv", "msgctl", "mq_open", "mq_unlink",
    # sockets: there is none to be connected, but one may have been handed in
    "connect", "bind", "listen", "accept", "accept4",
    "process_mrelease",
)  # fmt: skip
# Where the first argument is a process; 0 is the caller itself.
_OF_ONESELF: Final = (
    "prlimit64", "sched_setparam", "sched_setscheduler", "sched_setaffinity", "sched_setattr",
)  # fmt: skip
# Which kind of processes, and which one; not a user's, who has others.
_RANKS: Final = (("setpriority", (0, 1)), ("ioprio_set", (1, 2)))
_LEASES: Final = (1024, 1026)  # F_SETLEASE holds writers up, F_NOTIFY watches a folder
# Requests to terminals, pipes and descriptors; all others go to file systems and drivers.
_OF_TERMINALS, _KIND_OF_REQUEST = 0x5400, 0xFF00


def compile_bare_filter(machine: str) -> bytes:
    """The filter as the kernel takes it."""
    numbers = NUMBERS[machine]
    refused = ERRNO | errno.EPERM
    code = FilterProgram.begun(machine)
    code.if_among((numbers[name] for name in REFUSED if name in numbers), refused)
    for name in _OF_ONESELF:
        code.unless_argument_among(numbers[name], 0, (0,), refused)
    for name, kinds in _RANKS:
        code.unless_argument_among(numbers[name], 0, kinds, refused)
        code.unless_argument_among(numbers[name], 1, (0,), refused)
    code.if_argument_among(numbers["fcntl"], 1, _LEASES, refused)
    code.unless_argument_among(
        numbers["ioctl"],
        1,
        (_OF_TERMINALS,),
        ERRNO | errno.ENOTTY,
        within=_KIND_OF_REQUEST,
    )
    code.give(ALLOW)
    return code.assembled()
