"""The bytes of configuration documents, each file opened once and read in bounds.

What is hashed is what is parsed: a document is read into memory through one descriptor, and everything
that is said of it later is said of those bytes. A file that is swapped in between is not looked at
again.

In the user's own folder a file may be a link, as long as no part of the way lies in the workspace,
which discovery has made sure of. In a stranger's folder no link leads out of it. In both, a file that
an index names and that discovery did not see must lie in the folder.
"""

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from consentry.base.canonical import Digest, digest_bytes
from consentry.base.codes import Code
from consentry.base.errors import BadInput, ConsentryError, FilesystemRace, Where
from consentry.base.paths import SandboxedPath
from consentry.base.values import dataclass, field
from consentry.declare.source import MOST_BYTES
from consentry.service.places import ConfigurationFolder, Trust, reason
from consentry.service.races import recorded

MOST_DOCUMENTS: Final = 500
MOST_TOGETHER: Final = 8 << 20

_TOO_MUCH: Final = "move away what is not needed"


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was when it was read; `name` is how errors call it."""

    name: str
    content: bytes
    digest: Digest


@dataclass(slots=True)
class FolderDocuments:
    """The documents of one configuration folder, each read once."""

    folder: ConfigurationFolder
    _read: dict[str, Document] = field(default_factory=dict)
    _is_complete: bool = False

    @classmethod
    def complete(
        cls, folder: ConfigurationFolder, documents: Iterable[Document]
    ) -> "FolderDocuments":
        """A folder whose documents were read before, in the order of its files; there are no others."""
        return cls(folder, dict(zip(folder.files, documents, strict=True)), True)  # noqa: FBT003

    @property
    def is_own(self) -> bool:
        """Whether the folder is the user's own, and not found in a workspace."""
        return self.folder.trust is Trust.OWN

    @property
    def read_files(self) -> tuple[Path, ...]:
        """The files of the documents that were read until now."""
        return tuple(self.folder.path / name for name in self._read)

    def find(self, name: str) -> Document | None:
        """The document of that name in the folder; None where there is none."""
        if name in self._read or self._is_complete:
            return self._read.get(name)
        is_known = name in self.folder.files
        if not is_known and not os.path.lexists(self.folder.path / name):
            return None
        document = self._opened(name, is_known=is_known)
        self._read[name] = document
        return document

    def read_all(self, names: Iterable[str]) -> None:
        """Reads these documents; afterwards there are no others.

        For a stranger's folder: its digest is over all that could count.
        """
        wanted = tuple(dict.fromkeys(names))
        if len(wanted) > MOST_DOCUMENTS:
            message = f"`{self.folder.path}` has more than {MOST_DOCUMENTS} documents"
            raise BadInput(Code.CONFIG_FILE, message, help_line=_TOO_MUCH)
        together = 0
        for name in wanted:
            document = self.find(name)
            together += 0 if document is None else len(document.content)
            if together > MOST_TOGETHER:
                most = f"{MOST_TOGETHER >> 20} MiB"
                message = f"the documents in `{self.folder.path}` have more than {most} together"
                raise BadInput(Code.CONFIG_FILE, message, help_line=_TOO_MUCH)
        self._is_complete = True

    def digests(self, workspace: Path) -> dict[str, Digest]:
        """What was read, by the path of each file from the workspace, or its whole path."""
        folder = self.folder.path
        start = folder.relative_to(workspace) if folder.is_relative_to(workspace) else folder
        return {str(start / name): document.digest for name, document in self._read.items()}

    def _opened(self, name: str, *, is_known: bool) -> Document:
        path = self.folder.path / name
        try:
            if self.is_own and is_known:
                descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            else:
                inside = SandboxedPath.create(self.folder.path, name).unwrap()
                descriptor = inside.open(on_race=recorded)
            content = _content(descriptor, path)
        except OSError as problem:
            raise _unreadable(path, reason(problem)) from problem
        except FilesystemRace as race:
            raise race.at(Where(str(path))) from race.__cause__
        except ConsentryError as problem:
            if problem.code is Code.CONFIG_FILE:
                raise
            raise _unreadable(path, problem.message) from problem
        return Document(str(path), content, digest_bytes(content))


def _content(descriptor: int, path: Path) -> bytes:
    with os.fdopen(descriptor, "rb") as handle:
        if not stat.S_ISREG(os.fstat(handle.fileno()).st_mode):
            raise _unreadable(path, "is not a plain file")
        # One byte more than the reader takes, so that it can say that there are too many.
        return handle.read(MOST_BYTES + 1)


def _unreadable(path: Path, said: str) -> BadInput:
    return BadInput(Code.CONFIG_FILE, f"cannot be read: {said}", where=Where(str(path)))
