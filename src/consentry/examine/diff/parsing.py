"""Reads a unified diff, whole or not at all.

Taken: diffs of git with `a/` and `b/`, in the form of a commit mail or of `git show` as well, and
plain unified diffs of such names. Whatever is cut off, left over or not understood raises
`DiffIncomplete` with its line; so do diffs of merges, names without their prefixes, and a file that
is there twice.

What a diff alone cannot show: that it was cut between two files, behind a hunk of the last one, or
just before the remark that its last line has no newline. Whoever knows which files were touched, and
what they became, can tell (`examine.images`).
"""

import re
from typing import Final

from consentry.examine.diff import binary, headers
from consentry.examine.diff.changes import (
    BinaryPatch,
    ChangeKind,
    FileChange,
    Hunk,
    ParsedDiff,
    sort_of,
)
from consentry.examine.diff.difflines import DiffLines
from consentry.examine.diff.headers import Header, read_header
from consentry.examine.diff.hunks import read_hunks
from consentry.examine.diff.names import NEW, NO_FILE, OLD, BadName, are_both, label_of, path_below
from consentry.examine.diff.oids import is_of_nothing

MOST_FILES: Final = 20_000

_FROM: Final = b"--- "
_TO: Final = b"+++ "
_DIFFER: Final = re.compile(rb"Binary files (.+) differ")
_SIGNATURE: Final = b"-- "
_VERSION: Final = re.compile(rb"[0-9]+(?:\.[0-9A-Za-z_-]+)+(?: \([ -~]+\))?")
_MAIL: Final = re.compile(
    rb"(?:From|commit) [0-9a-f]{40}(?:[0-9a-f]{24})?(?: .*)?|(?:From|Subject|Date|Message-ID): .*"
)
_NOT_IN_MAIL: Final = (b"+++ ", b"@@ ", b"@@@ ", b"diff --c", b"GIT binary patch")
# A date before there were files says, to some programs, that there is none.
_NO_DATE: Final = (b"1970-01-01 ", b"1969-12-31 ")


def parse_diff(content: bytes) -> ParsedDiff:
    """The changes of a diff; raises `DiffIncomplete`."""
    lines = DiffLines(content)
    _skip_mail(lines)
    is_plain = lines.begins(_FROM)
    changes: list[FileChange] = []
    seen = _Seen()
    while lines.has_more() and not lines.begins(_SIGNATURE):
        if len(changes) == MOST_FILES:
            lines.stop(f"the diff has more than {MOST_FILES:,} files")
        change = _plain_file(lines) if is_plain else _git_file(lines)
        if not seen.is_new(change):
            lines.stop_before("a file is there twice")
        changes.append(change)
    return ParsedDiff(tuple(changes), is_signed=_skip_signature(lines))


def _skip_mail(lines: DiffLines) -> None:
    if lines.begins(headers.START) or lines.begins(_FROM):
        return
    if _MAIL.fullmatch(lines.take("a file")) is None:
        lines.stop_before("neither a diff nor the head of a mail begins here")
    while not (lines.begins(headers.START) or lines.begins(_FROM)):
        if lines.take("a file").startswith(_NOT_IN_MAIL):
            lines.stop_before("a part of a diff stands before the first file")


def _skip_signature(lines: DiffLines) -> bool:
    """Takes the end of a mail, if there is one: the version of git, and empty lines."""
    if not lines.has_more():
        return False
    if lines.take("a signature") != _SIGNATURE or not _VERSION.fullmatch(lines.take("a version")):
        lines.stop_before("the end of a mail is not understood")
    while lines.has_more():
        if lines.take("an end"):
            lines.stop_before("something follows the end of the diff")
    return True


class _Seen:
    """The names that were met: each goes once, and comes once."""

    def __init__(self) -> None:
        self._gone: dict[bytes, FileChange] = {}
        self._come: set[bytes] = set()

    def is_new(self, change: FileChange) -> bool:
        """Whether its names were not met before in the same sense."""
        gone = None if change.kind is ChangeKind.COPIED else change.old_path
        come = change.new_path
        if gone in self._gone or come in self._come or self._is_remade(change):
            return False
        if gone is not None:
            self._gone[gone] = change
        if come is not None:
            self._come.add(come)
        return not (change.kind is ChangeKind.DELETED and gone in self._come)

    def _is_remade(self, change: FileChange) -> bool:
        """Whether it comes where another went, other than as a file that becomes a link, say."""
        other = None if change.new_path is None else self._gone.get(change.new_path)
        if other is None or other.kind is not ChangeKind.DELETED:
            return False
        if change.kind is not ChangeKind.ADDED or other.old_mode is None:
            return True
        return sort_of(other.old_mode) == sort_of(change.new_mode)


