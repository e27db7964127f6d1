"""What of the granted roots can be read, and how each grant is held: to the letter, or rounded up.

A whole folder and a literal file are held as they are. A pattern in a root that nothing may write is
held file by file, by what it matches when the plan is made. Where something may be written the
program makes new files and puts them in the place of others, of which no rule could know; there,
and where a pattern matches too much, the literal root is open, and what was read outside of the
pattern is reported.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from consentry.base.values import dataclass
from consentry.enforce.engine import Control, Held, HeldAs
from consentry.enforce.native.planparts import Layered, Rule
from consentry.enforce.native.rights import EXECUTE, READ, READ_DIR, Handled
from consentry.enforce.native.runtime import Runtime
from consentry.enforce.patternfiles import MOST_MATCHED, Budget, Picked, is_matched, pick
from consentry.enforce.roots import Root, is_own
from consentry.enforce.violations import Truth

NOT_GRANTED: Final = "not granted"
_TOO_MUCH: Final = f"it matches more than {MOST_MATCHED:,} files, or lies in too large a tree"
_WRITABLE: Final = "it lies in a folder in which something may be written"
_IN_OWN: Final = "it lies below a folder that is the run's own"
_WRITES: Final = "its folder can be written, and what it does not match is dropped at the commit"


@dataclass(frozen=True, slots=True)
class Rounded:
    """A pattern that is held by its literal root, and why."""

    root: Root
    control: Control
    why: str

    def __str__(self) -> str:
        return f"`{self.root.pattern.text}` is held by the folder it begins with: {self.why}"

    @property
    def held(self) -> Held:
        """As it stands among the controls of a run."""
        is_read = self.control is Control.READS
        return Held(self.control, str(self), Truth.OBSERVED if is_read else Truth.KERNEL)


@dataclass(frozen=True, slots=True)
class ReadGrants:
    """The grants of a plan: roots open as they are, roots open file by file, and rounded ones.

    `programs` are files that can be read because they are to be started.
    """

    whole: tuple[Root, ...]
    picked: tuple[Picked, ...]
    rounded: tuple[Rounded, ...]
    programs: frozenset[str] = frozenset()
    around: tuple[Picked, ...] = ()
    """Whole roots with something denied in them, where nothing can cover it: what lies beside it."""

    def held_as(self, place: str) -> HeldAs | None:
        """How the grant is held by which a file could be read; None where it could not."""
        path = Path(place)
        if (
            place in self.programs
            or any(path.is_relative_to(root.path) for root in self.whole)
            or any(each.has(place) for each in (*self.picked, *self.around))
        ):
            return HeldAs.EXACT
        around = [each.root for each in self.rounded if path.is_relative_to(each.root.path)]
        if not around:
            return None
        return HeldAs.ROUNDED if any(is_matched(r, place) for r in around) else HeldAs.OUTSIDE

    def rule_against(self, place: str) -> str:
        """Why a file that is there cannot be read."""
        for each in (*self.picked, *self.around):
            if Path(place).is_relative_to(each.root.path):
                text = each.root.pattern.text
                is_new = is_matched(each.root, place)
                return f"made after `{text}` was bound" if is_new else f"outside `{text}`"
        return NOT_GRANTED

    def rules(self, handled: Handled, *, runs_any: bool) -> Iterator[Rule]:
        """The rules on what is held file by file, and on its folders, so that they can be listed."""
        rights = READ | EXECUTE if runs_any else READ
        for each in self.picked:
            yield from ((path, handled.on(rights, folder=False)) for path in sorted(each.files))
            yield from ((path, handled.on(rights, folder=True)) for path in each.folders)

    def lists(self, handled: Handled) -> Iterator[Rule]:
        """The rules by which the folders of such roots can be listed."""
        for each in self.picked:
            if each.root.is_folder:
                yield (str(each.root.path), handled.on(READ_DIR, folder=True))

    @property
    def open_roots(self) -> Iterator[Root]:
        """The roots that can be read as they are."""
        yield from self.whole
        yield from (each.root for each in self.rounded if each.control is Control.READS)

    @property
    def held(self) -> Iterator[Held]:
        """What is to be said of patterns among the controls of a run."""
        count = sum(len(each.files) + len(each.folders) for each in self.picked)
        if self.picked:
            yield Held(Control.READS, f"Landlock's rules on {count} files that patterns match")
        yield from (each.held for each in self.rounded)


def read_grants(
    reads: Iterable[Root],
    writes: Sequence[Root],
    layered: Sequence[Layered],
    runtime: Runtime,
    hidden: Sequence[str],
    programs: Iterable[Path],
) -> ReadGrants:
    """How each root is held; looks at the tree as it is now."""
    whole: list[Root] = []
    picked: list[Picked] = []
    rounded: list[Rounded] = []
    budget = Budget()
    # What may be written whole may be read whole, whatever pattern is granted besides.
    written = [root.path for root in writes if root.is_whole]
    for root in reads:
        if root.is_whole:
            whole.append(root)
        elif any(root.path.is_relative_to(path) for path in written):
            continue
        elif any(root.path.is_relative_to(layer.root.path) for layer in layered):
            rounded.append(Rounded(root, Control.READS, _WRITABLE))
        elif is_own(root.path):
            # Rules only add up: the one on the folder above opens all that is mounted in it.
            rounded.append(Rounded(root, Control.READS, _IN_OWN))
        elif not any(root.path.is_relative_to(each) for each in runtime.roots):
            found = pick(root, hidden, budget)
            if found is None:
                rounded.append(Rounded(root, Control.READS, _TOO_MUCH))
                budget = Budget()
            else:
                picked.append(found)
    for root in writes:
        if root.is_whole:
            whole.append(root)
        else:
            rounded.append(Rounded(root, Control.WRITES, _WRITES))
    return ReadGrants(tuple(whole), tuple(picked), tuple(rounded), frozenset(map(str, programs)))
