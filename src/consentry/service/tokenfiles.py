"""Files under a token: read, written and listed by this process, below the jail and by the patterns.

"Inside the sandbox" means here: through `SandboxedPath`, which is in-jail at construction, second-line
defense at open() time via O_NOFOLLOW. No box is built for a file. What the resolved path has to fit are
the token's patterns, not the spelling that was asked for. As in a box, nothing under a protected root is
opened, and names that other programs obey (hooks, shell start-up files, Consentry's own configuration)
are written only where the token spells them out.

Each operation is on record before it is done; what was recorded and then failed stays on record.
"""

import os
from pathlib import Path
from typing import Final, Literal

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, PathEscape, Refused, UsageProblem
from consentry.base.paths import RaceSink, SandboxedPath
from consentry.base.result import Err, Ok
from consentry.base.values import dataclass
from consentry.decide.budgets import UseKind
from consentry.decide.tokenparts import part_of
from consentry.decide.tokenrecords import refused
from consentry.decide.tokens import FsReadWriteCapability
from consentry.enforce.configescapes import (
    config_escapes,
    is_of_repository,
    is_repository_mark,
)
from consentry.enforce.layer import FileType
from consentry.service.givenvalues import Word, wrong
from consentry.service.programsearch import is_protected
from consentry.service.protection import protected_here
from consentry.service.races import recorded_in
from consentry.service.runrecord import named_path
from consentry.service.tokens import TokenDesk, place_of
from consentry.surface.lattice import Surface
from consentry.surface.pattern import Anchor, Pattern, Wildcard

MOST_READ: Final = 64 << 20
_MODE: Final = 0o644
_FOLDER_MODE: Final = 0o755