def _git_file(lines: DiffLines) -> FileChange:
    if not lines.begins(headers.START):
        lines.stop("a file `diff --git a/… b/…` is expected")
    header = read_header(lines)
    if lines.begins(_FROM):
        _check_label(lines, _FROM, _old_label(header))
        _check_label(lines, _TO, _new_label(header))
        return _change(header, hunks=_checked(read_hunks(lines), header.kind, lines))
    if lines.begins(binary.START):
        if lines.take("a binary patch") != binary.START:
            lines.stop_before("`GIT binary patch` is expected")
        if not header.has_full_index:
            lines.stop_before("a binary patch needs the whole ids of its contents")
        return _change(header, binary_patch=binary.read_binary(lines), is_binary=True)
    if lines.begins(b"Binary files "):
        _check_differ(lines, header)
        return _change(header, is_binary=True)
    return _bare(lines, header)


def _old_label(header: Header) -> bytes:
    return NO_FILE if header.kind is ChangeKind.ADDED else OLD + header.old_path


def _new_label(header: Header) -> bytes:
    return NO_FILE if header.kind is ChangeKind.DELETED else NEW + header.new_path


def _check_label(lines: DiffLines, start: bytes, expected: bytes) -> None:
    line = lines.take("the name of a file")
    try:
        name, behind = label_of(line[len(start) :])
    except BadName as problem:
        lines.stop_before(str(problem))
    if not line.startswith(start) or name != expected or behind:
        lines.stop_before("a file has another name here than in its header")


def _check_differ(lines: DiffLines, header: Header) -> None:
    found = _DIFFER.fullmatch(lines.take("a remark"))
    try:
        fits = found is not None and are_both(
            found[1], b" and ", _old_label(header), _new_label(header)
        )
    except BadName as problem:
        lines.stop_before(str(problem))
    if not fits:
        lines.stop_before("a file has another name here than in its header")


def _bare(lines: DiffLines, header: Header) -> FileChange:
    """A header without content: an empty file, another name, another mode."""
    match header.kind:
        case ChangeKind.ADDED:
            is_whole = is_of_nothing(header.new_oid)
        case ChangeKind.DELETED:
            is_whole = is_of_nothing(header.old_oid)
        case ChangeKind.RENAMED | ChangeKind.COPIED:
            is_whole = header.similarity == 100 and not header.has_index  # noqa: PLR2004 - per cent
        case _:
            is_whole = header.old_mode != header.new_mode and not header.has_index
    if not is_whole:
        lines.stop("the content of a file is missing")
    is_mode = header.kind is ChangeKind.MODIFIED
    return _change(header, kind=ChangeKind.MODE if is_mode else header.kind)


def _change(
    header: Header,
    *,
    kind: ChangeKind | None = None,
    hunks: tuple[Hunk, ...] = (),
    binary_patch: BinaryPatch | None = None,
    is_binary: bool = False,
) -> FileChange:
    return FileChange(
        old_path=None if header.kind is ChangeKind.ADDED else header.old_path,
        new_path=None if header.kind is ChangeKind.DELETED else header.new_path,
        kind=header.kind if kind is None else kind,
        old_mode=header.old_mode,
        new_mode=header.new_mode,
        hunks=hunks,
        is_binary=is_binary,
        old_oid=header.old_oid,
        new_oid=header.new_oid,
        binary=binary_patch,
        similarity=header.similarity,
    )


def _checked(hunks: tuple[Hunk, ...], kind: ChangeKind, lines: DiffLines) -> tuple[Hunk, ...]:
    """A file that comes has nothing before, and one that goes nothing after."""
    if kind is ChangeKind.ADDED and any(hunk.old for hunk in hunks):
        lines.stop_before("a new file has old lines")
    if kind is ChangeKind.DELETED and any(hunk.new for hunk in hunks):
        lines.stop_before("a file that goes has new lines")
    return hunks


def _plain_file(lines: DiffLines) -> FileChange:
    if not lines.begins(_FROM):
        lines.stop("a file `--- a/…` is expected")
    old, new = _plain_name(lines, _FROM, OLD), _plain_name(lines, _TO, NEW)
    if old is None and new is None:
        lines.stop_before("a file has no name")
    kind = ChangeKind.MODIFIED
    if old is None:
        kind = ChangeKind.ADDED
    elif new is None:
        kind = ChangeKind.DELETED
    elif old != new:
        lines.stop_before("a file has two names, and nothing says which becomes of which")
    return FileChange(old, new, kind, hunks=_checked(read_hunks(lines), kind, lines))


def _plain_name(lines: DiffLines, start: bytes, prefix: bytes) -> bytes | None:
    line = lines.take("the name of a file")
    try:
        name, behind = label_of(line[len(start) :])
        if not line.startswith(start) or (behind or b"").startswith(_NO_DATE):
            lines.stop_before("the name of a file is expected, with no date or a real one")
        return None if name == NO_FILE else path_below(name, prefix)
    except BadName as problem:
        lines.stop_before(str(problem))
