"""How the questions of a held run are put, and whose they are: what a caller of `holding` says."""

from collections.abc import Callable
from typing import Final, TypeAlias

from consentry.base.canonical import Digest
from consentry.base.values import dataclass
from consentry.decide.approval import ApprovalRequest
from consentry.declare.preferences import ApprovalSettings
from consentry.enforce.confinement import Confinement
from consentry.enforce.streams import Curtain
from consentry.service.approvals import Asker
from consentry.service.rundecision import RunDecision, by_command_line
from consentry.service.runrecord import named_path, word_text
from consentry.store.journal import Journal

AskerHere: TypeAlias = Callable[[Journal, ApprovalSettings, Curtain | None], Asker | None]
"""Who puts a question to the person at this terminal, before which a curtain may be shut; None where
nobody is there now."""
Announce: TypeAlias = Callable[[ApprovalRequest], None]
"""Tells of a question that has to be answered elsewhere."""

_MOST_ARGUMENTS: Final = 64


def nobody_here(_: Journal, _settings: ApprovalSettings, _curtain: Curtain | None) -> None:
    """Where there is no terminal to ask on."""


def unannounced(_: ApprovalRequest) -> None:
    """Where whoever answers looks by themselves."""


@dataclass(frozen=True, slots=True)
class Holding:
    """How a run's questions are put: to whom here, and else how they are told of."""

    asker: AskerHere = nobody_here
    announce: Announce = unannounced


@dataclass(frozen=True, slots=True)
class HeldRun:
    """Whose questions they are, and whether its writes may reach the host at once."""

    subject: str
    arguments: tuple[str, ...] = ()
    workspace: str | None = None
    policy_hash: Digest | None = None
    allows_direct: bool = True

    @classmethod
    def of(
        cls, wanted: Confinement, decision: RunDecision | None = None, *, allows_direct: bool
    ) -> "HeldRun":
        """Of a run that was decided; without a decision, by its own line."""
        decided = decision or by_command_line(wanted)
        words = tuple(map(word_text, wanted.program.line[:_MOST_ARGUMENTS]))
        return cls(
            decided.subject,
            words,
            named_path(str(wanted.workspace)),
            decided.policy_hash,
            allows_direct,
        )
