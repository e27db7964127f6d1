"""Which runs can hold what they are refused for a person's answer, and what holding makes of one.

Only our own engine holds calls, in the view in which there is something to be refused; and only where
nothing else stands between the program and the kernel that would answer first.
"""

from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import replace
from consentry.declare.profile import EngineName
from consentry.enforce.confinement import Confinement
from consentry.enforce.egress.ports import proxy_variables
from consentry.service.binding import BoundWish
from consentry.service.enginechoice import EngineWish
from consentry.surface.modes import Denials, Reads, View, Writes

_ENGINES: Final = (EngineName.AUTO, EngineName.NATIVE)


def require_holdable(engines: EngineWish, view: View | None, image: str | None = None) -> None:
    """Raises where a line or a document names what cannot hold anything."""
    if image is not None or engines.named not in _ENGINES:
        named = EngineName.DOCKER if image is not None else engines.named
        raise _refused(f"the engine `{named}` cannot: only `native` can", "leave `--engine` out")
    if view is View.PRIVATE:
        raise _refused(
            "in the view `private` what is not granted is not there to be asked for",
            "leave `--view` out; `--hold` takes `visible`",
        )


def as_held(bound: BoundWish) -> BoundWish:
    """The same, holding what it is refused: in the visible view, and with a way to ask for hosts."""
    wanted = bound.confinement
    _require_nothing_between(wanted)
    variables = proxy_variables(wanted.surface.net_access, holds=True)
    return replace(
        bound,
        confinement=replace(
            wanted,
            view=View.VISIBLE,
            holds=True,
            environment={**wanted.environment, **variables},
        ),
    )


def _require_nothing_between(wanted: Confinement) -> None:
    if wanted.denials is Denials.ATTESTED:
        raise _refused(
            "what the kernel attests is what it refuses, and a held call never reaches it",
            "leave out `--attest`, or `denials: attested` in the profile",
        )
    if wanted.reads is Reads.EXACT:
        raise _refused(
            "with `reads: exact` every file is opened for the program already",
            "take a profile without `reads: exact`",
        )
    if wanted.writes is Writes.DIRECT:
        raise _refused(
            "with `writes: direct` every change is made for the program already",
            "take a profile without `writes: direct`",
        )


def _refused(why: str, help_line: str) -> Refused:
    return Refused(
        Code.HOLD_REFUSED, f"nothing can be held in this run: {why}", help_line=help_line
    )
