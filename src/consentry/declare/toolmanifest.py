"""Reads a tool manifest: one file for each tool, root key `tool` (CONSENT §manifest).

    tool:
      name: make-site
      description: Turn the notes into HTML pages
      version: "2.1.0"
      capabilities:
        fileRead: [{pattern: "notes/**/*.md", purpose: "the notes"}]
        processExecution: [{command: pandoc, arguments: [], purpose: "conversion"}]
      riskLevel: low

`name`, `description`, `version`, `capabilities` and `riskLevel` must be there; what is left out of the
others asks for nothing. Commands and variables are named one by one, without wildcards. A pattern that
`allowedPaths` leaves nothing of is refused, with both lines.
"""

from functools import partial

from consentry.base.canonical import Digest, digest_json
from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.declare.manifestsurface import manifest_surface
from consentry.declare.names import profile_name, tool_name, version
from consentry.declare.nodes import json_of
from consentry.declare.pathentries import GrantCheck, PathEntry, charge
from consentry.declare.quantities import cpu_time, duration, size
from consentry.declare.reader import Parse, parsed, read_document
from consentry.declare.tool import (
    AuditConfig,
    Capabilities,
    ConsentLevel,
    Entrypoint,
    LogLevel,
    Requirements,
    RiskLevel,
    ToolManifest,
)
from consentry.declare.toolcapabilities import CapabilityReading, arguments
from consentry.declare.values import Value, one_of
from consentry.surface.automaton import Work, find_path
from consentry.surface.pattern import Anchor, Pattern
from consentry.surface.protected import ProtectedRoots, protected_roots

_KEYS = (
    "name",
    "displayName",
    "description",
    "version",
    "capabilities",
    "riskLevel",
    "sandboxRequirements",
    "consentLevel",
    "auditConfig",
    "entrypoint",
)
_KEYS_OF_REQUIREMENTS = (
    "isolateFileSystem",
    "restrictNetwork",
    "limitCPU",
    "limitMemory",
    "allowedPaths",
    "profile",
)


def read_tool_manifest(
    content: bytes,
    name: str,
    *,
    roots: ProtectedRoots | None = None,
    parse: Parse = parsed,
) -> ToolManifest:
    """Reads the document, or raises `document-invalid` with all that is wrong with it.

    Args:
        content: The bytes of the document.
        name: How errors call it; `.json` at its end means JSON.
        roots: The protected roots, bound to the homes of this machine; as shipped where not given.
        parse: Where the nodes come from, if not from the text itself.
    """
    reading = _Reading(protected_roots() if roots is None else roots)
    manifest = read_document(content, name, reading.document, parse)
    if manifest is None:
        raise TypeError(f"{name} was read without a problem and without a tool")
    return manifest


