"""What the native engine cannot hold of a confinement, whatever its grants are, each with why."""

from collections.abc import Iterator
from typing import Final

from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import Control, Lacking
from consentry.enforce.facts import HostView
from consentry.enforce.native.audithost import why_not_attested
from consentry.enforce.native.notbuilt import remedy_for
from consentry.enforce.native.planner import Host
from consentry.surface.dimensions import Level
from consentry.surface.modes import Denials, LayerPlace, Reads, View, Writes

_NO_ATTEST: Final = "leave out --attest or `denials: attested`"


def unheld_of(wanted: Confinement, host: Host) -> Iterator[Lacking]:
    """All of it, so that it can be told at once."""
    is_direct = wanted.writes is Writes.DIRECT
    if host.landlock_abi == 0:
        remedy = remedy_for("landlock", 0, HostView(uid=host.uid))
        yield Lacking(Control.WRITES, "this kernel has no Landlock", remedy)
    if wanted.reads is Reads.EXACT and wanted.surface.proc_exec.level is Level.ANY:
        why = "exact reads need a list of the programs that may start"
        yield Lacking(Control.FILES_READ, why)
    if wanted.reads is Reads.EXACT and is_direct:
        yield Lacking(Control.FILES_READ, "exact reads need a layer for what is written")
    yield from no_layer_to_place(wanted)
    if wanted.denials is Denials.ATTESTED:
        yield from _not_attested(wanted, host)


def no_layer_to_place(wanted: Confinement) -> Iterator[Lacking]:
    """Of any engine: a place is named for a layer, and there is none."""
    if wanted.layer is LayerPlace.DISK and wanted.writes is Writes.DIRECT:
        why = "there is no layer where writes reach the files at once"
        yield Lacking(Control.LAYER, why, "leave out --layer or `writes: direct`")


def _not_attested(wanted: Confinement, host: Host) -> Iterator[Lacking]:
    if wanted.reads is Reads.EXACT or wanted.writes is Writes.DIRECT:
        why = "exact reads and direct writes are done by another process than the run's own"
        yield Lacking(Control.DENIALS, f"{why}, and refused to that", _NO_ATTEST)
    if wanted.view is View.PRIVATE:
        why = "what the private view hides is never refused by Landlock"
        yield Lacking(Control.DENIALS, why, "choose the view `visible`")
    lack = why_not_attested(host.uid, host.landlock_abi)
    if lack is not None:
        yield Lacking(Control.DENIALS, lack, f"{_NO_ATTEST}; denials are then observed")
