"""What the audit entry of a run says of consent and of the tool (CONSENT §audit).

The keys of CONSENT are always there. What else is known of a consent (its id, who gave it, the reason)
stands beside them where there is something to say, and what a manifest's `auditConfig` says beside the
name of the tool.
"""

from collections.abc import Sequence
from typing import Final, TypeVar

from consentry.base.canonical import Json
from consentry.base.clock import Instant
from consentry.declare.tool import LogLevel
from consentry.record.auditfields import ConsentMethod
from consentry.service.rundecision import RunDecision, ToolFacts

MOST_LISTED: Final = 10_000

_MOST: Final = {LogLevel.MINIMAL: 0, LogLevel.STANDARD: 1_000, LogLevel.DETAILED: MOST_LISTED}

Entry = TypeVar("Entry")


def user_given(actor: str, decision: RunDecision, permitted_at: Instant) -> dict[str, Json]:
    """Of a run that was permitted."""
    return {
        "id": actor,
        "consentGiven": True,
        "consentTimestamp": str(decision.consented_at or permitted_at),
        "consentMethod": decision.method.value,
        **_more(decision),
    }


def user_refused(
    actor: str, method: ConsentMethod, decision: RunDecision | None
) -> dict[str, Json]:
    """Of a run that was not; with a `decision`, something else than consent was missing."""
    given_at = None if decision is None else decision.consented_at
    return {
        "id": actor,
        "consentGiven": given_at is not None,
        "consentTimestamp": None if given_at is None else str(given_at),
        "consentMethod": method.value if decision is None else decision.method.value,
        **({} if decision is None else _more(decision)),
    }


def _more(decision: RunDecision) -> dict[str, Json]:
    level = decision.level
    said: dict[str, Json] = {
        "level": None if level is None else level.value,
        "consentId": decision.consent_id,
        "requestId": decision.request_id,
        "consentGivenBy": decision.given_by,
        "reason": decision.reason,
        "tokenId": None if decision.token is None else decision.token.token_id,
    }
    return {name: value for name, value in said.items() if value is not None}


def tool_said(tool: ToolFacts) -> dict[str, Json]:
    """A tool by its manifest; one whose programs were not found has no digest."""
    digest: dict[str, Json] = {} if tool.digest is None else {"digest": tool.digest}
    return {
        "name": tool.name,
        "version": tool.manifest.version,
        **digest,
        "auditConfig": tool.audit_config,
    }


def most_listed(level: LogLevel) -> int:
    """How many files a list has at most."""
    return _MOST[level]


def listed(tool: ToolFacts | None, entries: Sequence[Entry]) -> Sequence[Entry]:
    """As much of a list of files as is to be kept; of what is no tool, all that an entry holds."""
    most = MOST_LISTED if tool is None else _MOST[tool.manifest.audit.log_level]
    return entries[:most]
