"""What importing a package is answered, and the places of a package at which it can be broken."""

import copy
import json
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from consentry.base.canonical import Json, canonical_json
from consentry.declare.hostdescription import HostDescription
from consentry.declare.modulecapabilities import check_capabilities
from consentry.declare.modulecodes import PackageRejected
from consentry.declare.modulepackage import read_package
from consentry.surface.catalog import capability_catalog
from tests.declare.modulesamples import HOST

MOST_SAID = 600
"""No message and no path is longer, whatever the package holds."""

Place: TypeAlias = tuple[str | int, ...]
MARK = "@@here@@"


class Answer(NamedTuple):
    """The code and path of a refusal; of a package that is taken, `imported` and its digest."""

    code: str
    path: str
    manifest_code: str | None = None


def answer(content: bytes | str, host: HostDescription = HOST) -> Answer:
    """Reads a package and checks its capabilities, twice; both times the answer must be one."""
    first, again = (_once(content, host) for _ in range(2))
    assert first == again
    code, path = str(first["code"]), str(first["path"])
    detail = first.get("detail", {})
    return Answer(code, path, detail.get("manifestCode"))


def answer_to(document: object, host: HostDescription = HOST) -> Answer:
    """The same, of a document given as values."""
    return answer(json.dumps(document), host)


def _once(content: bytes | str, host: HostDescription) -> dict[str, Any]:
    try:
        package = read_package(content, host)
        check_capabilities(package, capability_catalog())
    except PackageRejected as refused:
        return _bounded(refused.envelope())
    return {"code": "imported", "path": package.digest}


def _bounded(envelope: dict[str, Json]) -> dict[str, Any]:
    """An envelope that can be written, kept and shown."""
    assert max(len(str(each)) for each in envelope.values()) <= MOST_SAID
    assert canonical_json(envelope)
    return dict(envelope)


def places(document: object, at: Place = ()) -> Iterator[Place]:
    """The place of every value below a document, keys in their order."""
    inner: Iterator[tuple[str | int, object]] = iter(())
    if isinstance(document, dict):
        inner = iter(document.items())
    elif isinstance(document, list):
        inner = iter(enumerate(document))
    for step, value in inner:
        yield (*at, step)
        yield from places(value, (*at, step))


def value_at(document: Any, place: Place) -> Any:
    """What stands at a place."""
    for step in place:
        document = document[step]
    return document


def with_value(document: Any, place: Place, value: object) -> Any:
    """The document with another value at a place."""
    if not place:
        return value
    changed = copy.deepcopy(document)
    value_at(changed, place[:-1])[place[-1]] = value
    return changed


def without(document: Any, place: Place) -> Any:
    """The document without what stands at a place."""
    changed = copy.deepcopy(document)
    del value_at(changed, place[:-1])[place[-1]]
    return changed


def text_with(document: Any, place: Place, written: str) -> str:
    """The document as text, with this text where the value of a place would be."""
    return json.dumps(with_value(document, place, MARK)).replace(f'"{MARK}"', written)


def path_of(place: Place) -> str:
    """How a path calls a place."""
    return "package" + "".join(
        f"[{step}]" if isinstance(step, int) else f".{step}" for step in place
    )


def name_of(place: Place) -> str:
    """How a test is called that is about a place."""
    return path_of(place).removeprefix("package.")
