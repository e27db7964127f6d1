"""What a run may write, bound to the host's tree: grants and denials as absolute patterns.

A pattern is bound before the run, when its folder is what the person saw: links in its literal names
are resolved then, and it holds under both spellings. A plain name that is a folder, or is nothing
yet, means all below it, too. Patterns for the run's own folders (`/tmp` and its kin) never reach the
host, even where the workspace itself lies in such a place.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from consentry.base.errors import BadInput
from consentry.base.values import dataclass, replace
from consentry.enforce.roots import is_own, place_of
from consentry.surface.automaton import AllOf, matches
from consentry.surface.pattern import Anchor, Pattern, Wildcard
from consentry.surface.patterns import PatternScope

_ROOT: Final = Pattern.parse("/.")


@dataclass(frozen=True, slots=True)
class WriteRules:
    """Absolute patterns: what may be written, which of that was named, and what never may be.

    `named` are grants as a person or a profile spelled them. They open nothing beyond `allowed`,
    but a scope forgets a name that a wider entry covers, and a name is what lifts a row of the
    table of obeyed names.
    """

    allowed: tuple[AllOf, ...]
    named: tuple[Pattern, ...]
    denied: tuple[Pattern, ...]
    workspace: tuple[str, ...]
    engine: str = "native"

    @classmethod
    def bound(
        cls,
        scope: PatternScope,
        *,
        workspace: Path,
        home: Path | None = None,
        named: Iterable[Pattern] = (),
        denied: Iterable[Pattern] = (),
        engine: str = "native",
    ) -> "WriteRules":
        """Binds them to the tree as it is now; to be called before the run."""
        real = Path(os.path.realpath(workspace))
        allowed: list[AllOf] = []
        for entry in scope.entries:
            if any(_is_own(pattern, real, home) for pattern in entry):
                continue
            spelled = [_spellings(pattern, real, home) for pattern in entry]
            if all(spelled):
                allowed += zip(*spelled, strict=True)
        spelled_out = [each for entry in allowed for each in entry]
        for pattern in named:
            if not _is_own(pattern, real, home):
                spelled_out += _spellings(pattern, real, home)
        refused = [each for pattern in denied for each in _spellings(pattern, real, home)]
        return cls(
            tuple(dict.fromkeys(allowed)),
            tuple(dict.fromkeys(spelled_out)),
            tuple(dict.fromkeys(map(_as_tree, refused))),
            names_of(real),
            engine,
        )

    def with_opened(self, paths: Iterable[str]) -> "WriteRules":
        """With what a person opened while the run waited: each path, and nothing below it.

        None of them is named: a name that other programs obey is obeyed only where a grant spells
        it out before the run.
        """
        opened = [(_ROOT.with_segments(names_of(Path(path))),) for path in paths]
        return replace(self, allowed=tuple(dict.fromkeys((*self.allowed, *opened))))

    def is_allowed(self, names: tuple[str, ...]) -> bool:
        """Whether a path of the host may be written, as far as the grants go."""
        return any(all(_is_matched(each, names) for each in entry) for entry in self.allowed)

    def is_named(self, names: tuple[str, ...], end: int) -> bool:
        """Whether a grant that matches the path spells out its first `end` names."""
        return any(
            each.prefix[:end] == names[:end] and _is_matched(each, names) for each in self.named
        )

    def denial(self, names: tuple[str, ...]) -> Pattern | None:
        """The denial that a path falls under."""
        return next((each for each in self.denied if _is_matched(each, names, unsure=True)), None)


def names_of(path: Path) -> tuple[str, ...]:
    """The names of an absolute path."""
    return tuple(part for part in path.parts if part != "/")


def _is_own(pattern: Pattern, workspace: Path, home: Path | None) -> bool:
    place = place_of(pattern, workspace, home)
    return pattern.anchor is not Anchor.WORKSPACE and place is not None and is_own(place)


def _spellings(pattern: Pattern, workspace: Path, home: Path | None) -> Sequence[Pattern]:
    """The pattern as absolute ones: as it is spelled, and with its links resolved."""
    place = place_of(pattern, workspace, home)
    if place is None:
        return ()
    real = Path(os.path.realpath(place))
    means_tree = pattern.is_literal and (real.is_dir() or not os.path.lexists(real))
    rest = (Wildcard.FOLDERS,) if means_tree else pattern.segments[len(pattern.prefix) :]
    return [_ROOT.with_segments((*names_of(each), *rest)) for each in (place, real)]


def _as_tree(pattern: Pattern) -> Pattern:
    if pattern.segments and pattern.segments[-1] is Wildcard.FOLDERS:
        return pattern
    return pattern.with_segments((*pattern.segments, Wildcard.FOLDERS))


def _is_matched(pattern: Pattern, names: tuple[str, ...], *, unsure: bool = False) -> bool:
    """Whether a pattern matches; `unsure` is the answer where that is too entangled to decide."""
    if names[: len(pattern.prefix)] != pattern.prefix:
        return False
    if pattern.is_tree:
        return True
    if pattern.is_literal:
        return len(names) == len(pattern.prefix)
    try:
        return matches(pattern, names)
    except BadInput:
        return unsure
