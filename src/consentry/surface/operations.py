"""The kinds of operation that are refused one by one, whoever refuses them.

The first six are those that ESCALATION names. A set or a line opens the first four; `run` and `ffi`
are never escalated; of the last two only a JavaScript runtime speaks.
"""

from enum import StrEnum


class Operation(StrEnum):
    """What was refused."""

    READ = "read"
    WRITE = "write"
    NET = "net"
    ENV = "env"
    RUN = "run"
    FFI = "ffi"
    SYS = "sys"
    IMPORT = "import"
