"""The engine `docker`: containers of this host's own daemon, each with our first process.

Whoever reaches the daemon's socket commands the host, and the caller does; the program never does:
the socket is bound into no container, and no socket that has a name can be reached from one.
"""

from collections.abc import Mapping

from consentry.enforce.engines.container.dockersocket import DockerSocket
from consentry.enforce.engines.container.driver import ContainerEngine
from consentry.enforce.engines.container.keeper import CommandKeeper, Keeper
from consentry.enforce.engines.container.words import DOCKER
from consentry.enforce.engines.dockercommand import DockerCommand
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.engines.othersystems import why_not_here


class Docker(ContainerEngine):
    """Drives `docker`."""

    name = "docker"
    program = "docker"
    dialect = DOCKER

    def __init__(self, ground: EngineGround) -> None:
        super().__init__(ground)
        self._docker = DockerCommand(ground)

    def missing(self) -> str | None:
        """No command, no daemon of this host, or none that is open to this user."""
        return why_not_here() or self._docker.missing()

    def depends_on(self) -> str:
        """The daemon: one that was started anew may have other settings."""
        return self._docker.depends_on()

    def keeper(self, folder: str) -> Keeper:
        """The daemon itself, but for what only the command does."""
        by_command = CommandKeeper(self.program_path(), self.environment(folder))
        return DockerSocket(self._docker.socket, by_command)

    def environment(self, folder: str) -> Mapping[str, str]:
        """No settings of the user's: they can name proxies, credentials and another daemon."""
        return self._docker.environment(folder)
