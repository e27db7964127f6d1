"""The command `docker` and the daemon it speaks to, as far as files and variables tell.

Nothing is started to find out. A daemon of another host is not used: what is bound into a container
would be that host's files. On macOS the daemon runs in a virtual machine that shows this host's files
under their own names; its socket lies where Docker Desktop puts it, or where DOCKER_HOST says.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.facts import Found, HostView
from consentry.enforce.hops import leads_through
from consentry.enforce.ownership import stranger_over_file
from consentry.enforce.programs import docker_socket

_PROGRAM: Final = "docker"
_LOCAL: Final = "unix://"
_USUAL: Final = "/var/run/docker.sock"
_OF_DESKTOP: Final = ".docker/run/docker.sock"


class DockerCommand:
    """One command and one socket."""

    def __init__(self, ground: EngineGround) -> None:
        self._ground = ground
        self._uid = os.getuid()

    @property
    def socket(self) -> str:
        """Where the daemon listens."""
        named = self._named().removeprefix(_LOCAL)
        if named or self._ground.home is None or Path(_USUAL).exists():
            return named or _USUAL
        of_desktop = self._ground.home / _OF_DESKTOP
        return str(of_desktop) if of_desktop.exists() else _USUAL

    @property
    def path(self) -> str:
        """Where the command is; raises where it is missing."""
        found = self._found()
        if found is None:
            raise Refused(Code.NOT_ENFORCEABLE, f"the engine `{_PROGRAM}` is not here")
        return found

    def _named(self) -> str:
        return self._ground.environ.get("DOCKER_HOST", "")

    def _found(self) -> str | None:
        folders = (self._ground.path or os.defpath).split(os.pathsep)
        absolute = os.pathsep.join(each for each in folders if each.startswith("/"))
        return shutil.which(_PROGRAM, path=absolute)

    def missing(self) -> str | None:
        """No command, no daemon of this host, or none that is open to this user."""
        named, path = self._named(), self._found()
        if named and not named.startswith(_LOCAL):
            return (
                f"DOCKER_HOST is `{named}`, another host's daemon, which would bind its own files"
            )
        if path is None:
            return f"there is no `{_PROGRAM}` on PATH"
        try:
            stranger = stranger_over_file(Path(path), self._uid)
        except OSError as problem:
            return f"`{path}`: {(problem.strerror or 'cannot be looked at').lower()}"
        if stranger is None and self._ground.workspace is not None:
            stranger = self._in_workspace(self._ground.workspace, path)
        if stranger is not None:
            return f"{stranger}, so it is not started"
        found = docker_socket(HostView(environ={"DOCKER_HOST": _LOCAL + self.socket}))
        if found.found is not Found.YES:
            return f"{found.value}: start the daemon, or ask to be let in (group `docker`)"
        return None

    def require_apart_from(self, workspace: Path) -> None:
        """Raises where whoever made the workspace may have made the command."""
        stranger = self._in_workspace(workspace, self.path)
        if stranger is not None:
            raise Refused(Code.NOT_ENFORCEABLE, f"{stranger}, so it is not started")

    @staticmethod
    def _in_workspace(workspace: Path, program: str) -> str | None:
        if not leads_through(Path(program), workspace):
            return None
        return f"`{program}` lies in the workspace, or is reached through it"

    def depends_on(self) -> str:
        """The daemon: one that was started anew may have other settings."""
        found = Path(self.socket).stat()
        return f"{self.socket} {found.st_dev} {found.st_ino} {found.st_ctime_ns}"

    def environment(self, folder: str) -> Mapping[str, str]:
        """No settings of the user's: they can name proxies, credentials and another daemon."""
        return {"DOCKER_HOST": _LOCAL + self.socket, "DOCKER_CONFIG": folder, "HOME": folder}
