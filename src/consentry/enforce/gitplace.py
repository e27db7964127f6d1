"""Finds a repository's folders, and makes the folder of our own that git is pointed at instead.

What is taken from the repository is data: where its objects are, which commits a few names stand
for, its index, what it ignores. Files are opened without following a link at their end and must be
plain and small enough. Its configuration is searched for two words, the format of its ids and of its
references, because without them nothing in it can be read; a lie there makes reading fail.

Not promised: `.git` may be a file that names any folder, and a repository may borrow objects from
any other, as git allows; what is in those is read, if a commit refers to it.
"""

import errno
import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput, UsageProblem
from consentry.base.values import dataclass
from consentry.enforce.gitprocess import ERRORS, HOME, GitSetting

_FOLDERS: Final = ("/tmp", "/var/tmp")  # noqa: S108 - a folder is made there, never guessed
_PREFIX: Final = "consentry-git-"
_MOST_WORDS: Final = 1 << 16
_MOST_CONFIG: Final = 4 << 20
_MOST_SHALLOW: Final = 8 << 20
_MOST_EXCLUDE: Final = 1 << 20
_MOST_INDEX: Final = 256 << 20
_MOST_ALTERNATES: Final = 16
_FORMAT: Final = re.compile(rb'^\s*objectformat\s*=\s*"?sha256"?\s*$', re.IGNORECASE | re.MULTILINE)
_REFTABLE: Final = re.compile(rb'^\s*refstorage\s*=\s*"?reftable', re.IGNORECASE | re.MULTILINE)
_SHARED_INDEX: Final = re.compile(r"sharedindex\.(?:[0-9a-f]{40}|[0-9a-f]{64})")
_HEX_LINES: Final = re.compile(rb"(?:[0-9a-f]{40,64}\n)*")


@dataclass(frozen=True, slots=True)
class Repository:
    """Where its parts are: `folder` has HEAD and the index, `shared` the objects and references.

    The two differ in a linked working tree. A bare repository has no `work_tree`.
    """

    folder: Path
    shared: Path
    work_tree: Path | None
    is_sha256: bool

    @property
    def objects(self) -> Path:
        """The folder of its objects."""
        return self.shared / "objects"


def find_repository(start: Path) -> Repository:
    """The repository that a folder lies in, by looking for `.git` from there upwards."""
    folder = Path(os.path.realpath(start))
    for each in (folder, *folder.parents):
        found = _repository_at(each)
        if found is not None:
            return found
    raise UsageProblem(
        Code.FILE_UNUSABLE,
        f"`{start}` is not in a git repository",
        help_line="change into one, or hand in a patch bundle",
    )


def read_plain(path: Path, most: int) -> bytes | None:
    """The content of a plain file, or None where there is none; raises for anything else."""
    try:
        # O_NONBLOCK: a pipe without a writer would hold us for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        if problem.errno == errno.ELOOP:
            raise unusable(path, "is a link, and where it leads is not followed") from problem
        raise unusable(path, (problem.strerror or "cannot be opened").lower()) from problem
    with os.fdopen(descriptor, "rb") as handle:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise unusable(path, "is not a plain file")
        content = handle.read(most + 1)
    if len(content) > most:
        raise unusable(path, f"is larger than {most} bytes")
    return content


class GitFolder:
    """A git folder that we wrote, closed to others, removed by `close`."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        _check_alternates(repository.objects)
        self.path = _new_folder(repository.work_tree)
        try:
            (self.path / "refs").mkdir(mode=0o700)
            (self.path / HOME).mkdir(mode=0o500)
            self._write(ERRORS, b"")
            self._write("config", _config(repository))
            self._write("HEAD", b"ref: refs/heads/nothing\n")
        except BaseException:
            self.close()
            raise

    def setting(self, program: Path) -> GitSetting:
        """What git processes are told."""
        repository = self.repository
        return GitSetting(program, self.path, repository.objects, repository.work_tree)

    def take_commits(self, names: dict[str, str]) -> None:
        """Makes these names of references stand for these ids; `HEAD` and its kin may be some."""
        packed = sorted((name, each) for name, each in names.items() if name.startswith("refs/"))
        for name in names.keys() - dict(packed).keys():
            self._write(name, names[name].encode("ascii") + b"\n")
        lines = "".join(f"{each} {name}\n" for name, each in packed)
        self._write("packed-refs", lines.encode("utf-8", "surrogateescape"))

    def take_history_ends(self) -> None:
        """Copies what a shallow clone knows of where its history ends."""
        shallow = read_plain(self.repository.shared / "shallow", _MOST_SHALLOW)
        if shallow is not None and _HEX_LINES.fullmatch(shallow):
            self._write("shallow", shallow)

    def take_index(self) -> None:
        """Copies the index, the parts that it shares, and the repository's own list to ignore."""
        folder = self.repository.folder
        index = read_plain(folder / "index", _MOST_INDEX)
        if index is not None:
            self._write("index", index)
            for name in sorted(filter(_SHARED_INDEX.fullmatch, os.listdir(folder))):  # noqa: PTH208
                if bytes.fromhex(name.removeprefix("sharedindex.")) in index:
                    self._write(name, read_plain(folder / name, _MOST_INDEX) or b"")
        exclude = read_plain(self.repository.shared / "info/exclude", _MOST_EXCLUDE)
        if exclude is not None:
            (self.path / "info").mkdir(mode=0o700, exist_ok=True)
            self._write("info/exclude", exclude)

    def close(self) -> None:
        """Removes the folder and what is in it; nothing in it is a link of somebody else's."""
        with suppress(OSError):
            (self.path / HOME).chmod(0o700)
        for top, folders, files in os.walk(self.path, topdown=False):
            for name in files:
                with suppress(OSError):
                    Path(top, name).unlink()
            for name in folders:
                with suppress(OSError):
                    Path(top, name).rmdir()
        with suppress(OSError):
            self.path.rmdir()

    def _write(self, name: str, content: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(self.path / name, flags, 0o600), "wb") as handle:
            handle.write(content)


