"""One line about an event of a transaction, for lists of events: which attempt, from where to where, why.

The words are those of the payload and not safe yet; whoever shows them makes them so. For events of any
other type there is nothing to say besides their own subject.
"""

from collections.abc import Mapping

from consentry.record.events import EventType


def said_of(kind: object, payload: object) -> str | None:
    """What happened, in a few words; None where the event is about no transaction."""
    if not isinstance(payload, Mapping):
        return None
    if kind == EventType.TRANSACTION_TRANSITION.value:
        step = f"{payload.get('prevState')} > {payload.get('nextState')}"
        error = payload.get("error")
        why = f", {error.get('code')}" if isinstance(error, Mapping) else ""
        return f"attempt {payload.get('attemptNo')}: {step}{why}"
    if kind == EventType.TRANSACTION_RESOLVED.value:
        return f"attempt {payload.get('attemptNo')}: resolved, {payload.get('reason')}"
    return None
