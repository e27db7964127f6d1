"""What `settings.yaml` says, as values: how approvals are asked for and how long they wait (CONTRACTS §12)."""

from typing import Final

from consentry.base.units import Duration
from consentry.base.values import dataclass

_MINUTE_MS: Final = 60_000
_ESCALATION: Final = Duration(5 * _MINUTE_MS)
_PROMPT: Final = Duration(15 * _MINUTE_MS)
_PARKED: Final = Duration(24 * 60 * _MINUTE_MS)


@dataclass(frozen=True, slots=True)
class ApprovalSettings:
    """Whether a passphrase goes with an answer, and when a question that nobody answers is denied."""

    passphrase: bool = False
    escalation_deadline: Duration = _ESCALATION
    prompt_deadline: Duration = _PROMPT
    parked_deadline: Duration = _PARKED


@dataclass(frozen=True, slots=True)
class OwnSettings:
    """The whole document."""

    approvals: ApprovalSettings = ApprovalSettings()
