"""Reads a document of any kind, for whoever only wants to know what is wrong with it."""

from collections.abc import Callable, Mapping
from typing import Final

from consentry.declare.consentconfig import read_consent_config
from consentry.declare.documentkind import DocumentKind
from consentry.declare.pluginmanifest import read_plugin_manifest
from consentry.declare.pluginpolicy import read_plugin_policy
from consentry.declare.policyfile import read_policy
from consentry.declare.recipefile import read_recipe
from consentry.declare.sandboxconfig import read_sandbox_config
from consentry.declare.settingsfile import read_settings
from consentry.declare.toolindex import read_tool_index
from consentry.declare.toolmanifest import read_tool_manifest
from consentry.declare.toolregistryfile import read_tool_registry
from consentry.declare.wishfile import read_wish
from consentry.surface.protected import ProtectedRoots

_READERS: Final[Mapping[DocumentKind, Callable[[bytes, str], object]]] = {
    DocumentKind.CONSENT_CONFIG: read_consent_config,
    DocumentKind.TOOL_MANIFEST: read_tool_index,
    DocumentKind.POLICY: read_policy,
    DocumentKind.SETTINGS: read_settings,
    DocumentKind.WISH: read_wish,
    DocumentKind.TOOL_REGISTRY: read_tool_registry,
    DocumentKind.RECIPE: read_recipe,
    DocumentKind.PLUGIN: read_plugin_manifest,
    DocumentKind.PLUGIN_POLICY: read_plugin_policy,
}


def read_any(
    kind: DocumentKind, content: bytes, name: str, *, roots: ProtectedRoots | None = None
) -> object:
    """Reads it as that kind, or raises `document-invalid` with all that is wrong with it.

    Args:
        kind: What it is.
        content: The bytes of the document.
        name: How errors call it; `.json` at its end means JSON.
        roots: The protected roots, bound to the homes of this machine; as shipped where not given.
    """
    match kind:
        case DocumentKind.TOOL:
            return read_tool_manifest(content, name, roots=roots)
        case DocumentKind.SANDBOX_CONFIG:
            return read_sandbox_config(content, name, roots=roots)
    return _READERS[kind](content, name)
