"""Command lines that push: `git push`, its plumbing, its remote helpers, and aliases for them.

A line is a list of words, where a word that is not known stands as None, or one text as a shell reads
it. Words are compared after quotes are taken away. A text counts only where a command begins with git:
prose about a push is none. Nothing here starts anything.
"""

import re
import shlex
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

Word = str | None
UNKNOWN_TEXT: Final = "\ufffc"
"""Stands in a text for a part that is not known."""
MOST_LETTERS: Final = 1 << 16
MOST_WORDS: Final = 4096
MOST_DEPTH: Final = 4

_PUSHES: Final = frozenset({"push", "send-pack", "receive-pack", "http-push", "dcommit"})
_BELOW: Final = {
    "subtree": frozenset({"push"}),
    "lfs": frozenset({"push"}),
    "svn": frozenset({"dcommit", "commit-diff"}),
    "p4": frozenset({"submit"}),
    "stash": frozenset[str](),
    "annex": frozenset({"push", "sync"}),
}
_HELPER: Final = re.compile(r"remote-[a-z]")
_WITH_VALUE: Final = frozenset(
    {
        *("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"),
        *("--super-prefix", "--config-env", "--attr-source"),
    }
)
_PROGRAM: Final = re.compile(r"git(\.exe)?")
_ALIAS: Final = re.compile(r"alias\.[^=]*=(.*)", re.DOTALL | re.IGNORECASE)
_TRANSPORT: Final = re.compile(r"(ext|fd)::")
_STARTERS: Final = frozenset(
    {
        *("sudo", "doas", "env", "nohup", "nice", "timeout", "exec", "command", "builtin"),
        *("xargs", "setsid", "stdbuf", "eval", "ionice", "busybox", "chroot", "unshare"),
        *("sh", "bash", "dash", "zsh", "ssh", "su", "runuser", "strace", "flock", "watch"),
        *("find", "parallel", "time", "cmd", "powershell", "pwsh", "systemd-run", "bwrap"),
        *("docker", "podman", "script", "faketime", "firejail"),
    }
)
"""Programs that start another one, which stands somewhere behind their options."""
_KEYWORDS: Final = frozenset({"then", "do", "else", "if", "while", "until", "!", "{", "("})
_ENDS_COMMAND: Final = frozenset({";", "&&", "||", "|", "&", "\n", "(", ")", "`", "{", "}", ";;"})
_SEPARATORS: Final = re.compile(r"(\$\(|&&|\|\||[;|&\n()`])")
_REDIRECTED: Final = re.compile(
    r"(?<![\w\"'\\<>])\d{0,3}[<>]{1,3}&?[ \t]{0,8}[^\s;|&()`<>\"']{1,4096}"
)
_LISTED: Final = re.compile(r"[\"']([^\"']*)[\"']")
_ANY_HELPER: Final = re.compile(r"[A-Za-z0-9+.-]+::.")
_SPEAKS: Final = frozenset(
    {"clone", "fetch", "pull", "ls-remote", "remote", "submodule", "archive"}
)
_FIELD: Final = re.compile(r"\$\{?IFS\}?")
_WORTH_A_LOOK: Final = re.compile(
    r"push|pack|remote-|dcommit|submit|sync|ext::|fd::|alias\.", re.IGNORECASE
)
_MOST_BEFORE: Final = 16


def words_push(words: Sequence[Word], depth: int = 0) -> bool:
    """Whether a command line in words pushes, wherever in it git is called."""
    few = words[:MOST_WORDS]
    for position, word in enumerate(few):
        if word is None:
            continue
        if is_git(word) and _git_pushes(few[position + 1 :]):
            return True
        if _is_pushing_program(word) or _TRANSPORT.match(word):
            return True
        if " " in word and depth < MOST_DEPTH and text_pushes(word, depth + 1):
            return True
    return False


def text_pushes(text: str, depth: int = 0) -> bool:
    """Whether a text, read as a shell reads it, pushes."""
    if len(text) > MOST_LETTERS:
        text = text[:MOST_LETTERS]
    spaced = _FIELD.sub(" ", text.replace("\\\n", " "))
    plain = re.sub(r"[\"'\\\\]", "", spaced)
    if "git" not in plain or not _WORTH_A_LOOK.search(plain):
        return _TRANSPORT.match(text) is not None
    if spaced.lstrip()[:1] in "[(" and words_push(_LISTED.findall(spaced), MOST_DEPTH):
        return True
    plain_words = _REDIRECTED.sub(" ", spaced)
    return any(_command_pushes(words, depth) for words in _commands(plain_words))


