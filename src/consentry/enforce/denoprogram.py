"""Where the program `deno` is: on PATH, or where its wheel puts it beside Consentry's own command.

Nothing is imported or started to find it. The wheel's folder is that of the environment in which
Consentry itself runs, so whoever could put another program there could change Consentry as well.
"""

import os
import shutil
import sysconfig
from pathlib import Path
from typing import Final

from consentry.enforce.programs import DENO

NOT_HERE: Final = "no `deno` on PATH, and none beside Consentry"
REMEDY: Final = (
    'install it, for example with `pip install "consentry[deno]"`, or put `deno` on your PATH'
)


def deno_of_wheel() -> Path | None:
    """The one that `pip install deno` brought."""
    for scheme in (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")):
        found = Path(sysconfig.get_path("scripts", scheme), DENO)
        if found.is_file() and os.access(found, os.X_OK):
            return found
    return None


def find_deno(path: str) -> Path | None:
    """The first in the absolute folders of PATH, else the wheel's."""
    folders = os.pathsep.join(each for each in path.split(os.pathsep) if each.startswith("/"))
    found = shutil.which(DENO, path=folders) if folders else None
    return deno_of_wheel() if found is None else Path(found)
