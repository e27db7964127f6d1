"""A wish that allows what today's code can do: to be read, filled in and narrowed by a person.

Every entry says where its power comes from. What a wish should not allow without somebody meaning it
(absolute and protected paths), and what none can (code that is made at run time, files that nobody
can classify), stands in remarks. The same code gives the same text.

Not promised: that the guard lets the same code pass. It does where there are no such remarks.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from consentry.base.safetext import safe_line
from consentry.base.values import dataclass
from consentry.declare.documentids import MOST_LETTERS
from consentry.declare.surfaceblock import KEYS_OF_ALLOWLISTS
from consentry.declare.yamltext import yaml_text
from consentry.examine.allowance import FILES
from consentry.examine.atoms import ANYTHING, NAMELESS, OPERATIONS, Atom
from consentry.examine.extracted import surface_of
from consentry.examine.sides import Sited
from consentry.service.surfaces import Examined
from consentry.surface.dimensions import Dimension, Level, LoadLevel
from consentry.surface.lattice import Surface, spellings, standing
from consentry.surface.pattern import ABSOLUTE_PATH_MARK
from consentry.surface.wire import ALLOWLISTS

SCOPE: Final = "say what the change is to do"
NON_GOALS: Final = "say what it is not to do"
MOST_REMARKS: Final = 20
_LONGEST: Final = 120
_OUTSIDE: Final = ("/", "~", ABSOLUTE_PATH_MARK)
_NO_LETTERS: Final = re.compile(r"[^a-z0-9]+")
_HALF: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class WishDraft:
    """The text, and whether it leaves out something that the code does."""

    text: str
    left_out: int
    """How many powers and doubts stand in remarks only."""


def wish_id(name: str) -> str:
    """An id for the wish of code with that name."""
    word = _NO_LETTERS.sub("-", name.lower()).strip("-")[: MOST_LETTERS - 8].strip("-")
    return f"wish-{word or 'code'}"


def is_wish_id(text: str) -> bool:
    """Whether a wish may be called that."""
    return 0 < len(text) <= MOST_LETTERS and text.isprintable() and text == text.strip()


def draft_wish(examined: Examined, identity: str) -> WishDraft:
    """The wish that allows what the code can do."""
    draft = _Draft(examined)
    lines = [
        _remark(f"What the code can do today: {examined.described}."),
        "# Fill in scope and non_goals, and take out what it should not be able to do.",
        'wish_ir_version: "1"',
        f"id: {_scalar(identity)}",
        f"scope: [{_scalar(SCOPE)}]",
        f"non_goals: [{_scalar(NON_GOALS)}]",
        "allowed_capabilities:",
        *draft.block(),
        *draft.doubts(),
    ]
    return WishDraft("\n".join(lines) + "\n", draft.left_out)


class _Draft:
    """The block that is being written."""

    def __init__(self, examined: Examined) -> None:
        self._examined = examined
        self._places: dict[Atom, list[Sited]] = {}
        for each in examined.side.found:
            self._places.setdefault(each.found.atom, []).append(each)
        self._inside = [atom for atom in self._places if not _is_outside(atom) and _is_text(atom)]
        self._surface: Surface = surface_of(self._inside)
        self.left_out = 0

    def block(self) -> Iterator[str]:
        """The fields, all of them."""
        for dimension in Dimension:
            if dimension in FILES:
                yield from self._roots(dimension)
            elif dimension is Dimension.TOOL_CLASSES:
                yield from self._set(dimension)
            elif dimension is Dimension.DYNAMIC_CODE_LOAD:
                yield from self._loading()
            else:
                yield from self._level(dimension)
        yield from self._lists()

    def doubts(self) -> Iterator[str]:
        """What nobody can classify."""
        doubts = self._examined.side.doubts
        self.left_out += len(doubts)
        if doubts:
            yield "# No wish allows what cannot be told; as long as it is new, the answer is UNKNOWN:"
        said = [f"{each.file}:{each.about.line}: {each.about.reason}" for each in doubts]
        yield from _remarks(said, "")
        unwritable = [
            f"{each.found.atom.dimension.key}: {_said(each)}"
            for each in self._examined.side.found
            if not _is_text(each.found.atom)
        ]
        self.left_out += len(unwritable)
        if unwritable:
            yield "# What these name is no text, and can be named in no wish:"
        yield from _remarks(unwritable, "")

    def _roots(self, dimension: Dimension) -> Iterator[str]:
        yield from self._set(dimension)
        outside = sorted(
            atom.target for atom in self._of(dimension) if _is_outside(atom) and _is_text(atom)
        )
        if len(outside) > 1 and ABSOLUTE_PATH_MARK in outside:
            # It goes with the paths that it was found with.
            outside.remove(ABSOLUTE_PATH_MARK)
        self.left_out += len(outside)
        if outside:
            yield "  # not allowed by this; name the very path yourself if you mean it:"
        yield from _remarks([f"{each} ({self._where(dimension, each)})" for each in outside], "  ")

    def _set(self, dimension: Dimension) -> Iterator[str]:
        entries = spellings(self._surface[dimension])
        yield f"  {dimension.key}:" if entries else f"  {dimension.key}: []"
        for entry in entries:
            yield self._entry("    ", dimension, entry)

    def _level(self, dimension: Dimension) -> Iterator[str]:
        level = str(standing(self._surface[dimension]))
        target = {Level.ANY.value: ANYTHING, Level.ALLOWLIST.value: NAMELESS}.get(level)
        place = "" if target is None else self._place(dimension, target)
        yield f"  {dimension.key}: {level}{place}"

    def _loading(self) -> Iterator[str]:
        dimension = Dimension.DYNAMIC_CODE_LOAD
        limited = self._found(dimension, LoadLevel.LIMITED.value)
        level = LoadLevel.LIMITED.value if limited else LoadLevel.NONE.value
        yield f"  {dimension.key}: {level}{self._place(dimension, level)}"
        made = self._found(dimension, LoadLevel.ANY.value)
        self.left_out += len(made)
        if made:
            yield "  # ANY was found and cannot be allowed: the guard blocks code that is made at run time:"
        yield from _remarks([_said(each) for each in made], "  ")

    def _lists(self) -> Iterator[str]:
        listed = [
            dimension
            for dimension in Dimension
            if dimension.key in KEYS_OF_ALLOWLISTS
            and standing(self._surface[dimension]) == Level.ALLOWLIST.value
        ]
        if listed:
            yield f"  {ALLOWLISTS}:"
        for dimension in listed:
            entries = spellings(self._surface[dimension])
            # A list that is empty allows less than none.
            yield f"    {dimension.key}:" if entries else f"    {dimension.key}: []"
            for entry in entries:
                yield self._entry("      ", dimension, entry)

    def _entry(self, indent: str, dimension: Dimension, target: str) -> str:
        return f"{indent}- {_scalar(target)}{self._place(dimension, target)}"

    def _place(self, dimension: Dimension, target: str) -> str:
        """Where a power comes from, as a remark behind it; empty where no line gives it as it is."""
        where = self._where(dimension, target)
        return f"  {_remark(where)}" if where else ""

    def _where(self, dimension: Dimension, target: str) -> str:
        found = self._found(dimension, target)
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        return _said(found[0]) + more if found else ""

    def _found(self, dimension: Dimension, target: str) -> list[Sited]:
        return self._places.get(Atom(dimension, OPERATIONS[dimension], target), [])

    def _of(self, dimension: Dimension) -> list[Atom]:
        return [atom for atom in self._places if atom.dimension is dimension]


def _is_outside(atom: Atom) -> bool:
    """Whether it is a path out of the workspace, which somebody has to name."""
    return atom.dimension in FILES and atom.target.startswith(_OUTSIDE)


def _is_text(atom: Atom) -> bool:
    """Whether a document can name it."""
    return _HALF.search(atom.target) is None


def _said(each: Sited) -> str:
    return f"{each.file}:{each.found.line}: {each.found.reason}"


def _remarks(said: Sequence[str], indent: str) -> Iterator[str]:
    for each in said[:MOST_REMARKS]:
        yield f"{indent}{_remark(f'  {each}')}"
    if len(said) > MOST_REMARKS:
        yield f"{indent}#   and {len(said) - MOST_REMARKS} more"


def _remark(text: str) -> str:
    """A remark of one line, whatever is in it."""
    margin = len(text) - len(text.lstrip(" "))
    return f"# {' ' * margin}{safe_line(text.strip(' '), limit=_LONGEST)}"


def _scalar(text: str) -> str:
    return yaml_text(text).rstrip("\n")
