"""Imports a module package into a host: every check, then one transaction, then the envelope.

The order is the contract's: the shape of the package, then what its capabilities mean, then its action
graph where it has one, then the registration. The first failure is the answer, nothing is repaired, and
nothing of a refused package is registered; that it was refused is on record.
"""

import json
from collections.abc import Mapping
from typing import Final

from consentry.base.canonical import Digest, Json, digest_bytes
from consentry.base.values import dataclass
from consentry.decide.capabilitycheck import ModuleIdentity
from consentry.decide.grant import MODULE_ID
from consentry.decide.identity import Identity
from consentry.decide.moduleregistration import Registration
from consentry.declare.actiongraph import ActionGraph, read_action_graph
from consentry.declare.actiongraphcheck import check_action_graph
from consentry.declare.hostdescription import HostDescription
from consentry.declare.modulecapabilities import check_capabilities
from consentry.declare.modulecodes import PackageCode, PackageRejected
from consentry.declare.modulepackage import read_package
from consentry.declare.modulevalues import ModulePackage
from consentry.store.journal import Journal
from consentry.store.modules import StoredModules
from consentry.surface.catalog import capability_catalog

_MOST_CAPABILITY: Final = 128
_NO_DOCUMENT: Final = b"\xff"
"""What no reader takes: stands for a value that has no JSON form at all."""


@dataclass(frozen=True, slots=True)
class GraphFile:
    """An action graph to be imported with a package, and how errors call it."""

    content: bytes
    name: str


def read_module(
    content: bytes | str, host: HostDescription, graph: GraphFile | None = None
) -> tuple[ModulePackage, ActionGraph | None]:
    """The package and its graph after every check; raises `PackageRejected`, or for the graph."""
    package = read_package(content, host)
    check_capabilities(package, capability_catalog())
    if graph is None:
        return package, None
    found = read_action_graph(graph.content, graph.name)
    check_action_graph(found, package, host)
    return package, found


def import_module(
    journal: Journal,
    host: HostDescription,
    content: bytes | str | Mapping[str, object],
    by: Identity,
    graph: GraphFile | None = None,
) -> dict[str, Json]:
    """The envelope of the import: registered, or refused with one code at one place.

    Raises where it is the graph that is wrong, or the ledger cannot be written.
    """
    document = _as_text(content)
    modules = StoredModules(journal)
    try:
        package, found = read_module(document, host, graph)
    except PackageRejected as refused:
        _record(modules, host, refused, document)
        return refused.envelope()
    registration = Registration(
        identity=ModuleIdentity(
            host.host_id, package.module_id, package.module_version, package.digest
        ),
        document=package.document,
        graph=None if found is None else found.to_json(),
        imported_by=by,
        imported_at=journal.clock.now(),
    )
    before = modules.register(registration, package.capabilities)
    return {
        "ok": True,
        "code": "imported",
        "moduleId": package.module_id,
        "moduleVersion": package.module_version,
        "replaced": before is not None,
    }


def _as_text(content: bytes | str | Mapping[str, object]) -> bytes:
    """The document as it would lie in a file, so that every way to import goes through one reader."""
    if isinstance(content, bytes):
        return content
    try:
        if isinstance(content, str):
            return content.encode()
        return json.dumps(content, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError):
        return _NO_DOCUMENT


def _record(
    modules: StoredModules, host: HostDescription, refused: PackageRejected, document: bytes
) -> None:
    digest = digest_bytes(document)
    claimed = _claimed(document, host) if refused.package_code in _NAMED else None
    if refused.package_code is PackageCode.CAPABILITY_UNKNOWN_ID and claimed is not None:
        module, capability_id = claimed
        modules.record_unknown_capability(module, capability_id, refused.path, digest)
        return
    module_id = None if claimed is None else claimed[0].module_id
    modules.record_rejected(
        host.host_id, module_id, refused.package_code.value, refused.path, digest
    )


_NAMED: Final = frozenset(
    each
    for index, each in enumerate(PackageCode)
    if index > list(PackageCode).index(PackageCode.INVALID_MODULE_VERSION)
)
"""The codes of packages whose id and version were found to be sound before they were refused."""


def _claimed(document: bytes, host: HostDescription) -> tuple[ModuleIdentity, str] | None:
    """Which module a refused package says it is, and the first capability that nobody knows."""
    loaded = json.loads(document)
    module_id, version = loaded["moduleId"], loaded["moduleVersion"]
    if MODULE_ID.fullmatch(module_id) is None:
        return None
    requested = loaded.get("capabilitiesRequested")
    texts = (
        [each.strip() for each in requested if isinstance(each, str)]
        if isinstance(requested, list)
        else []
    )
    catalog = capability_catalog()
    unknown = min((each for each in texts if catalog.find(each) is None), default="none")
    identity = ModuleIdentity(host.host_id, module_id, version, Digest(digest_bytes(document)))
    return identity, unknown[:_MOST_CAPABILITY]
