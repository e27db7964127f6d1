"""Makes this machine known to the store it uses, once, and again when it is called otherwise."""

import os

from consentry.base.clock import Clock
from consentry.base.ids import Uuid7Ids
from consentry.decide.machine import Machine
from consentry.record.envelope import Context
from consentry.service.identity import local_user
from consentry.service.surroundings import Surroundings
from consentry.store.ledger import Ledger
from consentry.store.machines import StoredMachines


def register_machine(around: Surroundings, ledger: Ledger, clock: Clock) -> Machine:
    """This machine as the store knows it; recorded when it is new or has another host name."""
    context = Context(local_user(around, ledger.writer), ledger.writer)
    return StoredMachines(ledger, Uuid7Ids(clock), clock, context).register(host_name())


def host_name() -> str:
    """What this machine is called, for display; empty when that is not fit to be shown."""
    name = os.uname().nodename
    return name if name.isprintable() else ""
