"""The engine `podman`: the same containers without a daemon, for root and for ordinary users."""

import resource
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from consentry.enforce.engines.container.driver import ContainerEngine
from consentry.enforce.engines.container.keeper import CommandKeeper, Keeper
from consentry.enforce.engines.container.words import PODMAN
from consentry.enforce.groupplaces import Place, Version
from consentry.enforce.limits import MOST_PROCESSES

_SETTINGS: Final = "containers.conf"
_TOGETHER: Final = 1 << 14
"""Processes of one user, all containers together; each is held to its own number by its group."""
_KEPT: Final = ("XDG_RUNTIME_DIR", "CONTAINERS_STORAGE_CONF", "TMPDIR")
"""Where its images and containers lie is the caller's to say."""


class Podman(ContainerEngine):
    """Drives `podman`."""

    name = "podman"
    program = "podman"
    dialect = PODMAN

    def depends_on(self) -> str:
        """Where its images lie."""
        return " ".join(f"{name}={value}" for name, value in sorted(self._given().items()))

    def _given(self) -> dict[str, str]:
        given = self._ground.environ
        return {name: value for name, value in given.items() if name in _KEPT}

    def keeper(self, folder: str) -> Keeper:
        """The command itself."""
        return CommandKeeper(self.program_path(), self.environment(folder))

    def environment(self, folder: str) -> Mapping[str, str]:
        """Our own settings: a user's can add variables, mounts and devices to every container."""
        file = Path(folder, _SETTINGS)
        if not file.exists():
            file.write_text(_settings(), encoding="utf-8")
        home = "/" if self._ground.home is None else str(self._ground.home)
        return {
            **self._given(),
            "HOME": home,
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "CONTAINERS_CONF": str(file),
        }

    def ids(self) -> tuple[int, int]:
        """An ordinary user is the first one inside, which needs no numbers to be set aside for it."""
        return super().ids() if self._host.uid == 0 else (0, 0)

    def rlimits(self) -> dict[str, int]:
        """A number of processes that we may have ourselves, since its own may be beyond that."""
        most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
        # Without groups it is all that keeps one container from taking the host down.
        wanted = _TOGETHER if self.groups() else MOST_PROCESSES
        return {
            **super().rlimits(),
            "nproc": wanted if most == resource.RLIM_INFINITY else min(most, wanted),
        }

    def groups(self) -> tuple[Place, ...]:
        """An ordinary user has groups of the second version only."""
        places = super().groups()
        is_root = self._host.uid == 0
        return places if is_root or places[0].version is Version.V2 else ()


def _settings() -> str:
    by = "systemd" if Path("/run/systemd/system").is_dir() else "cgroupfs"
    lines = (
        "[containers]",
        "default_ulimits = []",
        "env = []",
        "volumes = []",
        "devices = []",
        "annotations = []",
        "http_proxy = false",
        "[engine]",
        f'cgroup_manager = "{by}"',
        'events_logger = "none"',
    )
    return "\n".join(lines) + "\n"
