"""The entry of the `consentry` command, and the one place where failures become messages.

Imports nothing of weight, so that an interrupt or a fault while the rest is loading is answered
like any other: one message, the documented exit status, and never a traceback by surprise. An
interrupt before this file runs, while the interpreter itself starts, is out of its reach.
"""

import os
import sys
from collections.abc import Callable


def main() -> None:
    """Runs the command line this process was started with, and exits with its status."""
    _fill_closed_descriptors()
    sys.exit(run(sys.argv[1:], _consentry))


def run(arguments: list[str], program: Callable[[list[str]], int]) -> int:
    """Runs `program` and turns whatever it raises into a message and an exit status."""
    try:
        return int(program(arguments))
    except SystemExit:
        raise
    except BaseException as problem:  # noqa: BLE001 - the outermost boundary: nothing may pass it
        from consentry.cli.failure import report  # noqa: PLC0415 - only failures pay for it

        return report(problem, arguments)


def _consentry(arguments: list[str]) -> int:
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
