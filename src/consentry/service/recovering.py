"""Finishes what a process that is gone had begun, records what came of it, and sweeps what is over."""

from consentry.enforce.commitrecover import Recovered, Recovery, Tidying, recover
from consentry.enforce.keptshelf import REHEARSED, Shelf, sweep_if_due
from consentry.service.effectledger import tell_recovered
from consentry.service.keptruns import Place
from consentry.service.lostruns import record_lost_runs


def tidying_of(place: Place) -> Tidying:
    """How what can be undone is kept here, and where the end of others' work is recorded."""

    def told(found: Recovered) -> None:
        tell_recovered(place.journal, found)
        shelf = Shelf(place.state, REHEARSED)
        item = shelf.found(found.run) if found.recovery is Recovery.FINISHED else None
        if item is not None:
            shelf.remove_unused(item)

    return Tidying(place.keeping, told)


def recover_here(place: Place) -> None:
    """To be called when a process starts to work here."""
    recover(place.state, tidying=tidying_of(place))
    record_lost_runs(place)
    sweep_if_due(place.state, place.keeping)
