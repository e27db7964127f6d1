"""What every engine is made with."""

from collections.abc import Mapping
from pathlib import Path

from consentry.base.values import dataclass, field
from consentry.surface.protected import ProtectedRoots


def leading(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that lead to a daemon or a store; no engine looks at others."""
    found = {
        "DOCKER_HOST": environ.get("DOCKER_HOST"),
        "XDG_RUNTIME_DIR": environ.get("XDG_RUNTIME_DIR"),
        "CONTAINERS_STORAGE_CONF": environ.get("CONTAINERS_STORAGE_CONF"),
        "TMPDIR": environ.get("TMPDIR"),
    }
    return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True)
class EngineGround:
    """What an engine must know of its caller.

    `home` is the caller's own, `path` where its programs are looked for, `state` the state directory,
    in which an engine may remember what its probe has shown, and None where nothing is remembered.
    `ahead` boxes may be built before they are needed. `environ` is the caller's environment, of which an
    engine takes what leads to its daemon or its store, and gives nothing on. No command that lies in
    `workspace` is tried out; a confinement names its own. With an `image`, the engine `docker` makes
    its containers from that and from nothing of this host.
    """

    home: Path | None
    protected: ProtectedRoots
    path: str = ""
    state: Path | None = None
    ahead: int = 0
    environ: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    workspace: Path | None = None
    image: str | None = None
