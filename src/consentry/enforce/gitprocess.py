"""Starts git so that the repository it reads decides nothing about what runs.

A repository's configuration can name programs: for diffs, filters, pagers, file watching, hooks,
fetching. Git is therefore never pointed at a repository's own folder. It gets a folder that we wrote
(`gitplace`), the repository's objects as data, an environment made from nothing, and none but commands
that compute no diff, touch no remote and check nothing out: `cat-file`, `ls-files`, `merge-base`.

Whose repository it is makes no difference here: git's own check of the owner protects from a
configuration of somebody else's, and none is read.

Not promised: that git itself has no fault. What it parses is hostile; its memory, time and output are
bounded, and it is not confined otherwise.
"""

import os
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput, UsageProblem
from consentry.base.values import dataclass
from consentry.enforce.hops import leads_through
from consentry.enforce.ownership import stranger_over_file
from consentry.enforce.pipedprocess import PipedProcess, is_ready

USUAL_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
ERRORS: Final = "errors"
HOME: Final = "home"

SECONDS: Final = 120.0
MOST_OUTPUT: Final = 256 << 20

_PART: Final = 1 << 16
_MOST_SAID: Final = 4096
_LIMITS: Final = {
    # Packs are mapped read-only and do not count: a large repository needs no more than a small one.
    resource.RLIMIT_DATA: 2 << 30,
    resource.RLIMIT_FSIZE: 1 << 20,
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_CPU: 600,
}
_SETTINGS: Final = (
    "core.fsmonitor=false",
    "core.untrackedCache=false",  # or the index could say which folders have nothing new
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.commitGraph=false",  # or a file beside the commits could say who their parents are
    "core.useReplaceRefs=false",
    "core.bigFileThreshold=16m",
    "core.pager=cat",
    "protocol.allow=never",
    "gc.auto=0",
)
_ENVIRONMENT: Final = {
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_ADVICE": "0",
}


@dataclass(frozen=True, slots=True)
class GitSetting:
    """All that a git process is told: the program, our folder, and the repository's data."""

    program: Path
    folder: Path
    objects: Path
    work_tree: Path | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The whole environment of the process."""
        home = str(self.folder / HOME)
        told = {
            **_ENVIRONMENT,
            "PATH": str(self.program.parent),
            "HOME": home,
            "XDG_CONFIG_HOME": home,
            "GIT_DIR": str(self.folder),
            "GIT_OBJECT_DIRECTORY": str(self.objects),
        }
        if self.work_tree is not None:
            told["GIT_WORK_TREE"] = str(self.work_tree)
        return told

    def start(self, words: Sequence[str]) -> PipedProcess:
        """Starts a git command."""
        settings = [word for each in _SETTINGS for word in ("-c", each)]
        return PipedProcess(
            [str(self.program), "-C", str(self.folder), "--no-pager", *settings, *words],
            self.environment,
            errors=str(self.folder / ERRORS),
            limits=_LIMITS,
        )

    def said(self) -> str:
        """What git said last on its standard error, in one line."""
        try:
            with (self.folder / ERRORS).open("rb") as handle:
                handle.seek(max(0, os.fstat(handle.fileno()).st_size - _MOST_SAID))
                lines = handle.read(_MOST_SAID).decode("utf-8", "replace").splitlines()
        except OSError:
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


@dataclass(frozen=True, slots=True)
class GitAnswer:
    """How a command ended, and what it wrote."""

    status: int
    output: bytes


def find_git(search_path: str, *avoid: Path) -> Path:
    """The git that a shell would find, outside of `avoid` and not in a stranger's hands."""
    passed_over: list[str] = []
    for entry in search_path.split(os.pathsep):
        # An empty or relative entry means the current folder, which anybody may have filled.
        if not entry.startswith("/"):
            continue
        candidate = Path(entry, "git")
        # Asked first, because it says no where the folder may not even be searched.
        if not os.access(candidate, os.X_OK) or not candidate.is_file():
            continue
        reason = _reason_against(candidate, avoid)
        if reason is None:
            return candidate
        passed_over.append(reason)
    raise UsageProblem(
        Code.PROGRAM_UNKNOWN,
        "; ".join(["no folder of PATH has a `git` that may be used", *passed_over]),
        help_line="install git, or hand in a patch bundle instead",
    )


def _reason_against(candidate: Path, avoid: Sequence[Path]) -> str | None:
    try:
        if any(leads_through(candidate, Path(os.path.realpath(each))) for each in avoid):
            return f"`{candidate}` lies in the repository, or is reached through it"
        return stranger_over_file(candidate, os.geteuid())
    except OSError as problem:
        return f"`{candidate}`: {(problem.strerror or 'cannot be looked at').lower()}"


def run_git(
    setting: GitSetting,
    words: Sequence[str],
    *,
    seconds: float = SECONDS,
    most: int = MOST_OUTPUT,
) -> GitAnswer:
    """Runs one command to its end, without input; raises when it takes or writes too much."""
    until = time.monotonic() + seconds
    process = setting.start(words)
    try:
        process.close_input()
        parts: list[bytes] = []
        size = 0
        while True:
            if not is_ready(process.out, until):
                raise too_slow(words[0], seconds)
            part = os.read(process.out, _PART)
            if not part:
                break
            parts.append(part)
            size += len(part)
            if size > most:
                raise BadInput(
                    Code.FILE_UNUSABLE,
                    f"`git {words[0]}` wrote more than {most >> 20} MiB, and was stopped",
                    help_line="look at a smaller part of the repository",
                )
        status = process.wait(until)
        if status is None:
            raise too_slow(words[0], seconds)
        return GitAnswer(status, b"".join(parts))
    finally:
        process.end()


def too_slow(command: str, seconds: float) -> BadInput:
    """The error of a command that did not answer in time."""
    return BadInput(
        Code.FILE_UNUSABLE,
        f"`git {command}` did not answer within {seconds:.0f} seconds, and was stopped",
        help_line="a pipe in place of a file, or a slow disk, may hold it up",
    )
