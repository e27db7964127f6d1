"""From a denial's text to a suggested step between permission sets (ESCALATION AC2, AC8).

`suggest_escalation` is a pure function of the text. It looks at no file and asks no engine; whether
the suggested set would open the very thing that was denied is for `escalationreach` to say.
"""

from pathlib import Path

from consentry.decide.escalationrequest import (
    PermissionEscalationRequest,
    escalation_digest,
    format_escalation_request,
    get_valid_escalation_targets,
    is_valid_escalation,
)
from consentry.surface.permission_sets import PermissionSet

__all__ = [
    "PermissionEscalationRequest",
    "escalation_digest",
    "format_escalation_request",
    "get_valid_escalation_targets",
    "is_valid_escalation",
    "suggest_escalation",
]


def suggest_escalation(
    error: str,
    capability_id: str = "",
    current_set: PermissionSet | str = PermissionSet.MINIMAL,
    workspace: str | Path | None = None,
) -> PermissionEscalationRequest | None:
    """The step that the denials in `error` ask for, or None where no step is to be suggested."""
    raise NotImplementedError
