"""Which controls a confinement needs, whatever engine is to hold them, and what is said if one does not.

Pure: from what is asked for, and from what of it lies denied inside a grant. An engine compares this
with what its probe has shown on this host.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.enforce.confinement import Confinement
from consentry.enforce.egress.ports import ways_of
from consentry.enforce.engine import Control, Lacking, Probe
from consentry.enforce.native.planner import Plan
from consentry.enforce.native.unheld import no_layer_to_place
from consentry.surface.dimensions import Level
from consentry.surface.modes import Denials, Reads, View, Writes

ALWAYS: Final = (
    Control.READS,
    Control.WRITES,
    Control.ENVIRONMENT,
    Control.PROCESSES_APART,
    Control.SYSTEM_CALLS,
    Control.NO_NEW_POWERS,
)
_OUR_OWN: Final = "use the engine `native`"
_REMEDIES: Final[Mapping[Control, str]] = {
    Control.LAYER: f"{_OUR_OWN}, or a profile with `writes: direct`",
    Control.PROGRAMS: f"{_OUR_OWN}, or let it start any program with `--exec any`",
    Control.FILES_READ: f"{_OUR_OWN}, or leave out `reads: exact`",
    Control.DENIALS: f"{_OUR_OWN}, or leave out `denials: attested`",
    Control.WRITTEN: f"{_OUR_OWN}, or leave out the limit on what is written",
}


def required_controls(wanted: Confinement, plan: Plan) -> tuple[Control, ...]:
    """All that must hold for this confinement, but for its limits, which the host holds or not."""
    surface = wanted.surface
    asked = {
        Control.NO_NETWORK: not ways_of(surface.net_access, holds=wanted.holds),
        Control.LAYER: wanted.writes is Writes.LAYER and bool(plan.layered),
        Control.DENY_INSIDE: bool(plan.hidden),
        Control.PROGRAMS: surface.proc_exec.level is not Level.ANY,
        Control.FILES_READ: wanted.reads is Reads.EXACT,
        Control.DENIALS: wanted.denials is Denials.ATTESTED,
    }
    return (*ALWAYS, *(control for control, is_asked in asked.items() if is_asked))


def lacking_for(wanted: Confinement, plan: Plan, shown: Probe) -> Iterator[Lacking]:
    """What of it an engine has not shown to hold, each with why and what would help."""
    held = {each.control for each in shown.held}
    known = {each.control: each for each in shown.lacking}
    for control in required_controls(wanted, plan):
        if control not in held:
            why = known[control].why if control in known else "it was not shown to hold here"
            remedy = _REMEDIES.get(control) or (known[control].remedy if control in known else "")
            yield Lacking(control, why, remedy or _OUR_OWN)


def untranslatable(wanted: Confinement) -> Iterator[Lacking]:
    """What only our own engine has a means for, so that no other can be told of it."""
    if ways_of(wanted.surface.net_access, holds=wanted.holds):
        why = "the network is reached through our proxy, which has no way into a box of this engine"
        yield Lacking(Control.NO_NETWORK, why, f"{_OUR_OWN}, or leave out the network")
    if wanted.view is View.VISIBLE:
        why = "the host's tree in sight is shown by mounts that this engine cannot be told of"
        yield Lacking(Control.READS, why, f"{_OUR_OWN}, or the view `private`")
    yield from one_after_the_other(wanted)
    yield from no_layer_to_place(wanted)


def one_after_the_other(wanted: Confinement) -> Iterator[Lacking]:
    """Several commands in one box are started by a process of ours that stays in it."""
    if wanted.program.then:
        why = "several commands in one box are started one after the other by our own engine alone"
        yield Lacking(Control.PROGRAMS, why, f"{_OUR_OWN}, or give the tool an `entrypoint`")


def held_by_landlock(plan: Plan) -> Iterator[Lacking]:
    """What an engine without Landlock cannot be told of besides."""
    for each in plan.grants.picked:
        why = f"`{each.root.pattern.text}` is held file by file by Landlock's rules"
        yield Lacking(Control.READS, why, f"{_OUR_OWN}, or grant the folder `{each.root.path}`")


def require_nothing_held(engine: str, wanted: Confinement) -> None:
    """Raises where a run of an engine that cannot hold anything is to wait for answers."""
    if wanted.holds:
        message = f"`{engine}` cannot hold an operation for an answer"
        raise Refused(Code.HOLD_REFUSED, message, help_line="leave out --hold, or use `native`")
