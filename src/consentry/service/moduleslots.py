"""What modules show in the slots of a host: declared entries, as data, if they may (`ui.slot.render`).

Pages are drawn often and mean the same each time. Showing is a use, and not showing a rejection; either is
on record once for each state of a module (its content, revision, the mode, the session) and slot, and
asked anew each time. What is on record is therefore that a module was shown there from then on, until the
ledger says that something changed.
"""

from typing import Final

from consentry.base.ids import IdSource
from consentry.base.values import dataclass
from consentry.decide.capabilitycheck import ModuleIdentity, Origin, Standing
from consentry.decide.moduleregistration import ACTION_PREFIX, ActionRun, said
from consentry.decide.slotrender import RenderedEntry, rendered
from consentry.declare.modulevalues import Slot
from consentry.service.modulegate import ModuleGate, Wanted
from consentry.service.moduleloading import LoadedModule, LoadedModules

RENDERS: Final = "ui.slot.render"


@dataclass(frozen=True, slots=True)
class HeldBack:
    """A module that has entries for a slot and may not show them, with the code that says why."""

    module: ModuleIdentity
    code: str
    why: str


@dataclass(frozen=True, slots=True)
class Rendering:
    """What a slot shows, and which modules are held back from it."""

    entries: tuple[RenderedEntry, ...]
    held_back: tuple[HeldBack, ...]


class ModuleSlots:
    """The slots of one host, in one session."""

    def __init__(self, modules: LoadedModules, gate: ModuleGate, ids: IdSource) -> None:
        self._modules = modules
        self._gate = gate
        self._ids = ids
        self._told: dict[tuple[str, Slot], tuple[Standing, str]] = {}

    def rendered(self, slot: Slot) -> Rendering:
        """The entries of a slot that may be shown, and who is held back from it."""
        entries: list[RenderedEntry] = []
        held_back: list[HeldBack] = []
        for module in self._modules.fitting():
            shown = rendered(module.package, slot)
            if not shown:
                continue
            refused = self._refused(module, slot)
            if refused is None:
                entries += shown
            else:
                held_back.append(refused)
        return Rendering(tuple(entries), tuple(held_back))

    def _refused(self, module: LoadedModule, slot: Slot) -> HeldBack | None:
        """Why the module may not show anything there; recorded where that is news, as is that it may."""
        run = ActionRun(
            self._ids.new(ACTION_PREFIX), module.identity, f"render:{slot}", Origin.INTERACTIVE
        )
        wanted = Wanted(run, (RENDERS,), said(module.package.display_name), acts=False)
        standing, result = self._gate.looked_at(wanted)
        rejection = result.rejection
        place = (module.identity.module_id, slot)
        state = (standing, "" if rejection is None else rejection.code.value)
        if self._told.get(place) != state:
            if rejection is None:
                rejection = self._gate.begin(wanted, result).rejection
            if rejection is not None:
                self._gate.reject(wanted, rejection)
            self._told[place] = state
        if rejection is None:
            return None
        return HeldBack(module.identity, rejection.code.value, rejection.why)
