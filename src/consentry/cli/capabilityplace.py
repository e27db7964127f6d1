"""Where the commands about saved capabilities read and write, and how they find the one that is meant.

Reading opens the ledger for reading alone, and makes none where there is none. A capability is named by
its name or its id; a name that is nearly right is answered with the right one.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import click

from consentry.base.clock import SystemClock
from consentry.base.codes import Code
from consentry.base.errors import BadInput, ConsentryError, UsageProblem
from consentry.base.ids import Uuid7Ids
from consentry.cli.command import usage_problem
from consentry.decide.capabilities import Capability, CapabilityHead, check_name
from consentry.decide.identity import SYSTEM
from consentry.record.envelope import Context
from consentry.service import capabilities
from consentry.service.ledgers import ledger_for_reading
from consentry.service.sessions import journal_here
from consentry.service.surroundings import look_around
from consentry.store.capabilities import CapabilityStore
from consentry.store.journal import Journal
from consentry.store.ledger import Ledger
from consentry.store.permissionaudit import PermissionAuditStore
from consentry.surface.permission_sets import PermissionSet, definition

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_READER = "reader"


@contextmanager
def capabilities_here() -> Iterator[Journal]:
    """The ledger to save in, under the session of this terminal."""
    clock = SystemClock()
    journal = journal_here(look_around(os.environ), clock, Uuid7Ids(clock))
    with closing(journal.ledger):
        yield journal


@contextmanager
def capabilities_to_read() -> Iterator[Journal | None]:
    """The ledger, for looking only; None where nothing was ever recorded."""
    history = ledger_for_reading(look_around(os.environ))
    if history is None:
        yield None
        return
    clock = SystemClock()
    ledger = Ledger(history.database, _READER)
    with closing(ledger):
        yield Journal(ledger, Uuid7Ids(clock), clock, Context(SYSTEM, _READER))


def saved_here(journal: Journal | None) -> Sequence[CapabilityHead]:
    """All that are saved, by name; without their code."""
    return [] if journal is None else CapabilityStore(journal).heads()


def names_here(journal: Journal | None) -> Mapping[str, str]:
    """The names of all that are saved, by id."""
    return {} if journal is None else CapabilityStore(journal).names()


def found_capability(journal: Journal | None, named: str) -> Capability:
    """The capability of that name or id; raises `capability-missing`, with the nearest name."""
    if journal is None:
        message = f"no saved capability is called `{named}`"
        raise UsageProblem(Code.CAPABILITY_MISSING, message)
    return capabilities.found_capability(CapabilityStore(journal), named)


def decisions_of(journal: Journal) -> PermissionAuditStore:
    """The log of decisions about permission sets."""
    return PermissionAuditStore(journal.ledger, journal.ids, journal.clock, journal.context)


def require_name(name: str) -> str:
    """The name, if a capability can be called so."""
    try:
        return check_name(name)
    except BadInput as wrong:
        raise usage_problem(wrong.message, "write for example `fetch-weather`") from None


def complete_capability(
    ctx: click.Context,  # noqa: ARG001 - click's interface
    param: click.Parameter,  # noqa: ARG001 - click's interface
    incomplete: str,
) -> "list[CompletionItem]":
    """The names that begin so, for shells; nothing where they cannot be read."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only shells ask

    try:
        with capabilities_to_read() as journal:
            names = names_here(journal).values()
    except ConsentryError:
        return []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def complete_set(
    ctx: click.Context,  # noqa: ARG001 - click's interface
    param: click.Parameter,  # noqa: ARG001 - click's interface
    incomplete: str,
) -> "list[CompletionItem]":
    """The sets that begin so, for shells, each with what it does."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only shells ask

    return [
        CompletionItem(each.value, help=definition(each).summary)
        for each in PermissionSet
        if each.startswith(incomplete)
    ]
