"""The configuration that counts: the user's own documents, and a workspace's as far as they may.

`Effective` is what every command goes by; nothing else reads these documents. The order: the user's
folder, on top of it the workspace's; a folder named with `--config` replaces both. What lies in the
workspace is a stranger's and may only make things stricter until the user has accepted the digest of
all its documents together (`decide.trust`). A tool's manifest is read when the tool is asked for.

Plugins are verified before anything of them joins (`plugins`): the user's own always, a workspace's once
it is accepted together with their lock. One that does not pass stops the command with `PluginRejected`.

A document that cannot be read stops the command with its place, whosesoever it is: a configuration of
which a part is missing might be a looser one.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused, UsageProblem, Where
from consentry.base.nearest import closest
from consentry.base.units import Size
from consentry.base.values import dataclass, replace
from consentry.decide.acceptance import Accepted, digest_of_files
from consentry.decide.levels import LevelDecision, level_for
from consentry.decide.policyhash import policy_hash
from consentry.decide.profiletrust import merged_sandbox, strangers_share
from consentry.decide.trust import Ignored, merged_consent, merged_policy
from consentry.declare.consent import ConsentConfig
from consentry.declare.consentconfig import read_consent_config
from consentry.declare.index import ToolIndex
from consentry.declare.policy import Policy, PolicyEntry
from consentry.declare.policyfile import read_policy
from consentry.declare.preferences import OwnSettings
from consentry.declare.profile import DeclaredLimits, Profile, SandboxConfig
from consentry.declare.sandboxconfig import read_sandbox_config
from consentry.declare.settingsfile import read_settings
from consentry.declare.tool import ToolManifest
from consentry.declare.toolindex import read_tool_index, usual_file
from consentry.declare.toolmanifest import read_tool_manifest
from consentry.enforce.confinement import Limits
from consentry.service.documentcache import DocumentCache
from consentry.service.documents import Document, FolderDocuments
from consentry.service.places import (
    PLUGINS_FOLDER,
    PLUGINS_LOCK,
    Configuration,
    Workspace,
    find_configuration,
)
from consentry.service.protection import protected_here
from consentry.service.statedir import find_state
from consentry.service.surroundings import Surroundings
from consentry.service.tooltable import (
    INDEX_FILE,
    LoadedTool,
    ToolSource,
    ToolTable,
    names_that_count,
    sources_in,
)
from consentry.service.workspaceprograms import programs_in
from consentry.surface.catalog import capability_catalog

if TYPE_CHECKING:
    from consentry.service.configuredplugins import FoundPlugins
    from consentry.service.plugins import VerifiedPlugin

__all__ = ["Effective", "LoadedTool", "load_configuration"]

CONSENT_FILE: Final = "consent-config.yaml"
SANDBOX_FILE: Final = "sandbox-config.yaml"
POLICY_FILE: Final = "policy.yaml"
SETTINGS_FILE: Final = "settings.yaml"
USUAL_LIMITS: Final = DeclaredLimits(written=Size(Limits().written_bytes))
_PROGRAMS: Final = "`consentry exec -- PROGRAM` runs a program that has no manifest"

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class Effective:
    """Everything that counts here, and what does not.

    `strangers` has the digest of every document of the workspace's, and where any was ever accepted
    of every program in the workspace that its tools start; `is_accepted` says whether they were
    accepted as they are. Where there are none, there is nothing to accept. `files` are the documents
    that were read for it, `strangers_tools` the manifests whose programs were looked for.
    """

    consent: ConsentConfig
    sandbox: SandboxConfig
    policy: tuple[PolicyEntry, ...]
    settings: OwnSettings
    tools: Mapping[str, LoadedTool]
    ignored: tuple[Ignored, ...]
    policy_hash: Digest
    folders: Configuration
    strangers: Mapping[str, Digest]
    is_accepted: bool
    files: tuple[Path, ...] = ()
    strangers_tools: tuple[ToolManifest, ...] = ()
    plugins: "tuple[VerifiedPlugin, ...]" = ()

    def tool(self, name: str) -> LoadedTool:
        """The tool of that name, or `tool-unknown` with the one that was probably meant."""
        if name in self.tools:
            return self.tools[name]
        message = f"there is no tool `{name}` here"
        left_out = f"/{usual_file(name)}"
        for each in self.ignored:
            if (each.where.file or "").endswith(left_out):
                raise UsageProblem(Code.TOOL_UNKNOWN, f"{message}: `{each.where.file}` {each.what}")
        raise UsageProblem(Code.TOOL_UNKNOWN, message, help_line=self._instead_of(name))

    def _instead_of(self, name: str) -> str | None:
        nearest = closest(name, self.tools)
        if nearest is not None:
            return f"did you mean `{nearest}`?"
        if not self.tools:
            return f"no tool is known here: `consentry init` begins with some; {_PROGRAMS}"
        return f"`consentry tool list` has their names; {_PROGRAMS}" if "/" in name else None

    def level_of(self, tool: LoadedTool) -> LevelDecision:
        """The level that the tool has here; raises where the configuration denies it."""
        return level_for(
            self.consent,
            tool.manifest,
            requires_consent=tool.requires_consent,
            is_trusted=tool.is_trusted,
        )

    def profile_of(self, tool: LoadedTool) -> Profile | None:
        """The profile that the tool's manifest names, as far as it counts for it; None if none is."""
        requirements = tool.manifest.requirements
        if requirements.profile is None:
            return None
        profile = self.sandbox.profiles.get(requirements.profile)
        if profile is None:
            nearest = closest(requirements.profile, self.sandbox.profiles)
            help_line = (
                f"write it into `{SANDBOX_FILE}`"
                if nearest is None
                else f"did you mean `{nearest}`?"
            )
            message = f"there is no profile `{requirements.profile}` here"
            raise UsageProblem(
                Code.FILE_UNUSABLE, message, where=tool.manifest.where, help_line=help_line
            )
        return profile if tool.is_trusted else strangers_share(profile, USUAL_LIMITS)


