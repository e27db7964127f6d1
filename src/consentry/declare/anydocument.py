"""Reads a document of any kind, for whoever only wants to know what is wrong with it."""

from consentry.declare.consentconfig import read_consent_config
from consentry.declare.documentkind import DocumentKind
from consentry.declare.policyfile import read_policy
from consentry.declare.sandboxconfig import read_sandbox_config
from consentry.declare.settingsfile import read_settings
from consentry.declare.toolindex import read_tool_index
from consentry.declare.toolmanifest import read_tool_manifest
from consentry.surface.protected import ProtectedRoots


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
        case DocumentKind.CONSENT_CONFIG:
            return read_consent_config(content, name)
        case DocumentKind.TOOL:
            return read_tool_manifest(content, name, roots=roots)
        case DocumentKind.SANDBOX_CONFIG:
            return read_sandbox_config(content, name, roots=roots)
        case DocumentKind.TOOL_MANIFEST:
            return read_tool_index(content, name)
        case DocumentKind.POLICY:
            return read_policy(content, name)
        case DocumentKind.SETTINGS:
            return read_settings(content, name)
