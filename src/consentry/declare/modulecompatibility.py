"""Reads what a module package says it fits, and holds it against the host's own version (CONTRACTS §1, §12).

Each key is checked wholly before the next: that it has its form, then that it fits. A contract version that
is no whole number is `invalid-compatibility`, one that is another number is not supported. Versions compare
by rank (SemVer 2.0.0): the application must not be below `minAppVersion` and must be below
`maxAppVersionExclusive`; `null` is no bound. Where the version is out of range, the path names the bound.
"""

from collections.abc import Mapping
from typing import Final

from consentry.base.errors import BadInput
from consentry.base.semver import SemVer
from consentry.base.values import dataclass
from consentry.declare.hostdescription import (
    COMMAND_BUS_CONTRACT_VERSION,
    PLUGIN_MANIFEST_VERSION,
    HostDescription,
)
from consentry.declare.modulecodes import PackageCode, PackageRejected
from consentry.declare.modulefields import first_unknown, found, key_path, shown

PATH: Final = "package.compatibility"
KEYS: Final = (
    "pluginManifestVersion",
    "commandBusContractVersion",
    "minAppVersion",
    "maxAppVersionExclusive",
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Which versions of the application a package is for; None is no bound."""

    min_app_version: str | None
    max_app_version_exclusive: str | None


def read_compatibility(package: Mapping[str, object], host: HostDescription) -> Bounds:
    """The bounds of a package that fits this host, or raises."""
    document = package.get("compatibility")
    if not isinstance(document, dict):
        raise _wrong(PATH, found(package, "compatibility", "an object"))
    unknown = first_unknown(document, KEYS)
    if unknown is not None:
        message = f"the key {shown(unknown)} is not one of {', '.join(KEYS)}"
        raise _wrong(key_path(PATH, unknown), message)
    _check_contract(
        document,
        "pluginManifestVersion",
        PLUGIN_MANIFEST_VERSION,
        PackageCode.UNSUPPORTED_PLUGIN_MANIFEST_VERSION,
    )
    _check_contract(
        document,
        "commandBusContractVersion",
        COMMAND_BUS_CONTRACT_VERSION,
        PackageCode.UNSUPPORTED_COMMAND_BUS_CONTRACT_VERSION,
    )
    least = _bound(document, "minAppVersion")
    if least is not None and SemVer.parse(host.app_version).rank < least.rank:
        raise _out_of_range("minAppVersion", f"is below {shown(least.text)}", host)
    most = _bound(document, "maxAppVersionExclusive")
    if most is not None and SemVer.parse(host.app_version).rank >= most.rank:
        raise _out_of_range("maxAppVersionExclusive", f"is not below {shown(most.text)}", host)
    return Bounds(None if least is None else least.text, None if most is None else most.text)


def _check_contract(
    document: Mapping[str, object], key: str, supported: int, unsupported: PackageCode
) -> None:
    said = document.get(key)
    if type(said) is not int:
        raise _wrong(f"{PATH}.{key}", found(document, key, "a whole number"))
    if said != supported:
        message = f"version {said} is not supported, only {supported}"
        raise PackageRejected(unsupported, f"{PATH}.{key}", message)


def _bound(document: Mapping[str, object], key: str) -> SemVer | None:
    said = document.get(key)
    if said is None:
        return None
    try:
        if isinstance(said, str):
            return SemVer.parse(said)
    except BadInput:
        pass
    raise _wrong(f"{PATH}.{key}", found(document, key, "a version such as 1.0.0, or null"))


def _out_of_range(key: str, relation: str, host: HostDescription) -> PackageRejected:
    message = f"version {shown(host.app_version)} of the application {relation}"
    return PackageRejected(PackageCode.APP_VERSION_OUT_OF_RANGE, f"{PATH}.{key}", message)


def _wrong(path: str, message: str) -> PackageRejected:
    return PackageRejected(PackageCode.INVALID_COMPATIBILITY, path, message)
