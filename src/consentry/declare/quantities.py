"""Limits as documents write them: sizes, times and numbers, never zero and never beyond a kernel."""

from consentry.base.units import Duration, Size
from consentry.declare.nodes import Kind
from consentry.declare.values import Value

_MOST_SIZE = Size(2**63 - 1)  # what the kernel can hold as a limit
_MOST_SECONDS = 10**9
_MOST_TIME = Duration(_MOST_SECONDS * 1000)
_MOST_PROCESSES = 2**22  # the most that the kernel numbers


def size(value: Value) -> Size | None:
    """`512MB`; a number without a unit is refused, because nobody agrees on what it counts."""
    if value.is_kind(Kind.WHOLE):
        value.refuse("this size has no unit", "write a unit behind it, such as 512MB")
        return None
    found = value.parsed(Size.parse)
    if found is None or Size(0) < found <= _MOST_SIZE:
        return found
    value.refuse(f"`{found}` is no limit", "write a size above 0 and below 8388608TB")
    return None


def duration(value: Value) -> Duration | None:
    """`90s`, `30d`; a number without a unit is refused, because some would count milliseconds."""
    if value.is_kind(Kind.WHOLE):
        value.refuse("this time has no unit", "write a unit behind it, such as 60s")
        return None
    found = value.parsed(Duration.parse)
    if found is None or Duration(0) < found <= _MOST_TIME:
        return found
    value.refuse(f"`{found}` is no limit", f"write a time above 0 and up to {_MOST_SECONDS}s")
    return None


def cpu_time(value: Value) -> Duration | None:
    """`60` and `60s` are seconds of CPU time (CONTRACTS §12-cpu)."""
    if value.is_kind(Kind.WHOLE):
        seconds = value.whole(1, _MOST_SECONDS)
        return None if seconds is None else Duration(seconds * 1000)
    return duration(value)


def processes(value: Value) -> int | None:
    """How many processes there may be at once."""
    return value.whole(1, _MOST_PROCESSES)
