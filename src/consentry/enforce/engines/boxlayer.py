"""The layer of one run of the native engine, where it lies on the disk: made before it, handed on after."""

import os
from pathlib import Path

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import replace
from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import Control, Outcome
from consentry.enforce.native.boxcontrols import ON_DISK
from consentry.enforce.native.disklayer import DiskLayer, sweep_layers
from consentry.enforce.native.planner import Plan
from consentry.surface.modes import LayerPlace


def disk_layer(
    wanted: Confinement, plan: Plan, ids: tuple[int, int], state: Path | None
) -> DiskLayer | None:
    """What the run writes to, where that is not in memory; what others left behind goes."""
    if state is not None:
        sweep_layers(state)
    if wanted.layer is LayerPlace.MEMORY or not plan.layered:
        return None
    if state is None:
        raise Refused(Code.ENGINE_FAILED, "a layer on the disk needs a state directory")
    return DiskLayer.made(state, plan.layered, ids)


def with_layer_on_disk(outcome: Outcome, disk: DiskLayer) -> Outcome:
    """With what was written there, instead of what is in memory."""
    if outcome.layer is not None:
        os.close(outcome.layer)
    disk.hear_that_it_is_alone()
    held = tuple(ON_DISK if each.control is Control.LAYER else each for each in outcome.held)
    return replace(outcome, held=held, layer=disk.taken())
