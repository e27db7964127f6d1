"""The engine `docker`: containers of this host's own daemon, each with our first process.

Whoever reaches the daemon's socket commands the host, and the caller does; the program never does:
the socket is bound into no container, and no socket that has a name can be reached from one.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from consentry.enforce.engines.container.dockersocket import DockerSocket
from consentry.enforce.engines.container.driver import ContainerEngine
from consentry.enforce.engines.container.keeper import CommandKeeper, Keeper
from consentry.enforce.engines.container.words import DOCKER
from consentry.enforce.engines.othersystems import why_not_here
from consentry.enforce.facts import Found, HostView
from consentry.enforce.programs import docker_socket

_LOCAL: Final = "unix://"
_USUAL: Final = "/var/run/docker.sock"


class Docker(ContainerEngine):
    """Drives `docker`."""

    name = "docker"
    program = "docker"
    dialect = DOCKER

    def missing(self) -> str | None:
        """No command, no daemon of this host, or none that is open to this user."""
        why = why_not_here()
        if why is not None:
            return why
        named = self._named()
        if named and not named.startswith(_LOCAL):
            return (
                f"DOCKER_HOST is `{named}`, another host's daemon, which would bind its own files"
            )
        why = super().missing()
        if why is not None:
            return why
        found = docker_socket(HostView(environ={"DOCKER_HOST": named}, uid=self._host.uid))
        if found.found is not Found.YES:
            return f"{found.value}: start the daemon, or ask to be let in (group `docker`)"
        return None

    def depends_on(self) -> str:
        """The daemon: one that was started anew may have other settings."""
        found = Path(self._socket()).stat()
        return f"{self._socket()} {found.st_dev} {found.st_ino} {found.st_ctime_ns}"

    def keeper(self, folder: str) -> Keeper:
        """The daemon itself, but for what only the command does."""
        by_command = CommandKeeper(self.program_path(), self.environment(folder))
        return DockerSocket(self._socket(), by_command)

    def environment(self, folder: str) -> Mapping[str, str]:
        """No settings of the user's: they can name proxies, credentials and another daemon."""
        return {
            "DOCKER_HOST": _LOCAL + self._socket(),
            "DOCKER_CONFIG": folder,
            "HOME": folder,
        }

    def _named(self) -> str:
        return self._ground.environ.get("DOCKER_HOST", "")

    def _socket(self) -> str:
        return self._named().removeprefix(_LOCAL) or _USUAL
