"""Where the commands about imported modules read and write, and the options that they share.

Reading opens the ledger for reading alone, and makes none where there is none. A package, a host's
description or a graph is read once, in bounds, from the file that was named or from standard input.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import click

from consentry.base.clock import SystemClock
from consentry.base.errors import ConsentryError
from consentry.base.ids import Uuid7Ids
from consentry.cli.command import Text, usage_problem
from consentry.decide.identity import SYSTEM
from consentry.record.envelope import Context
from consentry.service.ledgers import ledger_for_reading, ledger_place
from consentry.service.sessions import journal_here
from consentry.service.surroundings import look_around
from consentry.service.userfiles import MOST_BYTES, opened_for_reading
from consentry.store.journal import Journal
from consentry.store.ledger import Ledger
from consentry.store.machine import known_machine_id
from consentry.store.modules import StoredModules

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

STANDARD_INPUT = "-"
"""What stands for it in the place of a file."""
ENDINGS = (".json", ".yaml", ".yml")
"""What tells the file of a host from its id, which has no `.` in it."""
READING = (
    ("5", "the ledger cannot be read"),
    ("126", "the state directory is not safe to use"),
)

_READER = "reader"


@contextmanager
def modules_here() -> Iterator[Journal]:
    """The ledger to change, under the session of this terminal."""
    clock = SystemClock()
    journal = journal_here(look_around(os.environ), clock, Uuid7Ids(clock))
    with closing(journal.ledger):
        yield journal


@contextmanager
def modules_to_read() -> Iterator[Journal | None]:
    """The ledger, for looking only; None where nothing was ever recorded."""
    around = look_around(os.environ)
    history = ledger_for_reading(around)
    if history is None:
        yield None
        return
    clock = SystemClock()
    machine = known_machine_id(ledger_place(around).folder) or _READER
    ledger = Ledger(history.database, machine)
    with closing(ledger):
        yield Journal(ledger, Uuid7Ids(clock), clock, Context(SYSTEM, machine))


def stored_in(journal: Journal | None) -> StoredModules | None:
    """The modules of that ledger; None where there is none."""
    return None if journal is None else StoredModules(journal)


def content_of(file: str) -> bytes:
    """The bytes of a file or of standard input; one more than are ever read, where there are more."""
    if file != STANDARD_INPUT:
        with opened_for_reading(file) as handle:
            return handle.read(MOST_BYTES + 1)
    if sys.stdin is None or not sys.stdin.readable():
        raise usage_problem("standard input cannot be read", "name a file, or pass the document")
    return sys.stdin.buffer.read(MOST_BYTES + 1)


def name_of(file: str) -> str:
    """How errors call a file; what comes from standard input is JSON."""
    return "stdin.json" if file == STANDARD_INPUT else file


def host_option(what: str) -> click.Option:
    """Which host is meant."""
    return click.Option(["--host"], type=Text(), metavar="NAME", help=what)


def module_argument() -> click.Argument:
    """The module that is meant."""
    return click.Argument(
        ["module_id"], type=Text(), metavar="MODULE", shell_complete=complete_module
    )


def complete_module(
    ctx: click.Context,  # noqa: ARG001 - click's interface
    param: click.Parameter,  # noqa: ARG001 - click's interface
    incomplete: str,
) -> "list[CompletionItem]":
    """The ids that begin so, for shells; nothing where they cannot be read."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only shells ask

    try:
        with modules_to_read() as journal:
            modules = stored_in(journal)
            found = [] if modules is None else modules.all()
    except ConsentryError:
        return []
    names = dict.fromkeys(each.identity.module_id for each in found)
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
