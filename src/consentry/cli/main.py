"""The entry of the `consentry` command, and the one place where failures become messages.

Imports nothing of weight, so that an interrupt or a fault while the rest is loading is answered
like any other: one message, the documented exit status, and never a traceback by surprise. An
interrupt before this file runs, while the interpreter itself starts, is out of its reach.
"""

import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress

# The status of `internal-fault`, spelled out: the table may be what cannot be loaded.
_FAILED = 125
# Likewise that of `not-enforceable`: most of the rest cannot be loaded on Windows at all.
_DENIED = 126
_NOT_ON_WINDOWS = (
    b"consentry: error[not-enforceable]: nothing runs on Windows yet: `docker` is the engine that is "
    b"meant for it, but the locks and terminals that this version needs are Unix's; Windows Sandbox is "
    b"not supported\n"
    b"help: run it inside WSL 2, which is Linux\n"
)


def main() -> None:
    """Runs the command line this process was started with, and exits with its status."""
    if sys.platform == "win32":
        os.write(2, _NOT_ON_WINDOWS)
        sys.exit(_DENIED)
    _fill_closed_descriptors()
    sys.exit(run(sys.argv[1:], _consentry))


def run(arguments: list[str], program: Callable[[list[str]], int]) -> int:
    """Runs `program` and turns whatever it raises into a message and an exit status."""
    try:
        return int(program(arguments))
    except SystemExit:
        raise
    except BaseException as problem:  # noqa: BLE001 - the outermost boundary: nothing may pass it
        return _report(problem, arguments)


def _report(problem: BaseException, arguments: list[str]) -> int:
    try:
        from consentry.cli.failure import report  # noqa: PLC0415 - only failures pay for it

        return report(problem, arguments)
    except BaseException:  # noqa: BLE001 - as above; with what is left, say at least this
        with suppress(OSError):
            os.write(2, b"consentry: error[internal-fault]: a failure could not be reported\n")
        return _FAILED


def _consentry(arguments: list[str]) -> int:
    # Modules live as long as the process: looking for garbage among them while they load and
    # again at exit would cost a fifth of the time a short command takes. It is looked for again
    # once the command is loaded, see `lazygroup`.
    gc.disable()
    from consentry.cli.root import consentry  # noqa: PLC0415 - inside the boundary, see above

    return consentry(arguments)


def _fill_closed_descriptors() -> None:
    """Occupies standard descriptors that came closed, so that no file we open can become one.

    Opened the wrong way round on purpose: a read from 0 and a write to 1 or 2 still fail.
    """
    for descriptor, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_RDONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number is taken, and the lower ones are filled by now.
            os.open(os.devnull, mode)
