"""What makes a change of the lock something that people look at: a line for owners, a part of the template.

The lock is an integrity check; whoever can commit both a plugin and its lock passes it. What stands against
that is review, so a repository with plugins names who has to agree to a change of the lock, and asks whoever
proposes one what was looked at. Nothing that is there is changed: a file that is missing is made, and to one
that does not speak of the lock yet the part is added at its end (in `CODEOWNERS` the last line that fits
counts).
"""

from enum import StrEnum
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, UsageProblem
from consentry.base.paths import SandboxedPath
from consentry.base.values import dataclass
from consentry.declare.pluginlock import LOCK_NAME
from consentry.service.placedfile import place_new, replace_whole
from consentry.service.races import recorded
from consentry.service.userfiles import read_named

_OWNERS: Final = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
_TEMPLATES: Final = (
    ".github/pull_request_template.md",
    ".github/PULL_REQUEST_TEMPLATE.md",
    "pull_request_template.md",
    "PULL_REQUEST_TEMPLATE.md",
    "docs/pull_request_template.md",
)


class Done(StrEnum):
    """What became of one file."""

    MADE = "made"
    ADDED = "added"
    THERE = "there already"


@dataclass(frozen=True, slots=True)
class ReviewFile:
    """One file, what was done, and the text that it has or would have."""

    path: str
    done: Done
    text: str


def owners_part(lock: str, owner: str) -> str:
    """The lines of `CODEOWNERS` for a lock at a path from the top of the repository."""
    return (
        "# A change of the lock accepts what changed in plugins: somebody else has to look.\n"
        f"/{lock} {owner}\n"
        f"/.github/CODEOWNERS {owner}\n"
    )


def template_part(lock: str) -> str:
    """The part of a pull-request template that calls out changes of the lock."""
    return (
        "## Plugin lock\n"
        "\n"
        f"- [ ] This change does not touch `{lock}`.\n"
        "- [ ] It does. The lock is an integrity check: whoever can commit both a plugin and its lock\n"
        "      passes. For each plugin whose entry changed I say below which files changed, why, and\n"
        "      who besides the author read them.\n"
    )


def write_review_files(top: Path, root: Path, owner: str, *, write: bool) -> tuple[ReviewFile, ...]:
    """Makes or adds to both files of a repository, or only says what would be done.

    Args:
        top: The folder that the repository lies in.
        root: The folder of plugins, below it.
        owner: Who has to agree: a team or an address, as the file has it.
        write: Whether anything is written.
    """
    lock = f"{root.relative_to(top).as_posix()}/{LOCK_NAME}"
    wanted = ((_OWNERS, owners_part(lock, owner)), (_TEMPLATES, template_part(lock)))
    return tuple(_written(top, names, part, lock, write=write) for names, part in wanted)


def _written(top: Path, names: tuple[str, ...], part: str, lock: str, *, write: bool) -> ReviewFile:
    present = next((name for name in names if (top / name).is_file()), None)
    if present is None:
        if write:
            _made(top, names[0], part)
        return ReviewFile(names[0], Done.MADE, part)
    content = read_named(str(top / present))
    if any(lock.encode() in line for line in content.split(b"\n") if not line.startswith(b"#")):
        return ReviewFile(present, Done.THERE, part)
    if write:
        end = b"" if not content or content.endswith(b"\n") else b"\n"
        replace_whole(_checked(top, present), content + end + b"\n" + part.encode())
    return ReviewFile(present, Done.ADDED, part)


def _made(top: Path, name: str, part: str) -> None:
    folder = Path(name).parent.as_posix()
    try:
        if not (top / folder).is_dir():
            SandboxedPath.create_new(top, folder).unwrap().make_folder(0o755, on_race=recorded)
    except (ConsentryError, OSError) as problem:
        said = problem.strerror if isinstance(problem, OSError) else str(problem)
        message = f"`{top / folder}`: {(said or 'cannot be made').lower()}"
        raise UsageProblem(Code.FILE_UNUSABLE, message) from problem
    place_new(str(_checked(top, folder) / Path(name).name), part.encode())


def _checked(top: Path, name: str) -> Path:
    """The path with its links resolved, which must not leave the repository."""
    try:
        return Path(SandboxedPath.create(top, name).unwrap())
    except ConsentryError as problem:
        raise UsageProblem(Code.FILE_UNUSABLE, str(problem)) from problem
