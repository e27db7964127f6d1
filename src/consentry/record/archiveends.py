"""The first and the last line of an archive: which one it is, and what it must hold.

The form of the whole file is told in `record.archivefile`.
"""

from dataclasses import asdict, fields
from itertools import pairwise
from typing import Any, Final

from consentry.base.canonical import Digest, Json, canonical_json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Where
from consentry.base.ids import check_id
from consentry.base.values import dataclass
from consentry.record.fields import (
    check_constant,
    check_digest,
    check_text,
    check_whole,
    parse_document,
    placed,
    read_list,
    read_object,
)

SCHEMA_VERSION: Final = 1
KIND: Final = "consentry-archive"
END_KIND: Final = "consentry-archive-end"
ARCHIVE_PREFIX: Final = "archive"


@dataclass(frozen=True, slots=True)
class ArchiveHeader:
    """Which archive this is, of which store, and when it was made."""

    archive_id: str
    store_id: str
    made_at: Instant
    schema_version: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        check_constant("schema_version", self.schema_version, SCHEMA_VERSION, Code.ARCHIVE)
        check_text("archive_id", self.archive_id, Code.ARCHIVE)
        with placed("archive_id", Code.ARCHIVE):
            check_id(self.archive_id, ARCHIVE_PREFIX)
        check_text("store_id", self.store_id, Code.ARCHIVE)


@dataclass(frozen=True, slots=True)
class ArchivedRange:
    """One writer's events: where they begin, what came before, where they end, and how many."""

    writer: str
    first_seq: int
    last_seq: int
    first_prev: Digest
    last_hash: Digest
    events: int

    def __post_init__(self) -> None:
        check_text("writer", self.writer, Code.ARCHIVE)
        check_whole("first_seq", self.first_seq, Code.ARCHIVE, least=1)
        check_whole("last_seq", self.last_seq, Code.ARCHIVE, least=self.first_seq)
        check_digest("first_prev", self.first_prev, Code.ARCHIVE)
        check_digest("last_hash", self.last_hash, Code.ARCHIVE)
        check_whole("events", self.events, Code.ARCHIVE, least=1)


@dataclass(frozen=True, slots=True)
class ArchiveFooter:
    """What an archive holds, and the digest of all bytes before its last line."""

    events: int
    writers: tuple[ArchivedRange, ...]
    sha256: Digest
    schema_version: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        check_constant("schema_version", self.schema_version, SCHEMA_VERSION, Code.ARCHIVE)
        check_whole("events", self.events, Code.ARCHIVE, least=0)
        check_digest("sha256", self.sha256, Code.ARCHIVE)
        for index, (before, after) in enumerate(pairwise(self.writers), 1):
            if before.writer >= after.writer:
                where = Where(field=f"writers[{index}].writer")
                raise BadInput(Code.ARCHIVE, "the writers are not in order", where=where)


def header_line(header: ArchiveHeader) -> bytes:
    """The first line, with its line feed."""
    return _as_line({"kind": KIND, **asdict(header), "made_at": str(header.made_at)})


def read_header(line: bytes) -> ArchiveHeader:
    """Reads what `header_line` writes, and nothing else."""
    values = _read(_parsed(line), KIND, ArchiveHeader)
    check_text("made_at", values["made_at"], Code.ARCHIVE)
    with placed("made_at", Code.ARCHIVE):
        made_at = Instant.parse(values["made_at"])
        if str(made_at) != values["made_at"]:
            raise BadInput(Code.ARCHIVE, "this is not a time with milliseconds")
    return ArchiveHeader(**{**values, "made_at": made_at})


def footer_line(footer: ArchiveFooter) -> bytes:
    """The last line, with its line feed."""
    return _as_line({"kind": END_KIND, **asdict(footer)})


def read_footer(line: bytes) -> ArchiveFooter:
    """Reads what `footer_line` writes, and nothing else."""
    values = _read(_parsed(line), END_KIND, ArchiveFooter)
    ranges = []
    for index, each in enumerate(read_list("writers", values["writers"], Code.ARCHIVE)):
        with placed(f"writers[{index}]", Code.ARCHIVE):
            ranges.append(ArchivedRange(**read_object(each, _names(ArchivedRange), Code.ARCHIVE)))
    return ArchiveFooter(**{**values, "writers": tuple(ranges)})


def _read(document: object, kind: str, shape: type) -> dict[str, Any]:
    values = read_object(document, ("kind", *_names(shape)), Code.ARCHIVE)
    check_constant("kind", values.pop("kind"), kind, Code.ARCHIVE)
    check_constant("schema_version", values["schema_version"], SCHEMA_VERSION, Code.ARCHIVE)
    return values


def _names(shape: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(shape))


def _parsed(line: bytes) -> object:
    document: Any = parse_document(line.removesuffix(b"\n"), Code.ARCHIVE)
    if _as_line(document) != line:
        raise BadInput(Code.ARCHIVE, "this line is not in its canonical form")
    return document


def _as_line(document: Json) -> bytes:
    return canonical_json(document) + b"\n"
