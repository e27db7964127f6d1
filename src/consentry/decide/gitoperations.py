"""The local operations of git that a token can name, and the words that each of them takes.

There is no push, no fetch and nothing else that speaks to another repository: not as an operation, and
not among the options. What is not listed is refused before anything starts, so that an option that a
later git learns is refused, too. Options are taken as they are spelled here; git's own abbreviations
(`--ups` for `--upstream`) are not.

What it does not do: keep a repository's own configuration from being read. That is for the box, which
starts no program but git and has no network.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.nearest import closest
from consentry.base.values import dataclass

REPOSITORY: Final = ".git/"
TREE: Final = "./"


class GitLocalOperation(StrEnum):
    """What may be named; the value is git's own word."""

    INIT = "init"
    STATUS = "status"
    DIFF = "diff"
    LOG = "log"
    SHOW = "show"
    ADD = "add"
    RESTORE = "restore"
    REMOVE = "rm"
    MOVE = "mv"
    COMMIT = "commit"
    BRANCH = "branch"
    SWITCH = "switch"
    MERGE = "merge"
    TAG = "tag"
    RESET = "reset"


@dataclass(frozen=True, slots=True)
class Grammar:
    """The options of one operation: those alone, those with a value, and what it writes.

    One that `starts_itself` has git start git once more, as a merge does to keep what was changed.
    The options in `always` come first: a repository's own programs for differences are not asked.
    """

    flags: frozenset[str]
    valued: frozenset[str]
    writes: str | None = None
    takes_words: bool = True
    starts_itself: bool = False
    always: tuple[str, ...] = ()


_LOOKS: Final = (
    "--stat --name-only --name-status --numstat --shortstat --patch -p --no-patch --raw --no-color "
    "--no-renames --no-ext-diff --no-textconv --oneline --graph --decorate --no-decorate --all "
    "--first-parent --merges --no-merges --reverse --cached --staged --quiet -q -w --ignore-all-space "
    "--ignore-submodules --follow --abbrev-commit --word-diff --summary --check --exit-code -z"
)
_LOOKS_VALUED: Final = (
    "-n --max-count --skip --since --until --after --before --author --committer --grep --format "
    "--pretty --date --diff-filter --unified -S -G"
)
_ONLY_ATTACHED: Final = frozenset({"--porcelain", "--untracked-files", "--pretty", "--unified"})
"""Git takes a value for these behind `=` alone; the next word is one of its own."""

_PLAIN: Final = ("--no-ext-diff", "--no-textconv")


def _grammar(
    flags: str,
    valued: str = "",
    writes: str | None = None,
    *,
    takes_words: bool = True,
    starts_itself: bool = False,
    always: tuple[str, ...] = (),
) -> Grammar:
    options, with_value = frozenset(flags.split()), frozenset(valued.split())
    return Grammar(options, with_value, writes, takes_words, starts_itself, always)


