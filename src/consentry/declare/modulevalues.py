"""A module package that passed every check, as values (CONTRACTS §1, `HeavyModulePackageV1`).

Only `declare.modulepackage` makes one. It is data: interface entries, bindings of entries to commands of
the host, and the capabilities it asks for. `digest` is over canonical JSON of the whole document, so that
two files that differ only in white space and the order of keys are one package.
"""

from collections.abc import Mapping
from enum import StrEnum

from consentry.base.canonical import Digest, Json
from consentry.base.values import dataclass, field
from consentry.declare.hostdescription import MutationScope


class Slot(StrEnum):
    """Where in a host an entry can be shown; there are no others."""

    CHROME_TOP_TOOLBAR = "chrome-top-toolbar"
    LEFT_PANEL = "left-panel"
    TOOLBAR_INLINE = "toolbar-inline"
    TOOLBAR_BOTTOM = "toolbar-bottom"


class EntryType(StrEnum):
    """What an entry is."""

    BUTTON = "button"
    PANEL = "panel"


@dataclass(frozen=True, slots=True)
class UiAction:
    """What an entry calls when a person uses it."""

    command_id: str
    payload: Json = None


@dataclass(frozen=True, slots=True)
class UiEntry:
    """One declared entry of a module's interface."""

    entry_id: str
    slot: Slot
    type: EntryType
    label: str | None = None
    action: UiAction | None = None


@dataclass(frozen=True, slots=True)
class CommandBinding:
    """Binds an entry that has an action to a command of the host.

    `payload` is the binding's own, or else that of the entry's action.
    """

    binding_id: str
    ui_entry_id: str
    command_id: str
    payload: Json = None
    context: Json = None
    expected_scope: MutationScope | None = None


@dataclass(frozen=True, slots=True)
class ModulePackage:
    """One version of one module; `capabilities` are trimmed, each once, in ascending order."""

    module_id: str
    module_version: str
    display_name: str
    description: str | None
    min_app_version: str | None
    max_app_version_exclusive: str | None
    entries: tuple[UiEntry, ...]
    bindings: tuple[CommandBinding, ...]
    capabilities: tuple[str, ...]
    extensions: Mapping[str, Json]
    digest: Digest
    document: Mapping[str, Json] = field(repr=False, compare=False)

    def entry(self, entry_id: str) -> UiEntry | None:
        """The entry with exactly this id."""
        return next((each for each in self.entries if each.entry_id == entry_id), None)

    def binding(self, binding_id: str) -> CommandBinding | None:
        """The binding with exactly this id."""
        return next((each for each in self.bindings if each.binding_id == binding_id), None)