def _commands(text: str) -> list[list[Word]]:
    """The simple commands of a text, in words."""
    try:
        reader = shlex.shlex(text, posix=True, punctuation_chars=";|&()`\n")
        reader.whitespace = " \t\r"
        reader.whitespace_split = True
        reader.commenters = ""
        tokens = list(reader)
    except ValueError:  # a quote that is not closed: as near as can be
        tokens = _SEPARATORS.sub(r" \1 ", text.replace('"', "").replace("'", "")).split(" ")
    found: list[list[Word]] = [[]]
    for word in tokens:
        if word in _ENDS_COMMAND or set(word) <= set(";|&()`\n"):
            found.append([])
        elif word != "$":
            found[-1].append(None if word == UNKNOWN_TEXT else word.lstrip("$"))
    return found


def _command_pushes(words: list[Word], depth: int) -> bool:
    """Whether one simple command is git, behind assignments and programs that start others."""
    for position, word in enumerate(words[:_MOST_BEFORE]):
        if word is None:
            return False
        if is_git(word):
            return _git_pushes(words[position + 1 :])
        if _is_pushing_program(word):
            return True
        name = word.rpartition("/")[2]
        if name in _STARTERS:
            return words_push(words[position + 1 :], depth)
        if name not in _KEYWORDS and "=" not in word:
            break
    inner = [word for word in words if word is not None and " " in word]
    return depth < MOST_DEPTH and any(text_pushes(word, depth + 1) for word in inner)


def is_git(word: str) -> bool:
    """Whether a word starts git."""
    return _PROGRAM.fullmatch(re.split(r"[/\\]", word)[-1]) is not None


def _is_pushing_program(word: str) -> bool:
    """`git-push`, `/usr/lib/git-core/git-remote-https`."""
    name = re.split(r"[/\\]", word)[-1]
    return name.startswith("git-") and is_pushing(name.removeprefix("git-"))


def is_pushing(command: str) -> bool:
    """Whether a command of git pushes."""
    return command in _PUSHES or _HELPER.match(command) is not None


def _git_pushes(words: Sequence[Word]) -> bool:
    """Whether what follows `git` pushes: options first, then the command."""
    position = 0
    while position < len(words):
        word = words[position]
        if word is not None and _gives_alias(word):
            return True
        if word is None or UNKNOWN_TEXT in word:
            position += 1
        elif word in _WITH_VALUE:
            value = words[position + 1] if position + 1 < len(words) else None
            if value is not None and _gives_alias(value):
                return True
            position += 2
        elif word.startswith("-"):
            position += 1
        else:
            return is_pushing(word) or _pushes_below(word, words[position + 1 :])
    return False


def _attached(word: str) -> list[str]:
    """The value that an option has behind `=`, or behind its one letter, where that may be a command."""
    if not word.startswith("-") or " " not in word:
        return []
    return [word.partition("=")[2]] if word.startswith("--") else [word[2:]]


def _gives_alias(word: str) -> bool:
    found = _ALIAS.search(word)
    return found is not None and _is_pushing_alias(found[1])


def _is_pushing_alias(value: str) -> bool:
    plain = value.strip("\"' ")
    if plain.startswith("!"):
        return text_pushes(plain[1:])
    return _git_pushes([*plain.split()])


def _pushes_below(command: str, words: Sequence[Word]) -> bool:
    """Commands of git that start others: `git subtree push`, `git config alias.x push`."""
    plain = [word for word in words if word is not None and not word.startswith("-")]
    if command in _SPEAKS and any(map(_ANY_HELPER.match, plain)):
        return True
    if command == "for-each-repo" and _git_pushes(words):
        return True
    if any(text_pushes(value, 1) for word in words if word for value in _attached(word)):
        return True
    if command in _BELOW:
        return bool(plain) and plain[0] in _BELOW[command]
    if command == "config":
        return any(
            key.lower().startswith("alias.") and _is_pushing_alias(value)
            for key, value in pairwise(plain)
        )
    return words_push([word for word in words if word is not None and " " in word], 1) or (
        command in ("bisect", "submodule", "rebase", "filter-branch", "for-each-repo")
        and words_push(words, 1)
    )
