"""Notices that the policy changed under which a question was asked, so that it is superseded at once.

The configuration of the question's own workspace is looked at again, at most once a second. What can
not be read any more is another policy: nobody can say that it still allows what was asked. Questions
of other machines are theirs to judge, and so are those that were asked under no policy.
"""

from typing import Final, NamedTuple

from consentry.base.canonical import Digest
from consentry.base.clock import Instant
from consentry.base.errors import ConsentryError
from consentry.decide.approval import ApprovalRequest
from consentry.decide.consentask import ConsentAsk
from consentry.decide.question import RequestKind
from consentry.service.approvals import workspace_of
from consentry.service.configuration import load_configuration
from consentry.service.places import find_workspace
from consentry.service.surroundings import Surroundings
from consentry.store.acceptances import StoredAcceptances
from consentry.store.journal import Journal

_BETWEEN_MS: Final = 1_000
_WATCHED: Final = (RequestKind.CONSENT, RequestKind.ESCALATION)


class _Glance(NamedTuple):
    at: Instant
    is_stale: bool


class PolicyWatch:
    """Looks at the policy of each question that it is asked about."""

    def __init__(self, around: Surroundings, journal: Journal) -> None:
        self._around = around
        self._journal = journal
        self._looked: dict[str, _Glance] = {}

    def __call__(self, request: ApprovalRequest) -> bool:
        """Whether the policy is another one by now."""
        question = request.question
        is_ours = request.machine_id == self._journal.machine_id
        if question.kind not in _WATCHED or question.policy_hash is None or not is_ours:
            return False
        now = self._journal.clock.now()
        before = self._looked.get(request.request_id)
        if before is not None and now.since(before.at).milliseconds < _BETWEEN_MS:
            return before.is_stale
        is_stale = self._policy_of(request) != question.policy_hash
        self._looked[request.request_id] = _Glance(now, is_stale)
        return is_stale

    def _policy_of(self, request: ApprovalRequest) -> Digest | None:
        if request.question.kind is RequestKind.ESCALATION:
            return policy_in(self._around, self._journal, workspace_of(request))
        ask = ConsentAsk.of(request)
        return policy_in(self._around, self._journal, ask.workspace, ask.config)


def policy_in(
    around: Surroundings, journal: Journal, workspace: str | None, config: str | None = None
) -> Digest | None:
    """The hash of the policy that counts there now; None where it cannot be read."""
    accepted = StoredAcceptances(journal.ledger, journal.ids, journal.clock, journal.context)
    try:
        place = find_workspace(around, workspace)
        return load_configuration(around, place, config, accepted).policy_hash
    except (ConsentryError, OSError):
        return None
