"""How many datagrams a box's programs sent that nobody heard, by the kernel's own count.

Only questions for names are heard in a box; every other datagram ends there, and whoever sent it is
told so. Which programs they were for is not counted, only that there were some.
"""

import os

_COLUMN = b"NoPorts"
_MOST_BYTES = 1 << 16


class LostDatagrams:
    """The counters of one box's network; they can be read when the box is gone."""

    def __init__(self, pid: int) -> None:
        self._files: list[int] = []
        for name in (b"snmp", b"snmp6"):
            try:
                place = b"/proc/%d/net/%s" % (pid, name)
                self._files.append(os.open(place, os.O_RDONLY | os.O_CLOEXEC))
            except OSError:
                continue  # without IPv6 there is nothing to count, and a box that is gone sent none

    def count(self) -> int:
        """All of them so far."""
        return sum(counted(os.pread(each, _MOST_BYTES, 0)) for each in self._files)

    def close(self) -> None:
        """Lets go of the counters."""
        for each in self._files:
            os.close(each)


def counted(table: bytes) -> int:
    """The number in a table of either kind: names and numbers in two rows, or one pair a row."""
    names: list[bytes] = []
    for row in table.splitlines():
        words = row.split()
        if words and words[0] == b"Udp:":
            if names:
                return int(words[names.index(_COLUMN)])
            names = words
        elif words and words[0] == b"Udp6" + _COLUMN:
            return int(words[1])
    return 0
