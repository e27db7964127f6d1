"""What accepting a workspace's configuration would change, and the accepting itself.

Both are about the same bytes: what is shown was read once, and what is accepted are the digests of
what was shown. Whoever changes a file while the question stands has changed what is accepted to
something that is not there any more.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused
from consentry.base.values import dataclass
from consentry.decide.acceptance import (
    Acceptance,
    Accepted,
    AsIfAccepted,
    NothingAccepted,
    digest_of_files,
)
from consentry.decide.trust import Ignored, merged_policy
from consentry.declare.policy import Policy
from consentry.declare.reader import parsed
from consentry.service.configuration import Effective, load_configuration
from consentry.service.places import Workspace
from consentry.service.surroundings import Surroundings

if TYPE_CHECKING:
    from consentry.service.plugins import VerifiedPlugin

DENIED = "denied"
ABSENT = "no tool"
"""For a tool of a plugin that is not loaded yet."""


@dataclass(frozen=True, slots=True)
class LevelChange:
    """A tool whose level is another one once the documents are accepted."""

    tool: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class TrustView:
    """A workspace's files, what accepting them would change, and how it stands.

    `changed` are the files that are not what was accepted last: others, new ones and missing ones.
    `plugins` are the workspace's: hashed and found to be what their lock says, and not loaded.
    """

    workspace: str
    files: Mapping[str, Digest]
    levels: tuple[LevelChange, ...]
    lowers: tuple[Ignored, ...]
    never: tuple[Ignored, ...]
    standing: Acceptance | None
    changed: tuple[str, ...]
    plugins: "tuple[VerifiedPlugin, ...]" = ()

    @property
    def digest(self) -> Digest:
        """The one digest over all of them."""
        return digest_of_files(self.files)

    @property
    def is_accepted(self) -> bool:
        """Whether these very files stand accepted."""
        return self.standing is not None and self.standing.digest == self.digest

    @property
    def is_empty(self) -> bool:
        """Whether the workspace has no configuration at all."""
        return not self.files


def view_trust(
    around: Surroundings,
    workspace: Workspace,
    named: str | None,
    kept: Accepted,
) -> TrustView:
    """The workspace as it is now."""
    before = load_configuration(around, workspace, named, NothingAccepted())
    after = load_configuration(around, workspace, named, AsIfAccepted())
    place = str(workspace.path)
    standing = kept.standing(place)
    files = after.strangers
    plugins = tuple(each for each in after.plugins if not each.is_own)
    accepted = {} if standing is None else standing.files
    changed = [
        name for name in sorted({*files, *accepted}) if files.get(name) != accepted.get(name)
    ]
    return TrustView(
        place,
        files,
        tuple(_level_changes(before, after)),
        (*(each for each in before.ignored if each.lowers), *_answered_by(plugins)),
        tuple(each for each in after.ignored if not each.lowers),
        standing,
        () if standing is None else tuple(changed),
        plugins,
    )


def require_something(view: TrustView) -> None:
    """Raises where there is nothing that could be accepted."""
    if view.is_empty:
        raise Refused(Code.NOTHING_TO_TRUST, f"`{view.workspace}` has no configuration of its own")


def _answered_by(plugins: "tuple[VerifiedPlugin, ...]") -> tuple[Ignored, ...]:
    """The entries of their policies, which would stand for a yes as those of the workspace's own do."""
    if not plugins:
        return ()
    from consentry.service.plugindocuments import policy_entries  # noqa: PLC0415 - few have any

    theirs = Policy(policy_entries(plugins, parsed))
    return merged_policy(Policy(), theirs, is_accepted=False)[1]


def _level_changes(before: Effective, after: Effective) -> list[LevelChange]:
    found = []
    for name in sorted(after.tools):
        held, wanted = _level(before, name), _level(after, name)
        if held != wanted:
            found.append(LevelChange(name, held, wanted))
    return found


def _level(effective: Effective, name: str) -> str:
    if name not in effective.tools:
        return ABSENT
    tool = effective.tool(name)
    try:
        return effective.level_of(tool).level.value
    except ConsentryError as problem:
        if problem.code is not Code.TOOL_DENIED:
            raise
        return DENIED
