"""The capabilities a module package asks for: their shape, their normal form, and whether there are such.

`capabilitiesRequested` is the only place where a module says what it wants (MODULES §source). Shape is
checked while the package is read: an array of texts with something in them besides white space. The normal
form is trimmed (of everything Unicode calls white space), each id once, ascending by code point. Whether
the ids are in the catalog is asked after the whole package passed, and of the ids exactly as they are: a
wildcard, a prefix, another case or a letter that looks alike is an id that is not there.

Of several unknown ids the first in normal form is the answer, at the first index where the document has
it: two packages that ask for the same ids in another order are refused for the same one.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from consentry.declare.modulecodes import PackageCode, PackageRejected
from consentry.declare.modulefields import found, is_name, shown
from consentry.declare.modulevalues import ModulePackage
from consentry.surface.catalog import CapabilityCatalog

KEY: Final = "capabilitiesRequested"
PATH: Final = f"package.{KEY}"


def normalised(requested: Iterable[str]) -> tuple[str, ...]:
    """The ids trimmed, each once, in ascending order."""
    return tuple(sorted({each.strip() for each in requested}))


def read_capabilities(package: Mapping[str, object]) -> tuple[str, ...]:
    """What a package asks for, in normal form; nothing where it says nothing. Raises for the shape."""
    if KEY not in package:
        return ()
    listed = package[KEY]
    if not isinstance(listed, list):
        raise _wrong(PATH, found(package, KEY, "an array"))
    for index, each in enumerate(listed):
        if not is_name(each):
            raise _wrong(f"{PATH}[{index}]", f"{shown(each)} is not a text with something in it")
    return normalised(listed)


def check_capabilities(package: ModulePackage, catalog: CapabilityCatalog) -> None:
    """Raises `capability-unknown-id` unless the catalog has every id that is asked for."""
    for capability_id in package.capabilities:
        if catalog.find(capability_id) is None:
            raise PackageRejected(
                PackageCode.CAPABILITY_UNKNOWN_ID,
                f"{PATH}[{_index_of(capability_id, package)}]",
                f"{shown(capability_id)} is not a capability of the catalog, version {catalog.version}",
            )


def _index_of(capability_id: str, package: ModulePackage) -> int:
    listed = package.document[KEY]
    texts = listed if isinstance(listed, list) else []
    return next(index for index, each in enumerate(texts) if each.strip() == capability_id)


def _wrong(path: str, message: str) -> PackageRejected:
    return PackageRejected(PackageCode.INVALID_CAPABILITY_SHAPE, path, message)