class _Reading:
    """The reading of one document, with the work that its comparisons may cost."""

    def __init__(self, roots: ProtectedRoots) -> None:
        self._capabilities = CapabilityReading(GrantCheck(roots))
        self._work = Work()

    def document(self, root: Value) -> ToolManifest | None:
        fields = root.fields(("tool",))
        return None if fields is None else fields.need("tool", partial(self._tool, root), None)

    def _tool(self, root: Value, value: Value) -> ToolManifest | None:
        fields = value.fields(_KEYS)
        if fields is None:
            return None
        name = fields.need("name", tool_name, "")
        manifest = ToolManifest(
            name=name,
            display_name=fields.may("displayName", Value.text, name),
            description=fields.need("description", Value.text, ""),
            version=fields.need("version", version, ""),
            capabilities=fields.need(
                "capabilities", self._capabilities.capabilities, Capabilities()
            ),
            risk=fields.need("riskLevel", one_of(RiskLevel), RiskLevel.CRITICAL),
            requirements=fields.may("sandboxRequirements", _requirements, Requirements()),
            consent_level=fields.may("consentLevel", one_of(ConsentLevel), None),
            audit=fields.may("auditConfig", _audit_config, AuditConfig()),
            entrypoint=fields.may("entrypoint", self._entrypoint, None),
            digest=_digest(root),
            where=value.where,
        )
        self._check_extent(manifest, value)
        return manifest

    def _entrypoint(self, value: Value) -> Entrypoint | None:
        fields = value.fields(("command", "arguments", "workingDirectory"))
        if fields is None:
            return None
        words = fields.may("arguments", arguments, ())
        folder = fields.may("workingDirectory", _folder, ".")
        command = fields.need("command", self._capabilities.command, None)
        return None if command is None else Entrypoint(command, words, folder, value.where)

    def _check_extent(self, manifest: ToolManifest, value: Value) -> None:
        """Notes patterns that are left without effect, or that no surface can be made of."""
        asked, allowed = manifest.capabilities, manifest.requirements.allowed_paths
        entries = [need.entry for need in (*asked.file_read, *asked.file_write)]
        try:
            charge((entry.pattern for entry in (*entries, *(allowed or ()))), self._work)
            for entry in entries if allowed is not None else ():
                self._check_allowed(entry, allowed or (), value)
            manifest_surface(manifest)
        except BadInput as problem:
            value.refuse_for(problem)

    def _check_allowed(
        self, entry: PathEntry, allowed: tuple[PathEntry, ...], value: Value
    ) -> None:
        if entry.pattern.anchor is not Anchor.WORKSPACE:
            return
        if any(find_path((entry.root, each.root), (), self._work) for each in allowed):
            return
        line = f" (line {allowed[0].where.line})" if allowed else ""
        message = f"`{entry.written}` lies outside of allowedPaths{line}, so nothing is left of it"
        value.problems.add_at(entry.where, message, "add its folder there, or leave it out")


def _digest(root: Value) -> Digest:
    try:
        return digest_json(json_of(root.node))
    except (BadInput, ValueError):
        # Only of a document that is refused: every field takes text, flags and small numbers.
        return Digest("")


def _requirements(value: Value) -> Requirements | None:
    fields = value.fields(_KEYS_OF_REQUIREMENTS)
    if fields is None:
        return None
    return Requirements(
        isolate_file_system=fields.may("isolateFileSystem", Value.flag, otherwise=True),
        restrict_network=fields.may("restrictNetwork", Value.flag, otherwise=True),
        cpu=fields.may("limitCPU", cpu_time, None),
        memory=fields.may("limitMemory", size, None),
        allowed_paths=fields.may("allowedPaths", _allowed_paths, None),
        profile=fields.may("profile", profile_name, None),
    )


def _allowed_paths(value: Value) -> tuple[PathEntry, ...] | None:
    return value.each(_allowed_path)


def _allowed_path(value: Value) -> PathEntry | None:
    pattern = value.parsed(_workspace_pattern)
    return None if pattern is None else PathEntry(pattern, value.text() or "", value.where)


def _folder(value: Value) -> str | None:
    pattern = value.parsed(_workspace_pattern)
    if pattern is None:
        return None
    if not (pattern.is_literal or pattern.is_tree):
        value.refuse(f"`{value.text()}` is not one folder", "name a folder, without wildcards")
        return None
    return "/".join(pattern.prefix) or "."


def _workspace_pattern(text: str) -> Pattern:
    pattern = Pattern.parse(text)
    if pattern.anchor is not Anchor.WORKSPACE:
        raise BadInput(
            Code.SURFACE_PATTERN,
            f"`{text}` does not lie in the workspace",
            help_line="write a path relative to the workspace",
        )
    return pattern


def _audit_config(value: Value) -> AuditConfig | None:
    fields = value.fields(("logLevel", "retainLogs", "includeInReport"))
    if fields is None:
        return None
    return AuditConfig(
        fields.may("logLevel", one_of(LogLevel), LogLevel.STANDARD),
        fields.may("retainLogs", duration, None),
        fields.may("includeInReport", Value.flag, otherwise=True),
    )
