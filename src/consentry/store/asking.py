"""A question before it is put, so that it is put in one transaction with what it is about."""

from consentry.base.values import dataclass
from consentry.decide.approval import ApprovalRequest
from consentry.record.envelope import Draft
from consentry.store.ledger import Change


@dataclass(frozen=True, slots=True)
class Asking:
    """The request, the events that are recorded with it, and the change that keeps its row."""

    request: ApprovalRequest
    drafts: tuple[Draft, ...]
    change: Change
