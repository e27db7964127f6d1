"""Reads what a request asks for back from the request, the same way for every kind of question.

The request is all that an approver in another process has. One of another kind is refused, and one whose
content nobody here can have written is not believed.
"""

from collections.abc import Callable
from typing import TypeVar

from consentry.base.codes import Code
from consentry.base.errors import BadInput, ConsentryError, Refused
from consentry.decide.approval import ApprovalRequest
from consentry.decide.question import RequestKind

Ask = TypeVar("Ask")


def read_ask(
    request: ApprovalRequest, kind: RequestKind, what: str, read: Callable[[object], Ask]
) -> Ask:
    """The question as `read` makes it of the preview; `what` is what a request of that kind does."""
    if request.question.kind is not kind:
        message = f"`{request.request_id}` does not {what}"
        raise Refused(Code.ANSWER_REFUSED, message)
    try:
        return read(request.question.preview)
    except ConsentryError as wrong:
        message = f"what `{request.request_id}` asks for cannot be read: {wrong.message}"
        raise BadInput(Code.DECISION_FIELD, message) from wrong
