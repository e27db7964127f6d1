"""GO or NO-GO from the ledger that is here, and the resolution of a violation.

The ledger is read once, from its first event to its last: what an approval or an unresolved violation from
before the window says is needed, and the chains are followed on the way. What is counted meanwhile lies
beside the program, so that memory does not grow with the ledger.
"""

from typing import Final

from consentry.base.canonical import Json
from consentry.base.clock import Clock, Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, UsageProblem
from consentry.base.units import Duration
from consentry.record.signoff import SignoffAnswer, SignoffFold, SignoffWindow
from consentry.record.signoffevents import is_fixture, is_violation
from consentry.service.audit import event_named, point_in_time
from consentry.store.followedrows import FollowedRows
from consentry.store.history import History
from consentry.store.journal import Journal
from consentry.store.resolutions import Resolution, record_resolution
from consentry.store.spilledstates import SpilledStates

USUAL_WINDOW: Final = "7d"
_JUST_BEHIND: Final = Duration(1)


def asked_window(clock: Clock, window: str | None, until: str | None) -> SignoffWindow:
    """As a person asked for it; times are read here, before anything is opened."""
    text, now = window or USUAL_WINDOW, clock.now()
    try:
        span = Duration.parse(text)
    except BadInput as problem:
        raise UsageProblem(
            Code.USAGE, problem.message, help_line="write a window such as 7d, 36h or 2weeks"
        ) from None
    if span.milliseconds == 0:
        raise UsageProblem(
            Code.USAGE, f"a window of `{text}` holds nothing", help_line="write one such as 7d"
        )
    ends = now if until is None else point_in_time(until, clock)
    if ends > now:
        raise UsageProblem(
            Code.USAGE,
            f"the window would end at {ends.shown()}, which has not come yet",
            help_line="what is not recorded yet would change the answer; name an earlier end",
        )
    if ends.unix_ms <= 0:
        message = f"the window would end at {ends}, before there was anything to record"
        raise UsageProblem(Code.USAGE, message, help_line="name a later end")
    return SignoffWindow.ending(ends, span)


def behind_the_latest(window: SignoffWindow, history: History | None) -> SignoffWindow:
    """The window of now, moved on behind the latest event of the ledger where that seems yet to come.

    A clock that was ahead, or this one set back, would else keep what happened out of every window that ends
    now, and a violation with it.
    """
    latest = None if history is None else history.latest_time()
    try:
        ends = window.until if latest is None else Instant.parse(latest).plus(_JUST_BEHIND)
    except BadInput:
        return window
    if ends <= window.until:
        return window
    return SignoffWindow.ending(ends, window.until.since(window.since))


def signoff_answer(history: History | None, window: SignoffWindow) -> SignoffAnswer:
    """The answer for that window; without a ledger nothing is known, which is a NO-GO."""
    if history is None:
        return SignoffFold(window).answer()
    with SpilledStates() as states:
        fold = SignoffFold(window, states.make)
        rows = FollowedRows(history.database, states.make("chains"))
        for row in rows:
            fold.add(row)
        fold.add_faults(rows.faults)
        return fold.answer()


def require_violation(journal: Journal, event_id: str) -> Instant:
    """When the violation with that id was recorded; raises where the event is none of real use."""
    event = event_named(journal.ledger.history, event_id)
    kind = str(event.get("type"))
    if not is_violation(kind, event):
        why = "comes from a fixture" if is_fixture(event) else "is no such violation"
        raise UsageProblem(
            Code.SIGNOFF_EVENT,
            f"`{event_id}` is an event of type `{kind}` and {why}: nothing to resolve",
        )
    return Instant.parse(str(event["timestampUtc"]))


def resolve_violation(journal: Journal, resolution: Resolution) -> dict[str, Json]:
    """Records root cause and corrective action of a violation, once."""
    at = require_violation(journal, resolution.violation_event_id)
    for name, text in (
        ("--root-cause", resolution.root_cause),
        ("--corrective-action", resolution.corrective_action),
    ):
        if not text.strip():
            message = f"`{name}` says nothing"
            raise UsageProblem(Code.USAGE, message, help_line="say it in a sentence")
    return record_resolution(journal, resolution, at)