def load_configuration(
    around: Surroundings,
    workspace: Workspace,
    named: str | None,
    accepted: Accepted,
) -> Effective:
    """What counts in this workspace; raises for the first document that cannot be read.

    Args:
        around: What the command was started in.
        workspace: Where it is to run.
        named: The folder of `--config`, which then is the only one.
        accepted: Which digests the user has accepted.
    """
    folders = find_configuration(around, workspace, named)
    for folder in folders.folders:
        for concern in folder.concerns:
            raise Refused(concern.code, concern.message, help_line=concern.help_line)
    documents = [FolderDocuments(folder) for folder in folders.folders if folder.exists]
    kept = _place_to_keep(around, workspace) if documents else None
    loading = _Loading(around, DocumentCache(kept))
    strangers: dict[str, Digest] = {}
    for each in documents:
        if not each.is_own:
            each.read_all(names_that_count(each.folder, loading.index(each)))
            strangers |= each.digests(workspace.path)
    place = str(workspace.path)
    plugins = _found_plugins(around, folders, workspace, named, accepted)
    if plugins is not None:
        strangers |= plugins.locks
    manifests: tuple[ToolManifest, ...] = ()
    if strangers and accepted.has_any(place):
        manifests = tuple(loading.strangers_manifests(documents, plugins))
        strangers |= programs_in(workspace.path, manifests, around)
        is_accepted = accepted.is_accepted(place, digest_of_files(strangers))
    else:
        is_accepted = False
    for each in documents:
        loading.add(each, is_accepted=is_accepted)
    if plugins is not None:
        loading.add_plugins(plugins, is_accepted=is_accepted)
    effective = loading.effective(folders, strangers, is_accepted=is_accepted)
    files = tuple(file for each in documents for file in each.read_files)
    counting = () if plugins is None else plugins.counting(is_accepted=is_accepted)
    return replace(effective, files=files, strangers_tools=manifests, plugins=counting)


def _found_plugins(
    around: Surroundings,
    folders: Configuration,
    workspace: Workspace,
    named: str | None,
    accepted: Accepted,
) -> "FoundPlugins | None":
    """The plugins, where there is any place for them; else a look each is all that it costs."""
    places = [folder.path / PLUGINS_FOLDER for folder in folders.folders if folder.exists]
    if named is None:
        places.append(workspace.path / PLUGINS_LOCK)
    if not any(map(os.path.lexists, places)):
        return None
    from consentry.service.configuredplugins import find_plugins  # noqa: PLC0415 - few have any

    return find_plugins(around, folders, workspace, named, accepted)


def _place_to_keep(around: Surroundings, workspace: Workspace) -> Path | None:
    """The state directory, where it is there and safe; what is kept in it only saves time."""
    try:
        state = find_state(around, workspace)
    except ConsentryError:
        return None
    return state.real if state.exists and not state.concerns else None


