"""What is said on systems that are not Linux, where nearly all means of ours are missing."""

import sys
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused

LINUX: Final = "linux"
_NAMES: Final = {"darwin": "macOS", "win32": "Windows"}


def system_name(platform: str) -> str:
    """As people call it."""
    return _NAMES.get(platform, platform)


def why_not_here(platform: str | None = None) -> str | None:
    """Why no engine of Linux is on this system; None on Linux."""
    platform = platform or sys.platform
    if platform == LINUX:
        return None
    return (
        f"it runs on Linux alone, and this is {system_name(platform)}; here `docker` runs programs of "
        "an image that you name (--image, CONSENTRY_IMAGE). Windows Sandbox is not supported"
    )


def require_linux(what: str, platform: str | None = None) -> None:
    """Raises where something is asked for that no other system has."""
    why = why_not_here(platform)
    if why is not None:
        raise Refused(
            Code.NOT_ENFORCEABLE,
            f"`{what}`: {why}",
            help_line="`consentry exec --image NAME --exec any -- COMMAND` runs here",
        )
