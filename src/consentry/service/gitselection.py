"""Which change of a repository is meant: two commits, one, what is staged, or the working tree."""

from enum import StrEnum
from typing import Final

from consentry.base.values import dataclass
from consentry.enforce.gitrefs import HEAD, check_word


class Compared(StrEnum):
    """What is compared with what."""

    TWO_COMMITS = "two-commits"
    SINCE_MERGE_BASE = "since-merge-base"
    ONE_COMMIT = "one-commit"
    STAGED = "staged"
    WORK_TREE = "work-tree"


@dataclass(frozen=True, slots=True)
class GitSelection:
    """`first` and `second` are words for commits; of one commit, `second` is the one."""

    compared: Compared
    first: str = HEAD
    second: str = HEAD

    @classmethod
    def parse(cls, text: str) -> "GitSelection":
        """`A..B`, `A...B` or one commit; a side that is left out is HEAD.

        Raises `UsageProblem` for what cannot be the name of a commit, an option among them.
        """
        for marks, compared in (
            ("...", Compared.SINCE_MERGE_BASE),
            ("..", Compared.TWO_COMMITS),
        ):
            first, found, second = text.partition(marks)
            if found:
                return cls(compared, check_word(first or HEAD), check_word(second or HEAD))
        return cls(Compared.ONE_COMMIT, second=check_word(text))


STAGED: Final = GitSelection(Compared.STAGED)
WORK_TREE: Final = GitSelection(Compared.WORK_TREE)
