"""Paths in documents: how they are written, where they stand, and which are never granted.

An entry keeps its place, so that whoever later finds that the path is a link, or is not there, can
still name file and line. Nothing here looks at the disk.
"""

import re
from collections.abc import Iterable

from consentry.base.codes import Code
from consentry.base.errors import BadInput, Where
from consentry.base.values import dataclass, field
from consentry.declare.values import Value
from consentry.surface.automaton import Work
from consentry.surface.pattern import Anchor, Pattern, Wildcard
from consentry.surface.protected import ProtectedRoot, ProtectedRoots

WORKSPACE_VARIABLE = "${WORKSPACE}"

# Comparing with every protected root costs a path some hundredths of a second, a pattern up to one;
# a document gets only so many.
_MOST_OUTSIDE = 200
_MOST_WILD = 16
_MOST_WILD_LETTERS = 200
_VARIABLE = re.compile(r"\$[A-Za-z_{]")
_ONLY_VARIABLE = f"only `{WORKSPACE_VARIABLE}` is replaced, at the start; write the path itself"


@dataclass(frozen=True, slots=True)
class PathEntry:
    """A path or pattern of a document; entries are equal when their patterns are."""

    pattern: Pattern
    written: str = field(compare=False)
    where: Where = field(compare=False)

    @property
    def root(self) -> Pattern:
        """What it opens: of a path without wildcards, all below as well."""
        return self.tree if self.pattern.is_literal else self.pattern

    @property
    def tree(self) -> Pattern:
        """It and all below, also where it has wildcards: what it closes."""
        segments = self.pattern.segments
        if segments and segments[-1] is Wildcard.FOLDERS:
            return self.pattern
        return self.pattern.with_segments((*segments, Wildcard.FOLDERS))

    @property
    def is_whole_folder(self) -> bool:
        """Whether it is a path without wildcards, or a folder with all below."""
        return self.pattern.is_literal or self.pattern.is_tree


def profile_path(value: Value) -> PathEntry | None:
    """A path of a profile: absolute, or in the workspace behind `${WORKSPACE}`."""
    pattern = value.parsed(_profile_pattern)
    return None if pattern is None else PathEntry(pattern, value.text() or "", value.where)


def _profile_pattern(text: str) -> Pattern:
    in_workspace = text == WORKSPACE_VARIABLE or text.startswith(f"{WORKSPACE_VARIABLE}/")
    rest = text.removeprefix(WORKSPACE_VARIABLE) if in_workspace else text
    if _VARIABLE.search(rest):
        raise _unusable(f"`{text}` has a variable in it", _ONLY_VARIABLE)
    if in_workspace:
        return _parsed_as(f".{rest or '/'}", text)
    if text.startswith("~"):
        raise _unusable(
            f"`{text}` begins with a home, which is another one in a run",
            "write the absolute path; what is yours is granted by its own name",
        )
    if not text.startswith("/"):
        raise _unusable(
            f"`{text}` is not absolute",
            f"write `{WORKSPACE_VARIABLE}/{text}` for a path in the workspace",
        )
    return Pattern.parse(text)


def _parsed_as(spelling: str, written: str) -> Pattern:
    """The pattern of `spelling`; an error quotes what was written instead."""
    try:
        return Pattern.parse(spelling)
    except BadInput as problem:
        message = problem.message.replace(f"`{spelling}`", f"`{written}`")
        raise BadInput(problem.code, message, help_line=problem.help_line) from None


def _unusable(message: str, help_line: str) -> BadInput:
    return BadInput(Code.SURFACE_PATTERN, message, help_line=help_line)


def charge(patterns: Iterable[Pattern], work: Work) -> None:
    """Pays ahead for comparing patterns with each other; only those with wildcards cost something.

    The lattice bounds each of its operations by itself. A document has many, and this bounds them
    together.
    """
    letters = sum(len(each.text) for each in patterns if not (each.is_literal or each.is_tree))
    work.spend(letters * letters // 64)


def is_provided(entry: PathEntry, roots: ProtectedRoots) -> bool:
    """Whether an engine provides this path by itself, read-only, as part of the runtime."""
    if entry.pattern.anchor is not Anchor.ABSOLUTE or not entry.is_whole_folder:
        return False
    return roots.exception_for(entry.root) is not None


class GrantCheck:
    """Refuses, for one document, paths that lie in a place that is never granted."""

    def __init__(self, roots: ProtectedRoots) -> None:
        self._roots = roots
        self._known: dict[str, ProtectedRoot | None] = {}
        self._wild = 0
        self._is_given_up = False

    def check(self, value: Value, entry: PathEntry) -> None:
        """Notes what forbids that this entry is granted, if something does."""
        if entry.pattern.anchor is Anchor.WORKSPACE or self._is_given_up:
            return
        row = self._row_over(value, entry)
        if row is not None:
            message = (
                f"`{entry.written}` lies in `{row.pattern}`, which is never granted: {row.why}"
            )
            value.refuse(message, Code.PROTECTED_ROOT.remedy, Code.PROTECTED_ROOT)

    def is_provided(self, entry: PathEntry) -> bool:
        """Whether an engine provides it by itself, so that it need not be granted."""
        return is_provided(entry, self._roots)

    def _row_over(self, value: Value, entry: PathEntry) -> ProtectedRoot | None:
        """The row that contains the entry; each path is looked up once, and so many and no more."""
        text = entry.root.text
        if text not in self._known:
            self._known[text] = None
            try:
                self._pay_for(entry)
                self._known[text] = self._roots.over(entry.root)
            except BadInput as problem:
                # The document is refused, whatever follows.
                self._is_given_up = True
                value.refuse_for(problem)
        return self._known[text]

    def _pay_for(self, entry: PathEntry) -> None:
        if len(self._known) > _MOST_OUTSIDE:
            raise _too_much(f"more than {_MOST_OUTSIDE} paths lie outside the workspace")
        if entry.is_whole_folder:
            return
        self._wild += 1
        if self._wild > _MOST_WILD:
            raise _too_much(
                f"more than {_MOST_WILD} of the paths with wildcards lie outside the workspace"
            )
        if len(entry.pattern.text) > _MOST_WILD_LETTERS:
            raise _too_much(f"a path with wildcards has more than {_MOST_WILD_LETTERS} characters")


def _too_much(message: str) -> BadInput:
    help_line = "name folders that contain them, without wildcards"
    return BadInput(Code.SURFACE_TOO_COMPLEX, message, help_line=help_line)
