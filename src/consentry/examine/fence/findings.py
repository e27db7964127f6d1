"""What the fence reports, by which rule, and where it looks away.

A rule has a stable name, which is what reports, SARIF and comments use. A `FenceScope` says whose
source it is: our own has homes, where tokens are made, and tests, which make them on purpose; a
stranger's has neither, and no comment of his counts.

The fence is audit + lint. It finds what is written down, and `docs/explanation/capability-fence.md`
lists what it cannot see.
"""

from enum import StrEnum
from typing import Final

from consentry.base.values import dataclass


class Rule(StrEnum):
    """What is reported."""

    MADE = "token-made"
    COPIED = "token-copied"
    SUBCLASS = "token-subclass"
    HANDED_ON = "token-handed-on"
    RENAMED = "token-renamed"
    BY_NAME = "token-by-name"
    PUSH = "command-pushes"
    RACE = "race-unhandled"
    UNREADABLE = "unreadable"

    @property
    def heading(self) -> str:
        """In a few words."""
        return _TEXTS[self][0]

    @property
    def help_line(self) -> str:
        """What to do about it."""
        return _TEXTS[self][1]


_TEXTS: Final[dict[Rule, tuple[str, str]]] = {
    Rule.MADE: (
        "A token is made outside its home",
        "ask `mint()` for a token; permits are made by the store that keeps them",
    ),
    Rule.COPIED: (
        "A token is copied, changed or restored",
        "pass the token on as it is, and ask `mint()` for another one",
    ),
    Rule.SUBCLASS: (
        "A class is derived from a token's",
        "hold the token in a field instead of deriving from its class",
    ),
    Rule.HANDED_ON: (
        "A token's class is handed on as a value",
        "name the class only in annotations, `isinstance` and `case`",
    ),
    Rule.RENAMED: (
        "A token's class gets another name",
        "import it under its own name, so that every use can be found",
    ),
    Rule.BY_NAME: (
        "A token's class is fetched by its name",
        "import the class where its type is needed",
    ),
    Rule.PUSH: (
        "A command pushes",
        "leave the push to a person: there is no token for it",
    ),
    Rule.RACE: (
        "Nobody handles the race of a jailed path",
        (
            "enclose the call in `try … except FilesystemRace`, in its function or in every caller of a "
            "private one, or take `on_race` as a parameter and pass it on"
        ),
    ),
    Rule.UNREADABLE: (
        "The file cannot be read",
        "make it Python that this version reads, or move it out of the folder",
    ),
}

HUSHABLE: Final = frozenset({Rule.PUSH, Rule.RACE})
"""Rules that a comment with a reason can answer, in our own source; a token's never."""


class Family(StrEnum):
    """Which kind of thing may be made in a home."""

    TOKEN = "token"  # noqa: S105 - a word
    PERMIT = "permit"


@dataclass(frozen=True, slots=True)
class FenceScope:
    """Whose source it is. Paths are those that `check_source` is given, with `/` between names."""

    homes: tuple[tuple[str, Family], ...] = ()
    """Files that may make things of a family."""
    tests: tuple[str, ...] = ()
    """Folders, with a `/` at the end, where only what cannot be read is reported."""
    heeds_comments: bool = False

    def families_at(self, path: str) -> frozenset[Family]:
        """What may be made in that file."""
        return frozenset(family for home, family in self.homes if home == path)

    def is_test(self, path: str) -> bool:
        """Whether the file lies in a folder of tests."""
        return path.startswith(self.tests) if self.tests else False


STRANGERS: Final = FenceScope()
"""Source of plugins: nothing is pardoned."""

PACKAGE_HOMES: Final = (
    ("decide/tokens.py", Family.TOKEN),
    ("decide/permit.py", Family.PERMIT),
    ("store/permits.py", Family.PERMIT),  # reads permits back, and is the one caller of their maker
)
"""The homes, below the folder of our package."""

OUR_REPOSITORY: Final = FenceScope(
    homes=tuple((f"src/consentry/{path}", family) for path, family in PACKAGE_HOMES),
    tests=("tests/",),
    heeds_comments=True,
)
"""Our own source, with paths relative to the repository."""


@dataclass(frozen=True, slots=True)
class FenceFinding:
    """One thing at one place; lines and columns count from 1, columns in characters."""

    path: str
    line: int
    column: int
    rule: Rule
    message: str

    @property
    def help_line(self) -> str:
        """What to do about it."""
        return self.rule.help_line
