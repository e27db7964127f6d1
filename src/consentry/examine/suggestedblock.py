"""The block `allowed_capabilities` that would let a change pass, as far as any wish could.

It is what the wish says already, and beyond that exactly what was gained and not allowed: no wildcard,
no parent of a path, no level above the one that was found. Every entry is written in ASCII between
double quotes, so that a target can neither leave its place in the block nor look like another one.

Nothing here says that the change should pass. What no wish can allow is named apart.
"""

from collections.abc import Iterable
from typing import Final

from consentry.base.values import dataclass, field
from consentry.declare.wish import AllowedCapabilities
from consentry.examine.allowance import FILES, protected_steps, refused_steps
from consentry.examine.atoms import ANYTHING, NAMELESS
from consentry.examine.delta import Delta, Step
from consentry.surface.dimensions import Dimension, Level, LoadLevel
from consentry.surface.pattern import ABSOLUTE_PATH_MARK

_LISTED: Final = (
    Dimension.NET_ACCESS,
    Dimension.PROC_EXEC,
    Dimension.ENV_READ,
    Dimension.CRYPTO_PRIMITIVES,
)
_SETS: Final = (*FILES, Dimension.TOOL_CLASSES)
_LEAVES: Final = ("/", "~")


@dataclass(frozen=True, slots=True)
class SuggestedBlock:
    """The lines of the block, none where nothing could be allowed; and what a person should see."""

    lines: tuple[str, ...] = ()
    protected: tuple[Step, ...] = ()
    """Steps in the block that reach under a protected root."""
    never: tuple[Step, ...] = ()
    """Steps that no wish can allow."""


@dataclass(frozen=True, slots=True)
class _Fields:
    """A block that grows; `levels` and `sets` have only what is said."""

    sets: dict[Dimension, list[str]] = field(default_factory=dict)
    levels: dict[Dimension, str] = field(default_factory=dict)
    lists: dict[Dimension, list[str]] = field(default_factory=dict)


def suggested_block(delta: Delta, allowed: AllowedCapabilities | None) -> SuggestedBlock:
    """What a wish would have to say to allow what was gained."""
    refused = delta.gained if allowed is None else refused_steps(delta, allowed)
    never = tuple(step for step in refused if not _is_allowable(step))
    wanted = [step for step in refused if step not in never]
    if not wanted:
        return SuggestedBlock(never=never)
    fields = _said(allowed)
    for dimension in Dimension:
        steps = [step for step in wanted if step.atom.dimension is dimension]
        if steps:
            _add(fields, dimension, steps, delta)
    listed = {step.atom for step in wanted}
    protected = tuple(each for each in protected_steps(delta, allowed) if each.atom in listed)
    return SuggestedBlock(tuple(_lines(fields)), protected, never)


def _is_allowable(step: Step) -> bool:
    if step.atom.dimension is Dimension.DYNAMIC_CODE_LOAD:
        return step.atom.target == LoadLevel.LIMITED.value
    # Half of a surrogate pair, or a byte that is no text, cannot be written into any document.
    return not any("\ud800" <= letter <= "\udfff" for letter in step.atom.target)


def _said(allowed: AllowedCapabilities | None) -> _Fields:
    """What the wish says already."""
    fields = _Fields()
    if allowed is None:
        return fields
    for dimension in Dimension:
        if dimension.key not in allowed.said:
            continue
        found = getattr(allowed, dimension.key)
        if dimension in FILES:
            fields.sets[dimension] = [entry.pattern.text for entry in found]
        elif dimension is Dimension.TOOL_CLASSES:
            fields.sets[dimension] = list(found)
        else:
            fields.levels[dimension] = found.value
            if dimension.key in allowed.allowlists:
                fields.lists[dimension] = list(allowed.allowlists[dimension.key])
    return fields


def _add(fields: _Fields, dimension: Dimension, steps: list[Step], delta: Delta) -> None:
    targets = [step.atom.target for step in steps]
    if dimension in _SETS:
        fields.sets[dimension] = _joined(fields.sets.get(dimension, ()), _named(targets))
    elif dimension is Dimension.DYNAMIC_CODE_LOAD:
        fields.levels[dimension] = LoadLevel.LIMITED.value
    elif ANYTHING in targets:
        fields.levels[dimension] = Level.ANY.value
        fields.lists.pop(dimension, None)
    else:
        fields.levels[dimension] = Level.ALLOWLIST.value
        # A list narrows what the level alone allowed, so that it has to name all that was gained.
        gained = [each.atom.target for each in delta.gained if each.atom.dimension is dimension]
        named = [each for each in gained if each != NAMELESS]
        if named:
            fields.lists[dimension] = _joined(fields.lists.get(dimension, ()), named)


def _named(targets: list[str]) -> list[str]:
    """The mark for absolute paths goes without saying where the paths are named."""
    if any(target.startswith(_LEAVES) for target in targets):
        return [target for target in targets if target != ABSOLUTE_PATH_MARK]
    return targets


def _joined(first: Iterable[str], second: Iterable[str]) -> list[str]:
    return list(dict.fromkeys((*first, *second)))


def _lines(fields: _Fields) -> Iterable[str]:
    yield "allowed_capabilities:"
    for dimension in Dimension:
        if dimension in fields.sets:
            yield f"  {dimension.key}: {_flow(fields.sets[dimension])}"
        elif dimension in fields.levels:
            yield f"  {dimension.key}: {fields.levels[dimension]}"
    lists = [each for each in _LISTED if each in fields.lists]
    if lists:
        yield "  allowlists:"
    for dimension in lists:
        yield f"    {dimension.key}: {_flow(fields.lists[dimension])}"


def _flow(entries: list[str]) -> str:
    return f"[{', '.join(_quoted(entry) for entry in entries)}]"


def _quoted(text: str) -> str:
    """A text as YAML has it in double quotes, every letter beyond ASCII as an escape."""
    return f'"{"".join(map(_letter, text))}"'


def _letter(letter: str) -> str:
    if letter in ('"', "\\"):
        return f"\\{letter}"
    if " " <= letter <= "~":
        return letter
    number = ord(letter)
    return f"\\u{number:04x}" if number < 1 << 16 else f"\\U{number:08x}"