class _Loading:
    """Folders one after the other, each on top of what is there."""

    def __init__(self, around: Surroundings, cache: DocumentCache) -> None:
        self._around = around
        self._cache = cache
        self._roots = protected_here(around)
        self._consent = ConsentConfig()
        self._sandbox = SandboxConfig()
        self._policy = Policy()
        self._settings = OwnSettings()
        self._tools: list[ToolSource] = []
        self._ignored: list[Ignored] = []

    def index(self, documents: FolderDocuments) -> ToolIndex | None:
        """The index of a folder, if it has one."""
        return self._read(documents, INDEX_FILE, read_tool_index)

    def strangers_manifests(
        self, documents: Iterable[FolderDocuments], plugins: "FoundPlugins | None"
    ) -> list[ToolManifest]:
        """Every manifest that is not the user's own."""
        found = [
            sources_in(each, self.index(each), is_accepted=False)[0]
            for each in documents
            if not each.is_own
        ]
        if plugins is not None:
            from consentry.service.plugindocuments import tool_sources  # noqa: PLC0415 - as above

            found.append(tool_sources(plugins.strangers, is_accepted=False))
        tables = (ToolTable(sources, self._manifest) for sources in found)
        return [tool.manifest for table in tables for tool in table.values()]

    def add_plugins(self, plugins: "FoundPlugins", *, is_accepted: bool) -> None:
        """Lets the plugins join that count; the user's own stand before all of a workspace's."""
        from consentry.service.plugindocuments import (  # noqa: PLC0415 - as above
            check_names,
            policy_entries,
            tool_sources,
        )

        counting = plugins.counting(is_accepted=is_accepted)
        own = [each for each in counting if each.is_own]
        others = [each for each in counting if not each.is_own]
        self._tools += tool_sources(own, is_accepted=False)
        self._tools += tool_sources(others, is_accepted=is_accepted)
        self._tools.sort(key=lambda source: not source.documents.is_own)
        check_names(self._tools)
        entries = policy_entries(counting, self._cache.parse)
        self._policy = Policy((*self._policy.entries, *entries))
        self._ignored += plugins.ignored(is_accepted=is_accepted)

    def add(self, documents: FolderDocuments, *, is_accepted: bool) -> None:
        """Puts a folder on top of what is there, as far as it counts."""
        consent = self._read(documents, CONSENT_FILE, read_consent_config)
        read_sandbox = partial(read_sandbox_config, roots=self._roots)
        sandbox = self._read(documents, SANDBOX_FILE, read_sandbox)
        policy = self._read(documents, POLICY_FILE, read_policy)
        settings = self._read(documents, SETTINGS_FILE, read_settings)
        if documents.is_own:
            self._consent = consent or self._consent
            self._sandbox = sandbox or self._sandbox
            self._policy = policy or self._policy
            self._settings = settings or self._settings
        else:
            self._merge(documents, consent, sandbox, is_accepted=is_accepted)
            entries, ignored = merged_policy(
                self._policy, policy or Policy(), is_accepted=is_accepted
            )
            self._policy = Policy(entries)
            self._ignored += ignored
            if settings is not None:
                where = Where(str(documents.folder.path / SETTINGS_FILE))
                self._ignored.append(
                    Ignored(where, "settings count only if they are your own", lowers=False)
                )
        sources, ignored = sources_in(documents, self.index(documents), is_accepted=is_accepted)
        self._tools += sources
        self._ignored += ignored

    def _merge(
        self,
        documents: FolderDocuments,
        consent: ConsentConfig | None,
        sandbox: SandboxConfig | None,
        *,
        is_accepted: bool,
    ) -> None:
        folder = documents.folder.path
        if consent is not None:
            file = str(folder / CONSENT_FILE)
            merged = merged_consent(self._consent, consent, file, is_accepted=is_accepted)
            self._consent = merged.consent
            self._ignored += merged.ignored
        if sandbox is not None:
            file = str(folder / SANDBOX_FILE)
            boxes = merged_sandbox(
                self._sandbox, sandbox, file, USUAL_LIMITS, is_accepted=is_accepted
            )
            self._sandbox = boxes.sandbox
            self._ignored += boxes.ignored

    def effective(
        self, folders: Configuration, strangers: Mapping[str, Digest], *, is_accepted: bool
    ) -> Effective:
        """All of it, once every folder was added."""
        tools = ToolTable(self._tools, self._manifest)
        return Effective(
            self._consent,
            self._sandbox,
            self._policy.entries,
            self._settings,
            tools,
            (*self._ignored, *tools.ignored),
            policy_hash(
                self._consent,
                self._sandbox,
                self._policy.entries,
                protected_roots=self._roots.digest,
                catalog_version=capability_catalog().version,
            ),
            folders,
            MappingProxyType(dict(strangers)),
            is_accepted,
        )

    def _manifest(self, document: Document) -> ToolManifest:
        return read_tool_manifest(
            document.content, document.name, roots=self._roots, parse=self._cache.parse
        )

    def _read(
        self, documents: FolderDocuments, name: str, read: Callable[..., Read]
    ) -> Read | None:
        document = documents.find(name)
        if document is None:
            return None
        return read(document.content, document.name, parse=self._cache.parse)
