"""Reads a module package, `HeavyModulePackageV1`: bytes in, a `ModulePackage` or one refusal out.

The order of checks is fixed (CONTRACTS §1-order), and the first rule that is broken is the answer:

    1  root and keys                    that it is JSON (`moduletext`), an object, with known keys
    2  core metadata                    ABI version, id, version, name, description
    3  compatibility                    `modulecompatibility`
    4  plugin manifest                  `modulemanifest`
    5  command bindings                 `modulebindings`
    6  capability and extension shape   `modulecapabilities`, and here

Inside a step keys come in the order of the contract's table, unknown ones before the others and ascending,
arrays by index. Only a whole package is a value; nothing is repaired, guessed or left out, and nothing in
it is ever executed. Whether its capabilities are in the catalog is asked afterwards
(`modulecapabilities.check_capabilities`).

Where the table is silent: a name or id of white space is as empty as an empty one; a key that is optional
may be left out and not be `null`, except for the two bounds of the application's version.
"""

import re
from collections.abc import Mapping
from typing import Final, cast

from consentry.base.canonical import Json, digest_json
from consentry.base.errors import BadInput
from consentry.base.semver import SemVer
from consentry.declare.hostdescription import HostDescription
from consentry.declare.modulebindings import read_bindings
from consentry.declare.modulecapabilities import read_capabilities
from consentry.declare.modulecodes import PackageCode, PackageRejected
from consentry.declare.modulecompatibility import read_compatibility
from consentry.declare.modulefields import first_unknown, found, is_name, is_one, key_path, shown
from consentry.declare.modulemanifest import read_entries
from consentry.declare.moduletext import MOST_BYTES, MOST_DEPTH, parse_package
from consentry.declare.modulevalues import ModulePackage

__all__ = ["KEYS", "MODULE_ID", "MOST_BYTES", "MOST_DEPTH", "read_package"]

KEYS: Final = (
    "packageAbiVersion",
    "moduleId",
    "moduleVersion",
    "displayName",
    "description",
    "compatibility",
    "pluginManifest",
    "commandBindings",
    "capabilitiesRequested",
    "extensions",
)
MODULE_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{2,63}", re.ASCII)
"""The form of a module's id; to be matched in full."""

_EXTENSION: Final = "x-"


def read_package(content: bytes | str, host: HostDescription) -> ModulePackage:
    """The package in `content`, as this host can take it; raises `PackageRejected`.

    Args:
        content: The document as it came.
        host: Whose commands it binds to, and whose version it must fit; a description that was checked.
    """
    document = _root(parse_package(content))
    module_id, version, name = _core(document)
    bounds = read_compatibility(document, host)
    entries = read_entries(document, module_id)
    bindings = read_bindings(document, entries, host)
    capabilities = read_capabilities(document)
    extensions = _extensions(document)
    whole = cast(Mapping[str, Json], document)
    return ModulePackage(
        module_id=module_id,
        module_version=version,
        display_name=name,
        description=cast(str | None, document.get("description")),
        min_app_version=bounds.min_app_version,
        max_app_version_exclusive=bounds.max_app_version_exclusive,
        entries=entries,
        bindings=bindings,
        capabilities=capabilities,
        extensions=extensions,
        digest=digest_json(whole),
        document=whole,
    )


def _root(document: object) -> Mapping[str, object]:
    if not isinstance(document, dict):
        message = f"{shown(document)} is not an object"
        raise PackageRejected(PackageCode.INVALID_PACKAGE_ROOT, "package", message)
    unknown = first_unknown(document, KEYS)
    if unknown is not None:
        message = f"the key {shown(unknown)} is not one of {', '.join(KEYS)}"
        raise PackageRejected(
            PackageCode.INVALID_PACKAGE_KEY, key_path("package", unknown), message
        )
    return document


def _core(document: Mapping[str, object]) -> tuple[str, str, str]:
    """Id, version and name of the module."""
    if not is_one(document.get("packageAbiVersion")):
        code = PackageCode.INVALID_PACKAGE_ABI_VERSION
        raise _wrong(code, document, "packageAbiVersion", "the whole number 1")
    module_id = document.get("moduleId")
    if not isinstance(module_id, str) or MODULE_ID.fullmatch(module_id) is None:
        meant = "an id of 3 to 64 characters from a to z, digits and `-`, with no `-` in front"
        raise _wrong(PackageCode.INVALID_MODULE_ID, document, "moduleId", meant)
    version = document.get("moduleVersion")
    if not isinstance(version, str) or not _is_version(version):
        meant = "a version such as 1.0.0"
        raise _wrong(PackageCode.INVALID_MODULE_VERSION, document, "moduleVersion", meant)
    name = document.get("displayName")
    if not is_name(name):
        meant = "a text with something in it"
        raise _wrong(PackageCode.INVALID_DISPLAY_NAME, document, "displayName", meant)
    if "description" in document and not isinstance(document["description"], str):
        raise _wrong(PackageCode.INVALID_PACKAGE_KEY, document, "description", "a text")
    return module_id, version, name


def _is_version(text: str) -> bool:
    try:
        SemVer.parse(text)
    except BadInput:
        return False
    return True


def _extensions(document: Mapping[str, object]) -> Mapping[str, Json]:
    if "extensions" not in document:
        return {}
    extensions = document["extensions"]
    if not isinstance(extensions, dict):
        raise _wrong(PackageCode.INVALID_EXTENSION_KEY, document, "extensions", "an object")
    wrong = min((each for each in extensions if not each.startswith(_EXTENSION)), default=None)
    if wrong is not None:
        raise PackageRejected(
            PackageCode.INVALID_EXTENSION_KEY,
            key_path("package.extensions", wrong),
            f"the key {shown(wrong)} does not begin with `{_EXTENSION}`",
        )
    return cast(Mapping[str, Json], extensions)


def _wrong(
    code: PackageCode, document: Mapping[str, object], key: str, meant: str
) -> PackageRejected:
    return PackageRejected(code, f"package.{key}", found(document, key, meant))
