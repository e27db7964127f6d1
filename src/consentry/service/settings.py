"""Every setting that is honoured, in one table.

`docs/reference/settings.md` is made from it. A variable that is read anywhere in the product has a
row here, and a row here is read somewhere: the tests compare this table with the source.
"""

from enum import StrEnum

from consentry.base.values import dataclass


class SettingKind(StrEnum):
    """Where a setting is set."""

    ENVIRONMENT = "environment variable"


@dataclass(frozen=True, slots=True)
class Setting:
    """A name, where it is set, what holds when it is not, and what it means."""

    name: str
    kind: SettingKind
    default: str
    meaning: str


def _variable(name: str, default: str, meaning: str) -> Setting:
    return Setting(name, SettingKind.ENVIRONMENT, default, meaning)


SETTINGS = (
    _variable(
        "CONSENTRY_STATE",
        "not set: the folder consentry in XDG_STATE_HOME",
        "The state directory, an absolute path. Refused inside the workspace, also through links.",
    ),
    _variable(
        "CONSENTRY_STORE",
        "not set: the file ledger.db in the state directory",
        "The database that machines share, as postgresql://user@host/name. The machine's id and key "
        "stay in the state directory.",
    ),
    _variable(
        "CONSENTRY_KEEP",
        "7d",
        "How long the effect of a rehearsal is kept, and how long a commit can be undone, at most "
        "36500d. 0s keeps nothing, and then nothing can be rehearsed.",
    ),
    _variable(
        "CONSENTRY_KEEP_SIZE",
        "2G",
        "How much of what commits replaced is kept for undo, in all. Beyond it, and beyond 1,000 runs, "
        "the oldest go first.",
    ),
    _variable(
        "XDG_STATE_HOME",
        "~/.local/state",
        "The base folder of the state directory. A relative value is ignored.",
    ),
    _variable(
        "XDG_CONFIG_HOME",
        "~/.config",
        "The base folder of your configuration, consentry in it. A relative value is ignored.",
    ),
    _variable(
        "HOME",
        "the home folder of your account",
        "Your home folder, an absolute path: where ~ points and the XDG defaults begin.",
    ),
    _variable(
        "SUDO_UID",
        "not set",
        "The user behind sudo; read only when running as root. Their workspace is not foreign, and "
        "they are recorded.",
    ),
    _variable(
        "PATH",
        "not set: no engine program can be found",
        "Where engine programs are looked for. Relative and empty entries are skipped.",
    ),
    _variable(
        "DOCKER_HOST",
        "unix:///var/run/docker.sock",
        "The socket that the docker engine uses. Only a local one is.",
    ),
    _variable(
        "CONSENTRY_IMAGE",
        "not set: on Linux, containers of the host's own files; elsewhere, nothing runs",
        "The image that the docker engine makes its containers from, unless --image names another. "
        "It is never pulled.",
    ),
    _variable(
        "CONTAINERS_STORAGE_CONF",
        "not set: Podman's own",
        "Where the podman engine keeps its images and containers, as Podman reads it.",
    ),
    _variable(
        "XDG_RUNTIME_DIR",
        "not set: Podman's own",
        "Where the podman engine keeps what it needs while it runs, as Podman reads it.",
    ),
    _variable(
        "TMPDIR",
        "not set: Podman's own",
        "Where the podman engine puts files for a moment, as Podman reads it.",
    ),
    _variable(
        "NO_COLOR",
        "not set",
        "Any value but an empty one switches colour off, unless --color says otherwise.",
    ),
    _variable(
        "TERM",
        "not set",
        "The value dumb switches colour off, unless --color says otherwise.",
    ),
    _variable(
        "LC_ALL",
        "not set",
        "The locale; prompts are drawn with box characters where it says UTF-8, in ASCII elsewhere.",
    ),
    _variable(
        "LC_CTYPE",
        "not set",
        "The same, where LC_ALL is not set.",
    ),
    _variable(
        "LANG",
        "not set",
        "The same, where neither LC_ALL nor LC_CTYPE is set.",
    ),
    _variable(
        "COLUMNS",
        "the width of the terminal, else 80",
        "The width that pages are laid out for, kept between 40 and 100.",
    ),
)
