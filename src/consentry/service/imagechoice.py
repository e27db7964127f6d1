"""Which image a run's container is made from: the one on the line, or the caller's own setting.

Only the caller says it. No document names an image, neither one of a workspace nor a profile, so
nothing that lies in a workspace can choose or change what its programs are taken from. Where Linux's
own means are missing, `docker` with such an image is the only engine.
"""

import sys
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.declare.profile import EngineName
from consentry.enforce.engines.othersystems import LINUX, system_name
from consentry.service.enginechoice import EngineWish
from consentry.service.surroundings import Surroundings

OPTION: Final = "--image"
SETTING: Final = "CONSENTRY_IMAGE"


def image_setting(around: Surroundings) -> str | None:
    """What the caller's own setting says."""
    return around.environ.get("CONSENTRY_IMAGE") or None


def chosen_image(
    wish: EngineWish, typed: str | None, around: Surroundings, platform: str = sys.platform
) -> str | None:
    """The image that this run is made from; None for a run in an engine of this host's own files."""
    if typed is not None and wish.named not in (EngineName.AUTO, EngineName.DOCKER):
        raise UsageProblem(
            Code.USAGE,
            f"`{OPTION}` is for the engine `docker`, and `{wish.named}` is named",
            help_line=f"name `--engine docker`, or leave out {OPTION}",
        )
    if platform == LINUX:
        is_named = wish.named is EngineName.DOCKER
        return typed or (image_setting(around) if is_named else None)
    require_docker(wish, platform)
    image = typed or image_setting(around)
    if image is None:
        raise no_image(platform)
    return image


def require_docker(wish: EngineWish, platform: str = sys.platform) -> None:
    """Raises where a system has no engine but `docker`, and another one is named without a fallback."""
    if platform == LINUX or EngineName.DOCKER in (wish.named, wish.fallback):
        return
    if wish.named is not EngineName.AUTO:
        raise Refused(
            Code.NOT_ENFORCEABLE,
            f"the engine `{wish.named}` runs on Linux alone, and this is {system_name(platform)}",
            help_line=f"name `--engine docker` and an image with {OPTION}",
        )


def no_image(platform: str) -> Refused:
    """On a system where an image has to be named."""
    return Refused(
        Code.NOT_ENFORCEABLE,
        f"on {system_name(platform)} programs run in the engine `docker`, in an image that you "
        "name, and none is named; Windows Sandbox is not supported",
        help_line=f"name one that the daemon has: `{OPTION} NAME`, or set {SETTING}",
    )
