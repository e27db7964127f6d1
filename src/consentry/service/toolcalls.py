"""A call for a tool, made ready: found in the configuration, levelled, bound to the tree and hashed.

What is ready is what a person is asked about. Making it ready twice from the same files gives the same
digest, surface and policy; whoever waited for an answer does that, and compares.
"""

import os
from collections.abc import Sequence

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass, field
from consentry.decide.levels import LevelDecision
from consentry.record.auditfields import Trigger
from consentry.service.configuration import Effective, load_configuration
from consentry.service.givenvalues import Word, words_of, wrong
from consentry.service.places import Workspace, find_workspace
from consentry.service.statedir import find_state
from consentry.service.surroundings import Surroundings
from consentry.service.toolbinding import BoundTool, bind_tool
from consentry.store.acceptances import StoredAcceptances
from consentry.store.journal import Journal


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Which tool, with which words, where, and under which configuration."""

    tool: str
    arguments: tuple[str, ...] = ()
    workspace: str | None = None
    config: str | None = None
    trigger: Trigger = Trigger.USER_COMMAND


@dataclass(frozen=True, slots=True)
class ReadyTool:
    """The call, with everything that its decision depends on."""

    call: ToolCall
    workspace: Workspace
    effective: Effective = field(repr=False)
    bound: BoundTool = field(repr=False)
    level: LevelDecision

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.bound.tool.manifest.name

    def require_same_as(self, asked: "ReadyTool") -> None:
        """Raises unless what was asked about is what would run now."""
        changed = [
            words
            for words, is_same in (
                ("its files or manifest", self.bound.digest == asked.bound.digest),
                ("what it may do", self.bound.surface == asked.bound.surface),
                ("the configuration", self.effective.policy_hash == asked.effective.policy_hash),
                ("its level", self.level.level is asked.level.level),
            )
            if not is_same
        ]
        if changed:
            message = f"{' and '.join(changed)} changed while the question was open"
            raise Refused(
                Code.CONSENT_STALE,
                f"`{self.name}` was not started: {message}",
                help_line="run it again; the question is put anew, with what it is now",
            )


def tool_call(
    tool: object, arguments: Sequence[Word], workspace: Word | None, config: Word | None
) -> ToolCall:
    """A call of the library; what only a slip can explain is refused."""
    if not isinstance(tool, str) or not tool:
        raise wrong("`tool` is the name of a tool")
    return ToolCall(
        tool,
        words_of("arguments", arguments),
        None if workspace is None else os.fsdecode(workspace),
        None if config is None else os.fsdecode(config),
        Trigger.API,
    )


def ready_tool(call: ToolCall, around: Surroundings, journal: Journal) -> ReadyTool:
    """Finds and binds it; raises before anything is asked, recorded or started."""
    workspace = find_workspace(around, call.workspace)
    find_state(around, workspace)
    effective = load_configuration(around, workspace, call.config, acceptances_of(journal))
    tool = effective.tool(call.tool)
    level = effective.level_of(tool)
    bound = bind_tool(tool, effective, call.arguments, workspace.path, around)
    return ReadyTool(call, workspace, effective, bound, level)


def acceptances_of(journal: Journal) -> StoredAcceptances:
    """What was accepted in workspaces."""
    return StoredAcceptances(journal.ledger, journal.ids, journal.clock, journal.context)
