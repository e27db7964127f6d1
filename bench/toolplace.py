"""A user with one tool that does nothing and a remembered yes for it, in folders that go away again."""

import json
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from consentry.decide.approval import ApprovalRequest
from consentry.decide.identity import Role
from consentry.decide.lasting import Lasts
from consentry.decide.question import Answer, Channel, Outcome
from consentry.service.approvals import Desk
from consentry.service.identity import local_user
from consentry.service.library import Library
from consentry.service.surroundings import Surroundings, look_around
from consentry.service.toolcalls import ToolCall
from consentry.service.tooldecisions import Parked
from consentry.service.toolruns import ToolWish
from consentry.store.journal import Journal

CALL = ToolCall("noop")

_TOOL = {
    "name": CALL.tool,
    "description": "Does nothing",
    "version": "1.0.0",
    "capabilities": {
        "processExecution": [{"command": "/usr/bin/true", "arguments": [], "purpose": "nothing"}]
    },
    "riskLevel": "low",
    "consentLevel": "explicit",
}
_CONSENT = {
    "version": "1.0.0",
    "consentLevels": {"explicit": {"allowedTools": [CALL.tool]}},
    "userPreferences": {"rememberChoices": True, "rememberDuration": "permanent"},
}


@dataclass(frozen=True, slots=True)
class ToolPlace:
    """Where the tool is called, and a library that has run it once with consent."""

    around: Surroundings
    environ: dict[str, str]
    project: Path
    library: Library

    @property
    def journal(self) -> Journal:
        """The ledger under the library's session."""
        return self.library.journal(self.around)

    @property
    def state(self) -> Path:
        """Where the ledger lies."""
        return Path(self.environ["CONSENTRY_STATE"])


@contextmanager
def tool_place() -> Iterator[ToolPlace]:
    """Made below the current folder, which is on a disk."""
    with TemporaryDirectory(dir=Path.cwd()) as folder, closing(Library()) as library:
        top = Path(folder).resolve()
        config, project = top / "home/.config/consentry", top / "project"
        (config / "tools").mkdir(parents=True)
        (project / ".git").mkdir(parents=True)
        (config / "tools/noop.yaml").write_text(json.dumps({"tool": _TOOL}))
        (config / "consent-config.yaml").write_text(json.dumps({"consentSystem": _CONSENT}))
        environ = {
            "HOME": str(top / "home"),
            "PATH": "/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "CONSENTRY_STATE": str(top / "state"),
        }
        around = replace(look_around(environ), cwd=project)
        place = ToolPlace(around, environ, project, library)
        request = ask(place)
        answer(place, request.request_id, Lasts.PERMANENT)
        library.run_request(request.request_id, around, ToolWish())
        yield place


def ask(place: ToolPlace) -> ApprovalRequest:
    """The question that a call leaves where nobody has said yes."""
    try:
        place.library.run_tool(CALL, place.around, ToolWish(waits=False))
    except Parked as parked:
        return Desk(place.journal).look(parked.request_id)
    raise RuntimeError("nobody was asked")


def answer(place: ToolPlace, request_id: str, lasts: Lasts) -> None:
    """A yes."""
    by = local_user(place.around, place.journal.machine_id)
    said = Answer(Outcome.APPROVED, by, Role.OWNER, Channel.COMMAND, "for the bench", lasts)
    Desk(place.journal).answer(request_id, said)


def quiet_status(argv: list[str], place: ToolPlace) -> None:
    """Runs a program in the project without a word; raises unless it ends with 0."""
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    child = os.posix_spawn(argv[0], argv, place.environ, file_actions=quiet)
    _, status = os.waitpid(child, 0)
    if status != 0:
        raise RuntimeError(f"{argv} ended with status {status}")
