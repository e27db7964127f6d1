"""How long effects are kept, and how much of them, as the settings say."""

from functools import lru_cache

from consentry.base.codes import Code
from consentry.base.errors import BadInput, UsageProblem
from consentry.base.units import Duration, Size
from consentry.enforce.keptshelf import Keeping
from consentry.service.surroundings import Surroundings


def keeping_of(around: Surroundings) -> Keeping:
    """As the environment says; raises where it says what cannot be read."""
    environ = around.environ
    return _keeping(environ.get("CONSENTRY_KEEP", ""), environ.get("CONSENTRY_KEEP_SIZE", ""))


@lru_cache(maxsize=16)
def _keeping(span: str, size: str) -> Keeping:
    usual = Keeping()
    try:
        return Keeping(
            Duration.parse(span) if span else usual.span,
            Size.parse(size).count if size else usual.most_bytes,
        )
    except BadInput as problem:
        name = "CONSENTRY_KEEP_SIZE" if problem.code is Code.UNIT_SIZE else "CONSENTRY_KEEP"
        raise UsageProblem(Code.SETTING_VALUE, f"{name}: {problem.message}") from None
