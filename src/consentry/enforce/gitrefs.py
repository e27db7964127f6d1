"""Which commits the names in a revision stand for, read from the repository's reference files.

Only names that were asked for are looked up. A name that could be two things is refused, where git
would take one and warn: a tag `main` beside the branch `main`, or a branch that is called like the
beginning of a commit's id, is a way to have another base compared than the one that was meant.

Words that need more than references (`main@{yesterday}`, `@{upstream}`, `:/text`) are refused.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.enforce.gitplace import Repository, read_plain, unusable

HEAD: Final = "HEAD"

_MOST_PACKED: Final = 128 << 20
_MOST_LOOSE: Final = 4096
_MOST_WORD: Final = 1024
_MOST_STEPS: Final = 5
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PLACES: Final = ("refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}")
_SPECIAL: Final = re.compile(r"[A-Z][A-Z_]*_HEAD")
_WHOLE_ID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_PART_OF_ID: Final = re.compile(r"[0-9a-fA-F]{4,64}")
# As git has it: no name of a reference holds these.
_NOT_IN_NAMES: Final = re.compile(
    r"[\0-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|^[/.-]|[/.]$"
)
_LOOSE: Final = re.compile(rb"(?:ref: *(?P<name>refs/[^\n]+)|(?P<id>[0-9a-f]{40,64}))\s*(?:\n.*)?")


def check_word(word: str) -> str:
    """The word, if it can name a commit and nothing else."""
    if not word or word.startswith("-") or len(word) > _MOST_WORD:
        raise _refused(word, "is not the name of a commit")
    if any(mark in word for mark in ("@{", ":", "..", "\n", "\0", " ")):
        raise _refused(word, "is not understood: a branch, a tag or an id, with `~` and `^`, is")
    return word


class References:
    """The references of one repository, as they are when they are asked for."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._packed: bytes | None = None

    def ids_for(self, words: Iterable[str]) -> dict[str, str]:
        """What git has to know to resolve these words: names of references, and their ids."""
        known: dict[str, str] = {}
        for word in words:
            name = re.split(r"[~^]", word, maxsplit=1)[0]
            if name in ("", "@", HEAD):
                head = self.head()
                if head is not None:
                    known[HEAD] = head
            elif not _WHOLE_ID.fullmatch(name):
                known |= self._one(name)
        return known

    def head(self) -> str | None:
        """The id of the commit that is checked out; None before the first one."""
        content = read_plain(self._repository.folder / HEAD, _MOST_LOOSE)
        if content is None:
            raise unusable(self._repository.folder / HEAD, "is missing")
        return self._followed(content, HEAD)

    def _one(self, name: str) -> dict[str, str]:
        if name.startswith("refs/") and _NOT_IN_NAMES.search(name) is None:
            whole = self._id_of(name)
            if whole is not None:
                return {name: whole}
        found = {place: each for place in self._places(name) if (each := self._id_of(place))}
        meanings = sorted(found)
        if _PART_OF_ID.fullmatch(name) and meanings:
            meanings.append("the beginning of an id")
        if len(meanings) > 1:
            raise _refused(name, f"could be {' or '.join(f'`{each}`' for each in meanings)}")
        return found

    def _places(self, name: str) -> Iterator[str]:
        if _SPECIAL.fullmatch(name):
            yield name
        if _NOT_IN_NAMES.search(name) is None:
            yield from (place.format(name) for place in _PLACES)
            yield f"refs/remotes/{name}/HEAD"

    def _id_of(self, name: str, steps: int = 0) -> str | None:
        if name.startswith("refs/"):
            loose = _read_beneath(self._repository.shared, name)
        else:
            loose = read_plain(self._repository.folder / name, _MOST_LOOSE)
        if loose is not None:
            return self._followed(loose, name, steps)
        return self._in_packed(name)

    def _followed(self, content: bytes, name: str, steps: int = 0) -> str | None:
        told = _LOOSE.fullmatch(content)
        if told is None:
            raise unusable(self._repository.folder / name, "is not a reference")
        if told["id"] is not None:
            return str(told["id"].decode("ascii"))
        target = told["name"].decode("utf-8", "surrogateescape").rstrip()
        if steps >= _MOST_STEPS or _NOT_IN_NAMES.search(target):
            raise unusable(self._repository.folder / name, "does not lead to a reference")
        return self._id_of(target, steps + 1)

    def _in_packed(self, name: str) -> str | None:
        if self._packed is None:
            path = self._repository.shared / "packed-refs"
            self._packed = b"\n" + (read_plain(path, _MOST_PACKED) or b"")
        wanted = re.escape(name.encode("utf-8", "surrogateescape"))
        found = re.search(rb"\n([0-9a-f]{40,64}) " + wanted + rb"\r?(?:\n|$)", self._packed)
        return None if found is None else found[1].decode("ascii")


def _read_beneath(folder: Path, name: str) -> bytes | None:
    """A small plain file below the folder, without following any link; None where there is none."""
    at = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    *above, last = name.encode("utf-8", "surrogateescape").split(b"/")
    try:
        for each in above:
            inner = os.open(each, _FOLDER, dir_fd=at)
            os.close(at)
            at = inner
        file = os.open(last, _FILE, dir_fd=at)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        raise unusable(folder / name, (problem.strerror or "cannot be opened").lower()) from problem
    finally:
        os.close(at)
    try:
        is_plain = stat.S_ISREG(os.fstat(file).st_mode)
        return os.read(file, _MOST_LOOSE) if is_plain else None
    finally:
        os.close(file)


def _refused(word: str, what: str) -> UsageProblem:
    return UsageProblem(
        Code.USAGE,
        f"`{word}` {what}",
        help_line="write `refs/heads/NAME`, `refs/tags/NAME` or a whole id to say which",
    )
