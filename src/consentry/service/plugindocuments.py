"""The documents of verified plugins, read from the bytes that were verified: tools and policy entries.

A plugin's tool is called as its file is: `tools/NAME.yaml` is the tool NAME. Among the user's own tools and
plugins a name is there once, and so it is among a workspace's: which of two would run must not depend on
an order. Between the two the usual rule holds, that a name which the user has is the user's.
"""

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

from consentry.base.canonical import digest_bytes
from consentry.base.errors import BadDocument, Problem, Where
from consentry.declare.names import is_tool_name
from consentry.declare.pluginmanifest import MANIFEST_NAME
from consentry.declare.policy import PolicyEntry
from consentry.declare.policyfile import read_policy
from consentry.declare.reader import Parse
from consentry.service.documents import Document, FolderDocuments
from consentry.service.places import ConfigurationFolder, Trust
from consentry.service.plugins import VerifiedPlugin
from consentry.service.tooltable import ToolSource

_SOURCE: Final = "a plugin"


def tool_sources(plugins: Iterable[VerifiedPlugin], *, is_accepted: bool) -> tuple[ToolSource, ...]:
    """Every tool that they bring; raises `document-invalid` for a file that is not called as a tool is."""
    return tuple(
        ToolSource(_tool_name(plugin, file), file, documents, None, is_accepted)
        for plugin in plugins
        for documents in (_documents(plugin),)
        for file in plugin.manifest.tools
    )


def policy_entries(plugins: Iterable[VerifiedPlugin], parse: Parse) -> tuple[PolicyEntry, ...]:
    """Every entry of their policies; raises for a document that cannot be read."""
    return tuple(
        entry
        for plugin in plugins
        for file in plugin.manifest.policies
        for entry in read_policy(
            plugin.content(file), str(plugin.folder / file), parse=parse
        ).entries
    )


def check_names(sources: Iterable[ToolSource]) -> None:
    """Raises where two of the same owner's tools have one name, with the places of both."""
    first: dict[tuple[str, bool], ToolSource] = {}
    for source in sources:
        other = first.setdefault((source.name, source.documents.is_own), source)
        if other is not source:
            message = f"`{source.name}` is already the tool in `{_place(other)}`"
            raise BadDocument([Problem(Where(_place(source)), message, "give one another name")])


def _place(source: ToolSource) -> str:
    return str(source.documents.folder.path / source.file)


def _documents(plugin: VerifiedPlugin) -> FolderDocuments:
    files = (*plugin.manifest.tools, *plugin.manifest.policies)
    trust = Trust.OWN if plugin.is_own else Trust.NOT_ACCEPTED
    folder = ConfigurationFolder(plugin.folder, _SOURCE, trust, exists=True, files=files)
    return FolderDocuments.complete(
        folder,
        [
            Document(str(plugin.folder / file), content, digest_bytes(content))
            for file, content in ((file, plugin.content(file)) for file in files)
        ],
    )


def _tool_name(plugin: VerifiedPlugin, file: str) -> str:
    name = PurePosixPath(file).stem
    if not is_tool_name(name):
        where = Where(str(plugin.folder / MANIFEST_NAME), field="tools")
        message = f"`{file}`: no tool can be called `{name}`"
        raise BadDocument([Problem(where, message, "a tool's file is called as the tool is")])
    return name
