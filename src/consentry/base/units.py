"""Sizes and durations as people write them in documents, and back.

    512MB  64K  1G          sizes; K, M, G, T with or without B are powers of 1024
    60s  500ms  30d  1hour  durations; 1day, 2weeks, 15min too

Laws: `parse(str(x)) == x` for every value; `str(x)` uses the largest unit that divides exactly.
Size units are read in any case, units of time in lower case only, so that `30M` is never minutes.
Whole numbers only, but for durations in seconds or milliseconds, where CPU time needs `0.04s`. A number without
a unit is refused here: the document that allows one says which unit it means, and constructs the
value itself.
"""

import re

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass

_NUMBER_AND_UNIT = re.compile(r"(\d{1,20})(?:\.(\d{1,3}))? ?([A-Za-z]+)", re.ASCII)

_SIZE_UNITS = {"T": 1024**4, "G": 1024**3, "M": 1024**2, "K": 1024, "B": 1}
_SIZE_SPELLINGS = {**_SIZE_UNITS, **{f"{unit}B": of for unit, of in _SIZE_UNITS.items() if of > 1}}

_DURATION_UNITS = {"d": 86_400_000, "h": 3_600_000, "min": 60_000, "s": 1000, "ms": 1}
_DURATION_SPELLINGS = {
    **_DURATION_UNITS,
    **dict.fromkeys(("w", "week", "weeks"), 7 * 86_400_000),
    **dict.fromkeys(("day", "days"), 86_400_000),
    **dict.fromkeys(("hour", "hours"), 3_600_000),
    **dict.fromkeys(("m", "minute", "minutes"), 60_000),
    **dict.fromkeys(("sec", "second", "seconds"), 1000),
}


@dataclass(frozen=True, slots=True, order=True)
class Size:
    """An amount of memory or disk, in bytes."""

    count: int

    def __post_init__(self) -> None:
        if self.count < 0:
            raise BadInput(Code.UNIT_SIZE, f"a size cannot be negative: `{self.count}`")

    @classmethod
    def parse(cls, text: str) -> "Size":
        """Reads `512MB`, `64K`, `1G`, `100 B`."""
        found = _NUMBER_AND_UNIT.fullmatch(text)
        unit = _SIZE_SPELLINGS.get(found[3].upper()) if found else None
        if found is None or unit is None or found[2] is not None:
            raise BadInput(Code.UNIT_SIZE, f"`{text}` is not a size")
        return cls(int(found[1]) * unit)

    def __str__(self) -> str:
        """The largest unit that divides exactly: `512MB`, `1GB`, `1000B`."""
        for unit, worth in _SIZE_UNITS.items():
            if self.count >= worth and self.count % worth == 0:
                return f"{self.count // worth}{unit}{'' if worth == 1 else 'B'}"
        return "0B"


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A span of time, in milliseconds."""

    milliseconds: int

    def __post_init__(self) -> None:
        if self.milliseconds < 0:
            raise BadInput(
                Code.UNIT_DURATION, f"a duration cannot be negative: `{self.milliseconds}ms`"
            )

    @classmethod
    def parse(cls, text: str) -> "Duration":
        """Reads `60s`, `30d`, `1hour`, `0.04s`."""
        found = _NUMBER_AND_UNIT.fullmatch(text)
        unit = _DURATION_SPELLINGS.get(found[3]) if found else None
        if found is None or unit is None:
            raise BadInput(Code.UNIT_DURATION, f"`{text}` is not a duration")
        whole, fraction = int(found[1]), found[2]
        thousandths = whole * 1000 + int((fraction or "").ljust(3, "0"))
        milliseconds, rest = divmod(thousandths * unit, 1000)
        if rest or (fraction is not None and unit > _DURATION_UNITS["s"]):
            raise BadInput(
                Code.UNIT_DURATION, f"`{text}` is not a whole number of milliseconds or units"
            )
        return cls(milliseconds)

    def __str__(self) -> str:
        """The largest unit that divides exactly (`30d`, `90s`), else seconds: `0.04s`."""
        for unit, worth in _DURATION_UNITS.items():
            if worth > 1 and self.milliseconds >= worth and self.milliseconds % worth == 0:
                return f"{self.milliseconds // worth}{unit}"
        return self.in_seconds()

    def in_seconds(self) -> str:
        """Always in seconds, as CPU time is reported: `32s`, `0.04s`."""
        whole, ms = divmod(self.milliseconds, 1000)
        return f"{whole}.{ms:03}".rstrip("0").rstrip(".") + "s"
