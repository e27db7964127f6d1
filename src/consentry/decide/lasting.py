"""How long a yes lasts: once, for the session, until a time, or until what it is about changes."""

from enum import StrEnum

from consentry.base.clock import Instant
from consentry.decide.fields import problem


class Lasts(StrEnum):
    """The four spans; `permanent` ends with the version, digest or surface it was given for."""

    ONCE = "once"
    SESSION = "session"
    UNTIL = "until"
    PERMANENT = "permanent"


def check_end(name: str, lasts: Lasts | None, end: Instant | None) -> None:
    """Raises unless `until` has an end and `permanent` has none; the other spans may have one."""
    if lasts is Lasts.UNTIL and end is None:
        raise problem(name, "a yes until some time says until when")
    if end is not None and lasts in (None, Lasts.PERMANENT):
        raise problem(name, "only a yes that is not permanent can have an end")
