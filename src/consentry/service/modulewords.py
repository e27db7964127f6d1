"""What the codes of imported modules mean, for `consentry explain`: why an action or a package was refused.

They belong to the documents of modules and are no error codes of the product: an action that is rejected is
an answer, and the code in it is one of seven.
"""

from collections.abc import Mapping
from typing import Final

from consentry.decide.capabilitycheck import RejectCode
from consentry.declare.modulecodes import PackageCode

REJECTIONS: Final[Mapping[RejectCode, tuple[str, str]]] = {
    RejectCode.UNKNOWN_ID: (
        "the catalog has no capability of exactly this id",
        "`consentry module catalog` lists the ids; there are no wildcards and no aliases",
    ),
    RejectCode.NOT_REQUESTED: (
        "the package does not ask for a capability that the action needs",
        "have the module's author ask for it, and import that version",
    ),
    RejectCode.NOT_GRANTED: (
        "nobody has granted the capability, it was revoked, or the mode denies it",
        "answer the module's question, and look at `consentry module mode`",
    ),
    RejectCode.GRANT_STALE: (
        (
            "it was granted for another version or content of the module, another major version of the "
            "catalog, or a session that is over"
        ),
        "look at what changed, and answer the module's question again",
    ),
    RejectCode.ESCALATION_DENIED: (
        "a person said no, turned away from the question, or it lost its ground",
        "call the action again to be asked again",
    ),
    RejectCode.ESCALATION_TIMEOUT: (
        "nobody answered the question by its deadline, which is a no",
        "call the action again, and answer in time",
    ),
    RejectCode.POLICY_VIOLATION: (
        "the action broke a rule of the moment, whatever was granted",
        "`consentry grants explain MODULE CAPABILITY` shows the events; the outcome says which rule",
    ),
}
PACKAGES: Final[Mapping[PackageCode, str]] = {
    PackageCode.INVALID_PACKAGE_ROOT: "it is no JSON object, has a key twice, is too deep or too large",
    PackageCode.INVALID_PACKAGE_KEY: "it has a key that no package has, or a description that is no text",
    PackageCode.INVALID_PACKAGE_ABI_VERSION: "`packageAbiVersion` is not the whole number 1",
    PackageCode.INVALID_MODULE_ID: "`moduleId` is no id: 3 to 64 of a-z, 0-9 and -, no - first",
    PackageCode.INVALID_MODULE_VERSION: "`moduleVersion` is not SemVer",
    PackageCode.INVALID_DISPLAY_NAME: "`displayName` says nothing",
    PackageCode.INVALID_COMPATIBILITY: "`compatibility` is not what it must be",
    PackageCode.UNSUPPORTED_PLUGIN_MANIFEST_VERSION: "it is for another version of the plugin manifest",
    PackageCode.UNSUPPORTED_COMMAND_BUS_CONTRACT_VERSION: "it is for another version of the command bus",
    PackageCode.APP_VERSION_OUT_OF_RANGE: "the host's version is not one that it is for",
    PackageCode.MANIFEST_VALIDATION_ERROR: "`pluginManifest` breaks a rule; `detail.manifestCode` says which",
    PackageCode.MODULE_ID_PLUGIN_ID_MISMATCH: "`pluginId` is not its `moduleId`",
    PackageCode.INVALID_COMMAND_BINDINGS_ARRAY: "`commandBindings` is no array",
    PackageCode.INVALID_COMMAND_BINDING: "a binding is not what it must be, or an entry has two",
    PackageCode.INVALID_COMMAND_BINDING_ID: "a `bindingId` says nothing",
    PackageCode.DUPLICATE_COMMAND_BINDING_ID: "two bindings have one id",
    PackageCode.UNKNOWN_UI_ENTRY_ID: "a binding names an entry that is not declared",
    PackageCode.COMMAND_ID_MISMATCH: "a binding and its entry's action name different commands",
    PackageCode.UNKNOWN_COMMAND_ID: "the host has no such command",
    PackageCode.BINDING_MUTATION_SCOPE_MISMATCH: "the command changes something else than is expected",
    PackageCode.MISSING_BINDING_FOR_UI_ACTION: "an entry has an action and no binding",
    PackageCode.INVALID_CAPABILITY_SHAPE: "`capabilitiesRequested` is not an array of texts",
    PackageCode.INVALID_EXTENSION_KEY: "a key of `extensions` does not begin with `x-`",
}
"""Without `capability-unknown-id`, which is one of the seven."""