@dataclass(frozen=True, slots=True)
class TokenFiles:
    """The files of one token's workspace; every path is relative to that."""

    desk: TokenDesk
    token: FsReadWriteCapability
    jail: Path

    @classmethod
    def of(cls, desk: TokenDesk, token: object, workspace: Word | None = None) -> "TokenFiles":
        """The files that this token, or the one in a bundle, is for."""
        held = part_of(token, FsReadWriteCapability)
        return cls(desk, held, Path(place_of(held, workspace, desk.around)))

    def read(self, path: Word, *, most: int = MOST_READ) -> bytes:
        """The content of a file of at most so many bytes."""
        there = self._existing(path)
        self._may_read(there)
        self._use(UseKind.FS_READ, "read", there)
        # consentry-fence: race-unhandled: on record, and the caller is refused
        return there.read(most, on_race=self._on_race)

    def list(self, path: Word = ".") -> tuple[str, ...]:
        """The names in a folder; the token has to cover the folder and all below."""
        there = self._existing(path)
        self._may_read(there, is_tree=True)
        self._use(UseKind.FS_READ, "list", there)
        # consentry-fence: race-unhandled: on record, and the caller is refused
        return there.names(on_race=self._on_race)

    def create(self, path: Word, content: bytes) -> None:
        """Makes a file that does not exist yet."""
        there = SandboxedPath.create_new(self.jail, self._plain(path)).unwrap()
        self._make(there, content)

    def replace(self, path: Word, content: bytes) -> None:
        """Puts a new file in the place of one that is there: whole, or not at all."""
        self._replace(self._existing(path), content)

    def write(self, path: Word, content: bytes) -> None:
        """`replace` where the file is there, `create` where it is not."""
        plain = self._plain(path)
        match SandboxedPath.create_new(self.jail, plain):
            case Ok(there):
                self._make(there, content)
            case Err(_):
                self._replace(self._existing(path), content)

    def make_folder(self, path: Word) -> None:
        """Makes a folder that does not exist yet."""
        there = SandboxedPath.create_new(self.jail, self._plain(path)).unwrap()
        self._may_write(there, FileType.FOLDER)
        self._use(UseKind.FS_WRITE, "make_folder", there)
        # consentry-fence: race-unhandled: on record, and the caller is refused
        there.make_folder(_FOLDER_MODE, on_race=self._on_race)

    def remove(self, path: Word) -> None:
        """Removes a file or an empty folder."""
        there = self._existing(path)
        self._may_write(there, FileType.FILE)
        self._use(UseKind.FS_WRITE, "remove", there)
        # consentry-fence: race-unhandled: on record, and the caller is refused
        there.remove(on_race=self._on_race)

    def _make(self, there: SandboxedPath, content: bytes) -> None:
        _check_content(content)
        self._may_write(there, FileType.FILE)
        self._use(UseKind.FS_WRITE, "create", there)
        # consentry-fence: race-unhandled: on record, and the caller is refused
        there.write_new(content, _MODE, on_race=self._on_race)

    def _replace(self, there: SandboxedPath, content: bytes) -> None:
        _check_content(content)
        self._may_write(there, FileType.FILE)
        self._use(UseKind.FS_WRITE, "replace", there)
        # consentry-fence: race-unhandled: on record, and the caller is refused
        there.replace(content, on_race=self._on_race)

    def _existing(self, path: Word) -> SandboxedPath:
        return SandboxedPath.create(self.jail, self._plain(path)).unwrap()

    def _plain(self, path: object) -> str:
        spelled = os.fspath(path) if isinstance(path, str | os.PathLike) else None
        if not isinstance(spelled, str) or not spelled or "\0" in spelled:
            raise wrong("`path` is a path below the workspace")
        return spelled

    def _use(self, kind: UseKind, operation: str, there: SandboxedPath) -> None:
        self.desk.consent_of(self.token)
        self.desk.uses.use(self.token.use(kind, operation, named_path(str(there.relative))))

    def _may_read(self, there: SandboxedPath, *, is_tree: bool = False) -> None:
        pattern = _pattern(there, is_tree=is_tree)
        if not Surface.of(read=[pattern]) <= self.token.surface:
            raise refused(self.token.token_id, f"is not for reading `{there.relative}`")
        self._require_open(there)

    def _may_write(self, there: SandboxedPath, kind: FileType) -> None:
        if not Surface.of(write=[_pattern(there)]) <= self.token.surface:
            raise refused(self.token.token_id, f"is not for writing `{there.relative}`")
        self._require_open(there)
        names = [os.fsencode(each) for each in there.relative.parts]
        for hit in config_escapes().hits(names, kind, beside_head=self._beside_head(there)):
            name = "/".join(there.relative.parts[: hit.end])
            if hit.escape.is_never_lifted or not self._spells_out(there.relative.parts[: hit.end]):
                raise Refused(
                    Code.TOKEN_REFUSED,
                    f"`{name}` was not written: {hit.escape.why}",
                    help_line="only a token whose `write` names that very path is for it",
                )
        self._require_no_repository(there, kind)

    def _require_no_repository(self, there: SandboxedPath, kind: FileType) -> None:
        """Raises for a `HEAD` that would make a repository of what lies beside it already."""
        name = os.fsencode(there.relative.name)
        if kind is FileType.FOLDER or not is_repository_mark(name):
            return
        folder = SandboxedPath.create(self.jail, str(there.relative.parent)).unwrap()
        # consentry-fence: race-unhandled: on record, and the caller is refused
        siblings = [os.fsencode(each) for each in folder.names(on_race=self._on_race)]
        is_one = any(map(is_repository_mark, siblings))
        is_obeyed = not is_one and any(map(is_of_repository, siblings))
        if is_obeyed and not self._spells_out(there.relative.parts):
            raise Refused(
                Code.TOKEN_REFUSED,
                f"`{there.relative}` was not written: git would take its folder for a repository, "
                "and obey what lies there",
                help_line="only a token whose `write` names that very path is for it",
            )

    def _beside_head(self, there: SandboxedPath) -> tuple[int, ...]:
        """The names on the way that lie beside a `HEAD`, as in a bare repository."""
        parts = there.relative.parts
        return tuple(
            index
            for index in range(len(parts))
            if os.path.lexists(self.jail.joinpath(*parts[:index], "HEAD"))
        )

    def _spells_out(self, names: tuple[str, ...]) -> bool:
        """Whether a pattern of the token has exactly these names at its beginning."""
        return any(Pattern.parse(each).prefix[: len(names)] == names for each in self.token.write)

    def _require_open(self, there: SandboxedPath) -> None:
        path = Path(there)
        if is_protected(path, protected_here(self.desk.around, path)):
            raise Refused(Code.PROTECTED_ROOT, f"`{there.relative}` is never granted")

    @property
    def _on_race(self) -> RaceSink:
        return recorded_in(self.desk.around)


def _pattern(there: SandboxedPath, *, is_tree: bool = False) -> str:
    """The resolved path as a pattern for itself."""
    below: Literal[Wildcard.FOLDERS] | None = Wildcard.FOLDERS if is_tree else None
    try:
        return Pattern.literal(Anchor.WORKSPACE, there.relative.parts, and_below=below).text
    except ConsentryError as problem:
        raise PathEscape(problem.message) from problem


def _check_content(content: object) -> None:
    is_bytes = isinstance(content, bytes | bytearray | memoryview)
    if not is_bytes or (isinstance(content, memoryview) and not content.c_contiguous):
        raise UsageProblem(Code.USAGE, "`content` is bytes; a text has to be encoded")
