"""A glance: could there be plugins at all? So that whoever examines code pays nothing for what is not there.

The glance may say yes where a close look finds nothing, and never the other way round.
"""

import os

TYPE_CHECKING = False  # as `typing` has it, which a glance should not have to load
if TYPE_CHECKING:
    from collections.abc import Mapping

    from consentry.examine.addedrules import AddedRules

_IN_A_WORKSPACE = (".consentry/plugins", ".paper/_cfg/plugins", "plugins/PLUGINS.lock")


def rules_if_any(environ: "Mapping[str, str]", start: str = ".") -> "AddedRules":
    """The rules that plugins add for code in that folder; raises where a plugin does not pass."""
    if not could_have_plugins(environ, start):
        from consentry.examine.addedrules import NO_RULES  # noqa: PLC0415 - whoever asks examines

        return NO_RULES
    from pathlib import Path  # noqa: PLC0415 - few have plugins

    from consentry.service.pluginrules import rules_here  # noqa: PLC0415 - as above
    from consentry.service.surroundings import look_around  # noqa: PLC0415 - as above

    return rules_here(look_around(environ), Path(start))


def could_have_plugins(environ: "Mapping[str, str]", start: str) -> bool:
    """Whether `pluginplaces.find_roots` might find any from that folder; a handful of looks, and no more."""
    base = environ.get("XDG_CONFIG_HOME", "")
    home = environ.get("HOME", "")
    if not base.startswith("/"):
        if not home.startswith("/"):
            return True  # the user database knows, and is asked by whoever looks closely
        base = f"{home}/.config"
    if _may_be_there(f"{base}/consentry/plugins"):
        return True
    folder = os.path.realpath(start)
    while True:
        above = folder.rstrip("/")
        for place in _IN_A_WORKSPACE:
            if _may_be_there(f"{above}/{place}"):
                return True
        if not above:
            return False
        folder = os.path.dirname(above) or "/"  # noqa: PTH120 - before paths are loaded


def _may_be_there(path: str) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # whoever looks closely says what is wrong
        return True
    return True