GRAMMARS: Final[Mapping[GitLocalOperation, Grammar]] = {
    GitLocalOperation.INIT: _grammar(
        "--quiet -q", "--initial-branch -b --object-format", REPOSITORY, takes_words=False
    ),
    GitLocalOperation.STATUS: _grammar(
        "--short -s --branch -b --long -z --ignored --no-renames",
        "--porcelain --untracked-files",
    ),
    GitLocalOperation.DIFF: _grammar(_LOOKS, _LOOKS_VALUED, always=_PLAIN),
    GitLocalOperation.LOG: _grammar(_LOOKS, _LOOKS_VALUED, always=_PLAIN),
    GitLocalOperation.SHOW: _grammar(_LOOKS, _LOOKS_VALUED, always=_PLAIN),
    GitLocalOperation.ADD: _grammar(
        "--all -A --update -u --force -f --verbose -v --dry-run --intent-to-add -N", "", REPOSITORY
    ),
    GitLocalOperation.RESTORE: _grammar(
        "--staged -S --worktree -W --quiet -q --ours --theirs", "--source -s", TREE
    ),
    GitLocalOperation.REMOVE: _grammar("--cached -r --force -f --quiet -q --dry-run", "", TREE),
    GitLocalOperation.MOVE: _grammar("--force -f --verbose -v --dry-run", "", TREE),
    GitLocalOperation.COMMIT: _grammar(
        "--all -a --allow-empty --allow-empty-message --amend --no-edit --quiet -q --signoff -s "
        "--no-verify -n --dry-run --reset-author --verbose -v",
        "--message -m --author --date --cleanup --reuse-message",
        REPOSITORY,
    ),
    GitLocalOperation.BRANCH: _grammar(
        "--list -l --all -a --delete -d -D --move -m -M --copy -c --force -f --show-current --merged "
        "--no-merged --verbose -v --quiet -q --no-track",
        "--contains --format --sort",
        REPOSITORY,
    ),
    GitLocalOperation.SWITCH: _grammar(
        "--detach -d --force -f --quiet -q --no-track --no-guess --discard-changes --merge -m",
        "--create -c --force-create -C --orphan",
        TREE,
    ),
    GitLocalOperation.MERGE: _grammar(
        "--ff --no-ff --ff-only --squash --no-commit --commit --no-edit --abort --quit --continue "
        "--quiet -q --stat --no-stat --no-verify --allow-unrelated-histories",
        "--message -m --strategy-option -X",
        TREE,
        starts_itself=True,
    ),
    GitLocalOperation.TAG: _grammar(
        "--list -l --annotate -a --delete -d --force -f", "--message -m --sort --format", REPOSITORY
    ),
    GitLocalOperation.RESET: _grammar("--soft --mixed --hard --merge --keep --quiet -q", "", TREE),
}


def operation_named(word: object) -> GitLocalOperation:
    """The operation of that name; raises `token-refused` for every other word."""
    try:
        return GitLocalOperation(str(word))
    except ValueError:
        near = closest(str(word), [each.value for each in GitLocalOperation])
        raise Refused(
            Code.TOKEN_REFUSED,
            f"`git {word}` is no local operation, so no token is for it",
            help_line=f"did you mean `{near}`?" if near else "people push, fetch and pull",
        ) from None


def check_words(operation: GitLocalOperation, words: Sequence[str]) -> tuple[str, ...]:
    """The words, if git can take them for nothing but this operation's own; raises otherwise."""
    grammar = GRAMMARS[operation]
    waiting: str | None = None
    is_past_options = False
    for word in words:
        if "\0" in word:
            raise UsageProblem(Code.USAGE, f"a word for `git {operation}` has a NUL in it")
        if waiting is not None:
            waiting = None
        elif is_past_options or not word.startswith("-") or word == "-":
            _check_plain(operation, grammar, word)
        elif word == "--":
            is_past_options = True
        else:
            waiting = _check_option(operation, grammar, word)
    if waiting is not None:
        raise UsageProblem(Code.USAGE, f"`{waiting}` of `git {operation}` has no value")
    return tuple(words)


def _check_option(operation: GitLocalOperation, grammar: Grammar, word: str) -> str | None:
    """The option, where the next word is its value; None where it is whole."""
    name, has_value, _ = word.partition("=")
    if has_value and name in grammar.valued and name.startswith("--"):
        return None
    if word in grammar.flags:
        return None
    if word in grammar.valued:
        return None if word in _ONLY_ATTACHED else word
    raise _refused(operation, f"`{word}` is no option of it that a token allows")


def _check_plain(operation: GitLocalOperation, grammar: Grammar, word: str) -> None:
    if not grammar.takes_words:
        raise _refused(operation, f"it takes no word such as `{word}`: it is done in the workspace")
    if "::" in word or "://" in word:
        raise _refused(operation, f"`{word}` names another repository, or a program that fetches")
    if operation is GitLocalOperation.DIFF and (word[:1] == "/" or ".." in word.split("/")):
        # Git compares files outside of a repository as well, without being told to.
        raise _refused(operation, f"`{word}` is no path below the workspace")


def _refused(operation: GitLocalOperation, why: str) -> Refused:
    return Refused(Code.TOKEN_REFUSED, f"`git {operation}` was not started: {why}")
