"""A project with a repository, a tool that a person agreed to, and a desk that mints tokens for it.

python -m tests.service.tokening HOME PROJECT TOKEN WAY   does one thing with a token that was minted
elsewhere, and is killed or starved on the way, as WAY says
"""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from consentry.decide.approval import ApprovalRequest
from consentry.decide.budgets import Budget
from consentry.decide.lasting import Lasts
from consentry.decide.question import Answer
from consentry.decide.tokenrecords import TokenUse
from consentry.decide.tokens import CapabilityBundle, FsReadWriteCapability, MintOrder
from consentry.service.approvals import Look
from consentry.service.consentmanager import ConsentManager
from consentry.service.library import Library
from consentry.service.runledger import RunLedger
from consentry.service.surroundings import Surroundings, look_around
from consentry.service.tokenfiles import TokenFiles
from consentry.service.tokens import TokenDesk
from consentry.store.tokens import RecordedUse, StoredTokens
from tests.cli.conftest import CommandLine
from tests.decide.samples import answer

TOOL = "steward"
MANIFEST = """\
tool:
  name: steward
  displayName: Steward
  description: Keeps the project in order
  version: "1.0.0"
  capabilities:
    fileRead: [{pattern: "./", purpose: "the project"}]
    fileWrite: [{pattern: "./", purpose: "the project"}]
    processExecution:
      - {command: "git", arguments: [], purpose: "commits"}
      - {command: "npm", arguments: [], purpose: "installs"}
      - {command: "node", arguments: [], purpose: "scripts of packages"}
      - {command: "sh", arguments: [], purpose: "scripts of packages"}
    networkAccess: ["localhost"]
    environmentVariables: {read: [], write: []}
  riskLevel: low
  consentLevel: explicit
  sandboxRequirements: {isolateFileSystem: true, restrictNetwork: true}
"""
GIT = [
    "git",
    "-c",
    "user.name=x",
    "-c",
    "user.email=x@example.org",
    "-c",
    "init.defaultBranch=main",
]
STEWARD = ("Steward", "steward@example.org")


class Says:
    """Somebody who says yes, for the session or as long as told."""

    def __init__(self, lasts: Lasts | None = Lasts.SESSION) -> None:
        self.lasts = lasts

    def ask(self, _request: ApprovalRequest, _look: Look) -> Answer:
        """Yes."""
        return answer(lasts=self.lasts)

    def tell(self, request: ApprovalRequest) -> None:
        """Nobody is there to be told."""


class UnsafeNoCheck:
    """Takes every token for one that was minted; only tests have it."""

    def use_of(self, _: TokenUse) -> RecordedUse:
        """Nothing to hold and nothing to record."""
        return RecordedUse((), lambda _: None)

    def use(self, _: TokenUse) -> None:
        """Nothing."""


class Place:
    """The project of one user, the desk of one program, and the consent that was given to it."""

    def __init__(self, line: CommandLine) -> None:
        self.line, self.project = line, line.cwd
        file = Path(line.environ["HOME"]) / ".config/consentry/tools/steward.yaml"
        file.parent.mkdir(parents=True, mode=0o700)
        file.write_text(MANIFEST)
        self.library = Library()
        self.around: Surroundings = look_around(line.environ)
        self.desk = TokenDesk.of(self.library, self.around)
        self.manager = ConsentManager(line.environ, str(self.project), asker=Says())
        self.consent = self.agreed()

    def agreed(self) -> str:
        """The id of a consent to the tool."""
        found = self.manager.request_consent(TOOL, {}).consent_id
        assert found is not None
        return found

    def mint(self, capability: type[Any], scope: dict[str, Any], **changes: Any) -> Any:
        """A token of the workflow `work`, for the project."""
        fields = {
            "consent_id": self.consent,
            "tool": TOOL,
            "workflow": "work",
            "workspace": str(self.project),
        }
        budget = Budget.of(changes.pop("budget", None))
        order = MintOrder(**{**fields, **changes, "budget": budget})
        return self.desk.mint(capability, scope, order)

    @property
    def unsafe(self) -> TokenDesk:
        """The same desk without its check."""
        return TokenDesk(self.library, self.around, UnsafeNoCheck())

    def git(self, *words: str, folder: Path | None = None) -> str:
        """What plain git says, in no box."""
        return git(folder or self.project, *words)

    def close(self) -> None:
        """Ends the sessions."""
        self.manager.close()
        self.library.close()


def git(folder: Path, *words: str) -> str:
    """What plain git says there, outside of any box."""
    done = subprocess.run(
        [*GIT, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    return done.stdout + done.stderr


@contextmanager
def place_of(line: CommandLine) -> Iterator[Place]:
    """The place, with a repository of one commit in the project."""
    git(line.cwd, "init", "-q")
    (line.cwd / "a.txt").write_text("a\n")
    git(line.cwd, "add", "a.txt")
    git(line.cwd, "commit", "-q", "-m", "one")
    made = Place(line)
    try:
        yield made
    finally:
        made.close()


def _killed_after(used: Any) -> Any:
    def and_then(*given: Any, **named: Any) -> Any:
        found = used(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)
        return found

    return and_then


def main(home: str, project: str, text: str, way: str) -> None:
    """Writes a file and commits it, or ends in between."""
    around = look_around({"HOME": home, "PATH": "/usr/bin:/bin"})
    bundle = CapabilityBundle.from_text(text)
    if way == "kill-file":
        StoredTokens.use = _killed_after(StoredTokens.use)  # type: ignore[method-assign]
    if way == "kill-git":
        RunLedger.permitted = _killed_after(RunLedger.permitted)  # type: ignore[method-assign]
    desk = TokenDesk.of(Library(), around)
    if way == "full":
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    if way.endswith("git"):
        desk.git_local(bundle, "commit", ["--allow-empty", "-m", "two"], identity=STEWARD)
    else:
        files = part(bundle)
        TokenFiles.of(desk, files, project).create("out.txt", b"written")


def part(bundle: CapabilityBundle) -> FsReadWriteCapability:
    """The part for files."""
    assert bundle.files is not None
    return bundle.files


if __name__ == "__main__":
    main(*sys.argv[1:])