def _repository_at(folder: Path) -> Repository | None:
    inner = folder / ".git"
    try:
        kind = inner.lstat().st_mode
    except FileNotFoundError:
        return _made(folder, None) if _is_git_folder(folder) else None
    except OSError as problem:
        raise unusable(inner, (problem.strerror or "cannot be looked at").lower()) from problem
    if stat.S_ISLNK(kind):
        raise unusable(inner, "is a link, and where it leads is not followed")
    if stat.S_ISDIR(kind):
        return _made(inner, folder) if _is_git_folder(inner) else None
    named = _path_in(inner, b"gitdir: ")
    if named is None:
        raise unusable(inner, "is neither a folder nor a file that names one")
    return _made(named, folder)


def _made(folder: Path, work_tree: Path | None) -> Repository:
    shared = _path_in(folder / "commondir", b"") or folder
    for each in ("objects", "refs"):
        kind = _kind(shared / each)
        if kind is None or not stat.S_ISDIR(kind):
            raise unusable(shared / each, "is not a folder")
    config = read_plain(shared / "config", _MOST_CONFIG) or b""
    if _REFTABLE.search(config):
        raise unusable(
            shared, "keeps its references in a form (reftable) that Consentry does not read"
        )
    return Repository(folder, shared, work_tree, is_sha256=bool(_FORMAT.search(config)))


def _is_git_folder(folder: Path) -> bool:
    kinds = [_kind(folder / name) for name in ("HEAD", "objects", "refs")]
    return all(kind is not None for kind in kinds) and not stat.S_ISDIR(kinds[0] or 0)


def _kind(path: Path) -> int | None:
    try:
        return path.lstat().st_mode
    except OSError:
        return None


def _path_in(file: Path, before: bytes) -> Path | None:
    """The folder that the one line of a file names, relative to where the file is."""
    content = read_plain(file, _MOST_WORDS)
    if content is None or not content.startswith(before):
        return None
    name = content.removeprefix(before).rstrip(b"\r\n")
    if not name or b"\0" in name or b"\n" in name:
        raise unusable(file, "does not name a folder")
    return Path(os.path.realpath(file.parent / os.fsdecode(name)))


def _check_alternates(objects: Path) -> None:
    """Refuses a list of borrowed objects that is out of proportion, or not plain."""
    listed = read_plain(objects / "info/alternates", _MOST_WORDS) or b""
    entries = [line for line in listed.splitlines() if line and not line.startswith(b"#")]
    if len(entries) > _MOST_ALTERNATES:
        raise unusable(objects / "info/alternates", "names more than 16 places to borrow from")


def _config(repository: Repository) -> bytes:
    lines = ["[core]", f"repositoryformatversion = {int(repository.is_sha256)}"]
    lines += [f"bare = {str(repository.work_tree is None).lower()}"]
    if repository.is_sha256:
        lines += ["[extensions]", "objectformat = sha256"]
    return "\n".join([*lines, ""]).encode("ascii")


def _new_folder(work_tree: Path | None) -> Path:
    """A folder closed to others, outside of the working tree, or it would be part of the change."""
    problem: OSError | None = None
    for above in _FOLDERS:
        if work_tree is not None and Path(os.path.realpath(above)).is_relative_to(work_tree):
            continue
        path = Path(above, _PREFIX + os.urandom(8).hex())
        try:
            path.mkdir(mode=0o700)
        except OSError as refusal:
            problem = refusal
        else:
            return path
    said = "both lie in the working tree" if problem is None else (problem.strerror or "").lower()
    raise UsageProblem(
        Code.FILE_UNUSABLE,
        f"no folder can be made in {' or '.join(_FOLDERS)}: {said}",
        help_line="make one of them writable",
    )


def unusable(path: Path, what: str) -> BadInput:
    """The error of a repository with something in it that cannot be used."""
    return BadInput(
        Code.FILE_UNUSABLE,
        f"`{path}` {what}",
        help_line="check what this repository is; a fresh clone has only plain files and folders",
    )
