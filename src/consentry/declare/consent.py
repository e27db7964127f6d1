"""What a consent configuration says, as values: levels, what each asks for, preferences (CONSENT §config).

What is left out of a level is what the level means by its name: `none` asks for nothing, `implicit`
tells, `explicit` shows and asks, `strict` does all of it and records a reason. `said` keeps the names
of the keys that a document wrote down, so that one put on top of another changes only what it names.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from consentry.base.errors import Where
from consentry.base.units import Duration
from consentry.base.values import dataclass, field
from consentry.declare.tool import ConsentLevel

CONSENT_VERSION: Final = "1.0.0"


class DefaultPolicy(StrEnum):
    """What becomes of a tool that no level names."""

    REQUIRE_EXPLICIT = "require_explicit"
    REQUIRE_STRICT = "require_strict"
    DENY = "deny"

    @property
    def level(self) -> ConsentLevel | None:
        """The level such a tool gets; None where it gets none and is refused."""
        return _DEFAULT_LEVELS[self]


_DEFAULT_LEVELS: Final[Mapping[DefaultPolicy, ConsentLevel | None]] = {
    DefaultPolicy.REQUIRE_EXPLICIT: ConsentLevel.EXPLICIT,
    DefaultPolicy.REQUIRE_STRICT: ConsentLevel.STRICT,
    DefaultPolicy.DENY: None,
}


class RememberDuration(StrEnum):
    """How long a remembered yes lasts."""

    SESSION = "session"
    PERMANENT = "permanent"
    HOUR = "1hour"
    DAY = "1day"

    @property
    def span(self) -> Duration | None:
        """The time it lasts, where it is a time."""
        return _SPANS.get(self)


_HOUR_MS: Final = 3_600_000
_SPANS: Final[Mapping[RememberDuration, Duration]] = {
    RememberDuration.HOUR: Duration(_HOUR_MS),
    RememberDuration.DAY: Duration(24 * _HOUR_MS),
}


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool that a level names, and the line that does."""

    name: str
    where: Where = field(compare=False)


@dataclass(frozen=True, slots=True)
class LevelRules:
    """What one level does before a run: tells, shows, analyses, asks, and wants a reason."""

    level: ConsentLevel
    description: str = ""
    allowed_tools: tuple[ListedTool, ...] = ()
    notification: bool = False
    confirmation_required: bool = False
    show_preview: bool = False
    show_impact_analysis: bool = False
    record_reason: bool = False
    said: frozenset[str] = field(default=frozenset(), compare=False)

    @classmethod
    def usual(cls, level: ConsentLevel) -> "LevelRules":
        """What the level means where nothing else is said."""
        asks = level.rank >= ConsentLevel.EXPLICIT.rank
        is_strict = level is ConsentLevel.STRICT
        return cls(
            level,
            notification=level is ConsentLevel.IMPLICIT,
            confirmation_required=asks,
            show_preview=asks,
            show_impact_analysis=is_strict,
            record_reason=is_strict,
        )


def usual_levels() -> Mapping[ConsentLevel, LevelRules]:
    """All four, as they are where nothing else is said."""
    return MappingProxyType({level: LevelRules.usual(level) for level in ConsentLevel})


@dataclass(frozen=True, slots=True)
class Preferences:
    """How answers are remembered, and whether several questions may be answered at once."""

    remember_choices: bool = True
    remember_duration: RememberDuration = RememberDuration.SESSION
    allow_batch_approval: bool = False
    said: frozenset[str] = field(default=frozenset(), compare=False)


@dataclass(frozen=True, slots=True)
class ConsentConfig:
    """The whole document; `levels` always has all four."""

    version: str = CONSENT_VERSION
    default_policy: DefaultPolicy = DefaultPolicy.REQUIRE_EXPLICIT
    levels: Mapping[ConsentLevel, LevelRules] = field(default_factory=usual_levels)
    preferences: Preferences = Preferences()
    said: frozenset[str] = field(default=frozenset(), compare=False)
