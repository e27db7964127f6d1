"""The tools of a configuration by name; a manifest is read when its tool is asked for.

Where a folder has an index, the index says which tools there are: one without a manifest is an error,
and a manifest that it does not name is no tool. Without an index every `tools/NAME.yaml` is the tool
NAME. Either way a manifest is of the tool it is taken for, or refused. A name that both the user and a
workspace have is the user's own tool; that the workspace wants consent for it still counts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadDocument, Problem, Where
from consentry.base.values import dataclass
from consentry.decide.trust import Ignored
from consentry.declare.index import ToolIndex
from consentry.declare.names import is_tool_name
from consentry.declare.tool import Origin, ToolManifest
from consentry.service.documents import Document, FolderDocuments
from consentry.service.places import TOOLS_FOLDER, ConfigurationFolder

INDEX_FILE: Final = "tool-manifest.yaml"
_ENDING: Final = ".yaml"


@dataclass(frozen=True, slots=True)
class LoadedTool:
    """A tool's manifest, where it came from, and whether that was accepted."""

    manifest: ToolManifest
    file: Path
    origin: Origin
    is_accepted: bool
    requires_consent: bool | None

    @property
    def is_trusted(self) -> bool:
        """Whether it counts in full: the user's own, or accepted by its digest."""
        return self.origin is Origin.OWN or self.is_accepted

    @property
    def counts_as(self) -> Origin:
        """Whose word it is, for whoever asks what of it counts: what was accepted is the user's."""
        return Origin.OWN if self.is_trusted else Origin.WORKSPACE


@dataclass(frozen=True, slots=True)
class ToolSource:
    """Where the manifest of one tool lies, and what an index says of it."""

    name: str
    file: str
    documents: FolderDocuments
    requires_consent: bool | None = None
    is_accepted: bool = False


ReadManifest = Callable[[Document], ToolManifest]


def names_that_count(folder: ConfigurationFolder, index: ToolIndex | None) -> list[str]:
    """The documents of a folder that can have an effect, by their names in it."""
    manifests = set(_manifests(folder))
    known = [name for name in folder.files if name not in manifests]
    if index is not None:
        return [*known, *(entry.file for entry in index.tools)]
    return [*known, *(file for file in _manifests(folder) if is_tool_name(_stem(file)))]


def sources_in(
    documents: FolderDocuments, index: ToolIndex | None, *, is_accepted: bool
) -> tuple[tuple[ToolSource, ...], tuple[Ignored, ...]]:
    """The tools of one folder, and the manifests in it that are no tools."""
    files = _manifests(documents.folder)
    folder = documents.folder.path
    if index is None:
        found = [ToolSource(_stem(file), file, documents, None, is_accepted) for file in files]
        odd = [source for source in found if not is_tool_name(source.name)]
        ignored = [_not_a_tool(folder / source.file) for source in odd]
        return tuple(source for source in found if source not in odd), tuple(ignored)
    sources = []
    for entry in index.tools:
        if documents.find(entry.file) is None:
            message = f"`{entry.name}` has no manifest: there is no `{entry.file}`"
            help_line = f"write `{entry.file}`, or take the tool out of the index"
            raise BadDocument([Problem(entry.where, message, help_line)])
        sources.append(
            ToolSource(entry.name, entry.file, documents, entry.requires_consent, is_accepted)
        )
    listed = {source.file for source in sources}
    unlisted = [
        Ignored(
            Where(str(folder / file)),
            f"is not named in `{INDEX_FILE}`, so it is no tool",
            lowers=False,
        )
        for file in files
        if file not in listed
    ]
    return tuple(sources), tuple(unlisted)


class ToolTable(Mapping[str, LoadedTool]):
    """All tools by name; the folders come in the order they are read, the user's own first."""

    def __init__(self, sources: Sequence[ToolSource], read: ReadManifest) -> None:
        self._read = read
        self._loaded: dict[str, LoadedTool] = {}
        self._sources: dict[str, ToolSource] = {}
        self._wants_consent = {each.name for each in sources if each.requires_consent}
        self.ignored: tuple[Ignored, ...] = ()
        for source in sources:
            kept = self._sources.setdefault(source.name, source)
            if kept is not source:
                where = Where(str(source.documents.folder.path / source.file))
                what = f"`{source.name}` is the tool in `{kept.documents.folder.path / kept.file}`"
                self.ignored += (Ignored(where, what, lowers=False),)

    def __getitem__(self, name: str) -> LoadedTool:
        """The tool, read on first use; raises `document-invalid` where its manifest cannot be read."""
        if name not in self._loaded:
            self._loaded[name] = self._load(self._sources[name])
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)

    def __contains__(self, name: object) -> bool:
        return name in self._sources

    def _load(self, source: ToolSource) -> LoadedTool:
        document = source.documents.find(source.file)
        path = source.documents.folder.path / source.file
        if document is None:
            message = f"the manifest of `{source.name}` is gone"
            raise BadDocument([Problem(Where(str(path)), message, "write it again")])
        manifest = self._read(document)
        if manifest.name != source.name:
            raise BadDocument([_other_tool(manifest, source)])
        return LoadedTool(
            manifest,
            path,
            Origin.OWN if source.documents.is_own else Origin.WORKSPACE,
            source.is_accepted,
            True if source.name in self._wants_consent else source.requires_consent,
        )


def _manifests(folder: ConfigurationFolder) -> list[str]:
    return [name for name in folder.files if name.startswith(f"{TOOLS_FOLDER}/")]


def _stem(file: str) -> str:
    return file.removeprefix(f"{TOOLS_FOLDER}/").removesuffix(_ENDING)


def _not_a_tool(file: Path) -> Ignored:
    what = "is no tool: its name has letters that the name of a tool cannot have"
    return Ignored(Where(str(file)), what, lowers=False)


def _other_tool(manifest: ToolManifest, source: ToolSource) -> Problem:
    message = f"this is the manifest of `{manifest.name}`, and it is taken for `{source.name}`"
    return Problem(manifest.where, message, "give both the same name", Code.DOCUMENT_INVALID)
