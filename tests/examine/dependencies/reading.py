"""Reads a file as the guard would, by its path, and gives what was found in short form."""

from consentry.base.values import dataclass
from consentry.examine.atoms import Extraction, Provenance
from consentry.examine.filekinds import extract_file, kind_of


@dataclass(frozen=True, slots=True)
class Read:
    """What a file gives: pairs of operation and target, and keys of what is not classified."""

    extraction: Extraction

    @property
    def powers(self) -> set[tuple[str, str]]:
        """All powers, whatever says so."""
        return {(str(f.atom.operation), f.atom.target) for f in self.extraction.found}

    @property
    def declared(self) -> set[tuple[str, str]]:
        """Powers that come with a dependency."""
        return {
            (str(f.atom.operation), f.atom.target)
            for f in self.extraction.found
            if f.provenance is Provenance.DECLARED
        }

    @property
    def unknown(self) -> set[str]:
        """Keys of what is not classified."""
        return {each.key for each in self.extraction.unclassified}

    @property
    def hosts(self) -> set[str]:
        """Targets of the network."""
        return {target for operation, target in self.powers if operation == "connect"}

    @property
    def programs(self) -> set[str]:
        """Programs that are started."""
        return {target for operation, target in self.powers if operation == "start"}

    @property
    def variables(self) -> set[str]:
        """Variables that are seen."""
        return {target for operation, target in self.powers if operation == "see"}

    def lines_of(self, operation: str, target: str) -> set[int]:
        """Where a power was found."""
        return {
            f.line
            for f in self.extraction.found
            if (str(f.atom.operation), f.atom.target) == (operation, target)
        }

    @property
    def is_unreadable(self) -> bool:
        """Whether something could not be read at all."""
        return any(key.startswith(("unreadable ", "language ")) for key in self.unknown)


def read(path: str, content: str | bytes, *, executable: bool = False) -> Read:
    """What the file at that path gives."""
    raw = content.encode() if isinstance(content, str) else content
    return Read(extract_file(kind_of(path, raw, executable=executable), raw, path=path))
