"""Small drills: each case once, in a process of its own where that is to be killed.

python -m tests.service.drilling PLACE    is killed at that place: one of `PLACES`

A place is where a case of the drill stands when the process ends.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from typing import Final

from consentry.base.values import replace
from consentry.service.drill import Drill
from consentry.service.drillcases import CASES, DrillCase
from consentry.service.drillhost import BESIDE, Scene, added


def small(*names: str, times: int = 1) -> tuple[DrillCase, ...]:
    """These cases, or all of them, carried out so often each."""
    return tuple(replace(each, times=times) for each in CASES if not names or each.case_id in names)


def drill(environ: Mapping[str, str], *cases: DrillCase) -> Drill:
    """A drill of these cases, or of each one once."""
    return Drill(environ, cases=cases or small())


def acting(
    act: Callable[[Scene], str], case_id: str = "approved", expected: str = "done"
) -> DrillCase:
    """A case of that name that does something else."""
    [case] = small(case_id)
    return replace(case, act=act, expected=expected)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _when_asked(scene: Scene) -> str:
    scene.grant()
    scene.propose()
    _die()
    return ""


def _when_approved(scene: Scene) -> str:
    scene.approved()
    _die()
    return ""


def _when_applied(scene: Scene) -> str:
    outcome = scene.approved()
    scene.host.resume(str(outcome.request_id))
    _die()
    return ""


def _when_refused(scene: Scene) -> str:
    outcome = scene.approved()
    scene.host.change([added("in-between")], "a change in between")
    scene.host.resume(str(outcome.request_id))
    _die()
    return ""


def _while_writing(scene: Scene) -> str:
    scene.revoke = _die  # type: ignore[method-assign]
    outcome = scene.approved(f"{scene.name}.one", f"{scene.name}.two")
    scene.host.resume(str(outcome.request_id))
    return ""


def _beside(scene: Scene) -> str:
    scene.host.change([added(scene.name)], "a change")
    # Others have changed their documents by then.
    time.sleep(0.2)
    _die()
    return ""


PLACES: Final = {
    "asked": acting(_when_asked),
    "approved": acting(_when_approved),
    "applied": acting(_when_applied),
    "refused": acting(_when_refused),
    "writing": acting(_while_writing, "violated"),
    "beside": replace(acting(_beside, "steady"), times=len(BESIDE)),
}

if __name__ == "__main__":
    drill(os.environ, PLACES[sys.argv[1]]).run(["approved", "violated", "steady"])
