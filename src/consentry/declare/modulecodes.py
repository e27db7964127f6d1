"""Why a module package is refused: one code and one place, the same every time (CONTRACTS §1, §12).

The words are those of the import's own wire format, so they live here and not among the product's codes:
whoever imports a package finds `module-rejected` there, and in the envelope the code of this table. Members
stand in the order in which a package is checked.

Text of a package in a message stands in backticks and is clipped, so that no package decides how long its
refusal is; it is escaped where it is shown.
"""

from collections.abc import Mapping
from enum import StrEnum

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Where


class PackageCode(StrEnum):
    """What a package can be refused with."""

    INVALID_PACKAGE_ROOT = "invalid-package-root"
    INVALID_PACKAGE_KEY = "invalid-package-key"
    INVALID_PACKAGE_ABI_VERSION = "invalid-package-abi-version"
    INVALID_MODULE_ID = "invalid-module-id"
    INVALID_MODULE_VERSION = "invalid-module-version"
    INVALID_DISPLAY_NAME = "invalid-display-name"
    INVALID_COMPATIBILITY = "invalid-compatibility"
    UNSUPPORTED_PLUGIN_MANIFEST_VERSION = "unsupported-plugin-manifest-version"
    UNSUPPORTED_COMMAND_BUS_CONTRACT_VERSION = "unsupported-command-bus-contract-version"
    APP_VERSION_OUT_OF_RANGE = "app-version-out-of-range"
    MANIFEST_VALIDATION_ERROR = "manifest-validation-error"
    MODULE_ID_PLUGIN_ID_MISMATCH = "module-id-plugin-id-mismatch"
    INVALID_COMMAND_BINDINGS_ARRAY = "invalid-command-bindings-array"
    INVALID_COMMAND_BINDING = "invalid-command-binding"
    INVALID_COMMAND_BINDING_ID = "invalid-command-binding-id"
    DUPLICATE_COMMAND_BINDING_ID = "duplicate-command-binding-id"
    UNKNOWN_UI_ENTRY_ID = "unknown-ui-entry-id"
    COMMAND_ID_MISMATCH = "command-id-mismatch"
    UNKNOWN_COMMAND_ID = "unknown-command-id"
    BINDING_MUTATION_SCOPE_MISMATCH = "binding-mutation-scope-mismatch"
    MISSING_BINDING_FOR_UI_ACTION = "missing-binding-for-ui-action"
    INVALID_CAPABILITY_SHAPE = "invalid-capability-shape"
    INVALID_EXTENSION_KEY = "invalid-extension-key"
    CAPABILITY_UNKNOWN_ID = "capability-unknown-id"


class ManifestCode(StrEnum):
    """What `manifest-validation-error` is about, as `detail.manifestCode`."""

    INVALID_ROOT = "invalid-root"
    UNKNOWN_KEY = "unknown-key"
    INVALID_MANIFEST_VERSION = "invalid-manifest-version"
    INVALID_UI_ARRAY = "invalid-ui-array"
    INVALID_ENTRY = "invalid-entry"
    DUPLICATE_ENTRY_ID = "duplicate-entry-id"
    UNKNOWN_SLOT = "unknown-slot"
    UNKNOWN_TYPE = "unknown-type"
    INVALID_ACTION = "invalid-action"


class PackageRejected(BadInput):
    """A module package that is not imported: the first rule it breaks, and where.

    `code` is the product's; `package_code` is the one of the import's contract.
    """

    def __init__(
        self,
        package_code: PackageCode,
        path: str,
        message: str,
        detail: Mapping[str, Json] | None = None,
    ) -> None:
        super().__init__(Code.MODULE_REJECTED, message, where=Where(field=path))
        self.package_code = package_code
        self.path = path
        self.detail = detail

    def envelope(self) -> dict[str, Json]:
        """The answer to an import that failed; `detail` is there only where it says something."""
        answer: dict[str, Json] = {
            "ok": False,
            "code": self.package_code.value,
            "path": self.path,
            "message": self.message,
        }
        if self.detail is not None:
            answer["detail"] = dict(self.detail)
        return answer
