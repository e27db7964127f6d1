"""How long things take, in words that a person reads at a glance: `30-60 seconds`, `2 minutes`."""

from typing import Final

from consentry.base.units import Duration
from consentry.decide.previewparts import Estimate

UNKNOWN: Final = "not known yet"

_SECOND: Final = 1000
_LARGER: Final = (("hour", 3_600_000), ("minute", 60_000))
_FEW: Final = 2


def estimate_in_words(estimate: Estimate | None) -> str:
    """From half of the runs to nine in ten of them; what is not known is not guessed."""
    if estimate is None:
        return UNKNOWN
    low, high = estimate.p50.milliseconds, estimate.p90.milliseconds
    if high < _SECOND:
        return "under 1 second"
    fitting = (each for each in _LARGER if high >= _FEW * each[1])
    unit, size = next(fitting, ("second", _SECOND))
    first, last = round(low / size), -(-high // size)
    if first >= last:
        return f"about {_counted(last, unit)}"
    return f"{first}-{last} {unit}s" if first else f"up to {_counted(last, unit)}"


def clock_text(spent: Duration) -> str:
    """As a stop watch has it: `0:07`, `1:02:03`."""
    minutes, seconds = divmod(spent.milliseconds // _SECOND, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _counted(count: int, unit: str) -> str:
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
