"""How long effects are kept, and how much of them, as the settings say."""

from functools import lru_cache
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput, UsageProblem
from consentry.base.units import Duration, Size
from consentry.enforce.keptshelf import Keeping
from consentry.service.surroundings import Surroundings

_LONGEST: Final = Duration.parse("36500d")


def keeping_of(around: Surroundings) -> Keeping:
    """As the environment says; raises where it says what cannot be read."""
    environ = around.environ
    return _keeping(environ.get("CONSENTRY_KEEP", ""), environ.get("CONSENTRY_KEEP_SIZE", ""))


@lru_cache(maxsize=16)
def _keeping(span: str, size: str) -> Keeping:
    usual = Keeping()
    try:
        kept = Duration.parse(span) if span else usual.span
        if kept > _LONGEST:
            # Its end would be no date, and that is to be known before anything runs.
            raise BadInput(Code.UNIT_DURATION, f"`{span}` is longer than {_LONGEST}")
        return Keeping(
            kept,
            Size.parse(size).count if size else usual.most_bytes,
        )
    except BadInput as problem:
        name = "CONSENTRY_KEEP_SIZE" if problem.code is Code.UNIT_SIZE else "CONSENTRY_KEEP"
        raise UsageProblem(Code.SETTING_VALUE, f"{name}: {problem.message}") from None
