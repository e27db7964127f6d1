"""How the kernel hands over the calls that a filter traps, and how each is answered."""

import fcntl
from _struct import Struct

RECEIVE, SEND, IS_THERE, ADD = 0xC0502100, 0xC0182101, 0x40082102, 0x40182103
ADD_AND_SEND = 2
GO_ON = 1
# An id, a thread, flags, the call's number, the machine, where it was called from, six arguments.
NOTIFICATION = Struct("<QIIiIQ6Q")
NO_NOTIFICATION = bytes(NOTIFICATION.size)
ANSWER = Struct("<QqiI")
# An id, flags, the descriptor here, and its number and flags there.
HAND_IN = Struct("<QIIII")
NUMBER_BYTES = 8

_SET_FLAGS = 0x40082104
_SYNC_WAKE_UP = 1


def wake_in_step(listener: int) -> bool:
    """Whether the kernel hands over to the observer on the same processor; slower without."""
    try:
        fcntl.ioctl(listener, _SET_FLAGS, _SYNC_WAKE_UP)
    except OSError:
        return False
    return True


def is_there(listener: int, number: int) -> bool:
    """Whether the caller still waits for its answer."""
    try:
        fcntl.ioctl(listener, IS_THERE, number.to_bytes(NUMBER_BYTES, "little"))
    except OSError:
        return False
    return True
