"""What the process tells whoever started it: the exit statuses, each with its meaning."""

from enum import IntEnum


class ExitStatus(IntEnum):
    """What the process tells its caller. `run`-like commands otherwise pass the program's own."""

    DONE = 0
    FOUND = 1
    USAGE = 2
    BAD_DOCUMENT = 3
    PLUGIN_REJECTED = 4
    LEDGER = 5
    PARKED = 75
    TIME_LIMIT = 124
    FAILED = 125
    DENIED = 126
    NOT_FOUND = 127
    INTERRUPTED = 130
    KILLED_BY_LIMIT = 137
    READER_GONE = 141

    @property
    def meaning(self) -> str:
        """One line for the reference and for `consentry explain`."""
        return _STATUS_MEANING[self]


_STATUS_MEANING = {
    ExitStatus.DONE: "done; guard: PASS",
    ExitStatus.FOUND: "guard: BLOCKED; sign-off: NO-GO; a check found something",
    ExitStatus.USAGE: "wrong usage; guard: UNKNOWN; agent hook: blocked",
    ExitStatus.BAD_DOCUMENT: "bad document (file, line and code are printed)",
    ExitStatus.PLUGIN_REJECTED: "a plugin failed its integrity check",
    ExitStatus.LEDGER: "the ledger cannot be written or does not verify",
    ExitStatus.PARKED: "parked, waiting for an answer",
    ExitStatus.TIME_LIMIT: "the time limit was reached",
    ExitStatus.FAILED: "Consentry itself failed",
    ExitStatus.DENIED: (
        "denied: consent, policy or escalation said no, no engine enforces the profile, "
        "a commit was refused or in conflict, or the program is not executable"
    ),
    ExitStatus.NOT_FOUND: "the program was not found",
    ExitStatus.INTERRUPTED: "interrupted with Ctrl-C (128 + SIGINT)",
    ExitStatus.KILLED_BY_LIMIT: "killed by a resource limit",
    ExitStatus.READER_GONE: "the reader of the output went away (128 + SIGPIPE)",
}
