"""The files of a preview: what patterns match now, and what of it could be lost.

Names of files are spelled as patterns are, so that a name that is not UTF-8 has a spelling too;
nothing here is escaped for a terminal or a page yet.
"""

from enum import StrEnum

from consentry.base.canonical import Json
from consentry.base.units import Duration
from consentry.base.values import dataclass, field
from consentry.decide.fields import Fields, check_text, check_texts, problem


class Extent(StrEnum):
    """How far the files of a pattern were counted: all, up to a bound, or not at all."""

    WHOLE = "whole"
    AT_LEAST = "at_least"
    NOT_COUNTED = "not_counted"


@dataclass(frozen=True, slots=True)
class Found:
    """The files that a pattern matches now: how many, how large together, and the first of them."""

    extent: Extent = Extent.NOT_COUNTED
    files: int = 0
    bytes: int = 0
    examples: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_counts(self.files, self.bytes)
        check_texts("examples", self.examples)

    def to_json(self) -> dict[str, Json]:
        """The fields as they are kept."""
        return {
            "extent": self.extent.value,
            "files": self.files,
            "bytes": self.bytes,
            "examples": list(self.examples),
        }

    @classmethod
    def from_json(cls, document: object) -> "Found":
        """Reads what `to_json` writes."""
        fields = Fields(document, ("extent", "files", "bytes", "examples"))
        return cls(
            fields.member("extent", Extent),
            fields.whole("files"),
            fields.whole("bytes"),
            fields.texts("examples"),
        )


@dataclass(frozen=True, slots=True)
class FileUse:
    """One pattern of the surface, what for in the author's words, and what it matches now.

    `purpose` is None where no line of the manifest asks for it: a profile opens it.
    """

    pattern: str
    purpose: str | None
    found: Found = field(default_factory=Found)

    def __post_init__(self) -> None:
        check_text("pattern", self.pattern)

    def to_json(self) -> dict[str, Json]:
        """The fields as they are kept."""
        return {"pattern": self.pattern, "purpose": self.purpose, "found": self.found.to_json()}

    @classmethod
    def from_json(cls, document: object) -> "FileUse":
        """Reads what `to_json` writes."""
        fields = Fields(document, ("pattern", "purpose", "found"))
        return cls(
            fields.text("pattern"),
            fields.optional_text("purpose"),
            Found.from_json(fields.value("found")),
        )


@dataclass(frozen=True, slots=True)
class ExistingFile:
    """A file that is there now and that the tool could change or delete."""

    path: str
    bytes: int

    def __post_init__(self) -> None:
        check_text("path", self.path)
        _check_counts(0, self.bytes)

    def to_json(self) -> dict[str, Json]:
        """The fields as they are kept."""
        return {"path": self.path, "bytes": self.bytes}

    @classmethod
    def from_json(cls, document: object) -> "ExistingFile":
        """Reads what `to_json` writes."""
        fields = Fields(document, ("path", "bytes"))
        return cls(fields.text("path"), fields.whole("bytes"))


@dataclass(frozen=True, slots=True)
class Impact:
    """What is there now and could be changed or deleted, each file once, the largest first.

    `kept_for` is how long a commit can be undone; None where nothing can be, because the tool
    writes to the files at once.
    """

    extent: Extent
    files: int
    bytes: int
    largest: tuple[ExistingFile, ...]
    kept_for: Duration | None

    def __post_init__(self) -> None:
        _check_counts(self.files, self.bytes)

    def to_json(self) -> dict[str, Json]:
        """The fields as they are kept."""
        return {
            "extent": self.extent.value,
            "files": self.files,
            "bytes": self.bytes,
            "largest": [each.to_json() for each in self.largest],
            "keptFor": None if self.kept_for is None else str(self.kept_for),
        }

    @classmethod
    def from_json(cls, document: object) -> "Impact":
        """Reads what `to_json` writes."""
        fields = Fields(document, ("extent", "files", "bytes", "largest", "keptFor"))
        return cls(
            fields.member("extent", Extent),
            fields.whole("files"),
            fields.whole("bytes"),
            fields.parts("largest", ExistingFile.from_json),
            fields.optional_amount("keptFor", Duration),
        )


def _check_counts(files: int, size: int) -> None:
    """Raises where there are fewer than none."""
    if files < 0 or size < 0:
        raise problem("files" if files < 0 else "bytes", "there cannot be fewer than none")
