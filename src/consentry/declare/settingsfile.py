"""Reads `settings.yaml`: how approvals are asked for, and how long they wait (CONTRACTS §12-files).

    approvals:
      passphrase: true
      deadlines: {escalation: 5min, prompt: 15min, parked: 1day}

Nothing must be there. A question that nobody answers is denied at its deadline, so none can be left
without one: zero and numbers without a unit are refused.
"""

from typing import Final

from consentry.declare.preferences import ApprovalSettings, OwnSettings
from consentry.declare.quantities import duration
from consentry.declare.reader import Parse, parsed, read_document
from consentry.declare.values import Value

KEYS: Final = ("approvals",)
KEYS_OF_APPROVALS: Final = ("passphrase", "deadlines")
KEYS_OF_DEADLINES: Final = ("escalation", "prompt", "parked")


def read_settings(content: bytes, name: str, *, parse: Parse = parsed) -> OwnSettings:
    """Reads the document, or raises `document-invalid` with all that is wrong with it.

    Args:
        content: The bytes of the document.
        name: How errors call it; `.json` at its end means JSON.
        parse: Where the nodes come from, if not from the text itself.
    """
    return read_document(content, name, _document, parse)


def _document(root: Value) -> OwnSettings:
    fields = root.fields(KEYS)
    usual = ApprovalSettings()
    return OwnSettings(usual if fields is None else fields.may("approvals", _approvals, usual))


def _approvals(value: Value) -> ApprovalSettings | None:
    fields = value.fields(KEYS_OF_APPROVALS)
    if fields is None:
        return None
    usual = ApprovalSettings()
    times = fields.may("deadlines", _deadlines, usual)
    return ApprovalSettings(
        fields.may("passphrase", Value.flag, usual.passphrase),
        times.escalation_deadline,
        times.prompt_deadline,
        times.parked_deadline,
    )


def _deadlines(value: Value) -> ApprovalSettings | None:
    fields = value.fields(KEYS_OF_DEADLINES)
    if fields is None:
        return None
    usual = ApprovalSettings()
    return ApprovalSettings(
        escalation_deadline=fields.may("escalation", duration, usual.escalation_deadline),
        prompt_deadline=fields.may("prompt", duration, usual.prompt_deadline),
        parked_deadline=fields.may("parked", duration, usual.parked_deadline),
    )
