"""Reads the plugin manifest of a module package: which entries it has for a host to show (CONTRACTS §1).

Keys of the manifest and of an entry are checked in the order of the table: `manifestVersion`, `pluginId`,
`ui`, and `id`, `slot`, `type`, `label`, `action`; keys that are unknown come before the others of the same
object. A `pluginId` that is missing or no text is not the module's id, and is refused as any other that
differs. There are four slots and two types: an entry cannot make a new one.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, TypeVar, cast

from consentry.base.canonical import Json
from consentry.declare.modulecodes import ManifestCode, PackageCode, PackageRejected
from consentry.declare.modulefields import first_unknown, found, is_name, is_one, key_path, shown
from consentry.declare.modulevalues import EntryType, Slot, UiAction, UiEntry

PATH: Final = "package.pluginManifest"
KEYS: Final = ("manifestVersion", "pluginId", "ui")
KEYS_OF_ENTRY: Final = ("id", "slot", "type", "label", "action")
KEYS_OF_ACTION: Final = ("commandId", "payload")

_NAME = "a text with something in it"
_Word = TypeVar("_Word", bound=StrEnum)


def read_entries(package: Mapping[str, object], module_id: str) -> tuple[UiEntry, ...]:
    """The entries of the manifest in their order, or raises."""
    manifest = package.get("pluginManifest")
    if not isinstance(manifest, dict):
        raise _wrong(ManifestCode.INVALID_ROOT, PATH, found(package, "pluginManifest", "an object"))
    _check_keys(manifest, KEYS, PATH)
    if not is_one(manifest.get("manifestVersion")):
        message = found(manifest, "manifestVersion", "the whole number 1")
        raise _wrong(ManifestCode.INVALID_MANIFEST_VERSION, f"{PATH}.manifestVersion", message)
    if manifest.get("pluginId") != module_id:
        message = found(manifest, "pluginId", f"the `moduleId` of the package, `{module_id}`")
        raise PackageRejected(PackageCode.MODULE_ID_PLUGIN_ID_MISMATCH, f"{PATH}.pluginId", message)
    listed = manifest.get("ui")
    if not isinstance(listed, list):
        message = found(manifest, "ui", "an array")
        raise _wrong(ManifestCode.INVALID_UI_ARRAY, f"{PATH}.ui", message)
    places: dict[str, int] = {}
    return tuple(_entry(each, index, places) for index, each in enumerate(listed))


def entry_path(index: int) -> str:
    """How errors call an entry."""
    return f"{PATH}.ui[{index}]"


def _entry(document: object, index: int, places: dict[str, int]) -> UiEntry:
    path = entry_path(index)
    if not isinstance(document, dict):
        message = f"{shown(document)} is not an object"
        raise _wrong(ManifestCode.INVALID_ENTRY, path, message)
    _check_keys(document, KEYS_OF_ENTRY, path)
    entry_id = document.get("id")
    if not is_name(entry_id):
        message = found(document, "id", _NAME)
        raise _wrong(ManifestCode.INVALID_ENTRY, f"{path}.id", message)
    if places.setdefault(entry_id, index) != index:
        message = f"{shown(entry_id)} is already the id of entry {places[entry_id]}"
        raise _wrong(ManifestCode.DUPLICATE_ENTRY_ID, f"{path}.id", message)
    slot = _word(document, "slot", Slot, ManifestCode.UNKNOWN_SLOT, path)
    kind = _word(document, "type", EntryType, ManifestCode.UNKNOWN_TYPE, path)
    label = document.get("label")
    if "label" in document and not isinstance(label, str):
        message = found(document, "label", "a text")
        raise _wrong(ManifestCode.INVALID_ENTRY, f"{path}.label", message)
    action = _action(document, path) if "action" in document else None
    return UiEntry(entry_id, slot, kind, cast(str | None, label), action)


def _word(
    document: Mapping[str, object], key: str, words: type[_Word], unknown: ManifestCode, path: str
) -> _Word:
    said = document.get(key)
    if not isinstance(said, str):
        message = found(document, key, "a text")
        raise _wrong(ManifestCode.INVALID_ENTRY, f"{path}.{key}", message)
    try:
        return words(said)
    except ValueError:
        message = f"{shown(said)} is not one of {', '.join(words)}"
        raise _wrong(unknown, f"{path}.{key}", message) from None


def _action(entry: Mapping[str, object], path: str) -> UiAction:
    document = entry["action"]
    if not isinstance(document, dict):
        message = found(entry, "action", "an object")
        raise _wrong(ManifestCode.INVALID_ACTION, f"{path}.action", message)
    _check_keys(document, KEYS_OF_ACTION, f"{path}.action")
    command_id = document.get("commandId")
    if not is_name(command_id):
        message = found(document, "commandId", _NAME)
        raise _wrong(ManifestCode.INVALID_ACTION, f"{path}.action.commandId", message)
    return UiAction(command_id, cast(Json, document.get("payload")))


def _check_keys(document: Mapping[str, object], known: tuple[str, ...], path: str) -> None:
    unknown = first_unknown(document, known)
    if unknown is not None:
        message = f"the key {shown(unknown)} is not one of {', '.join(known)}"
        raise _wrong(ManifestCode.UNKNOWN_KEY, key_path(path, unknown), message)


def _wrong(code: ManifestCode, path: str, message: str) -> PackageRejected:
    detail = {"manifestCode": code.value}
    return PackageRejected(PackageCode.MANIFEST_VALIDATION_ERROR, path, message, detail)
