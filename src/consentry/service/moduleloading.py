"""The modules of one host as values: read again from the store, against the host as it is now.

A registered document passed its import against the host of that day. Commands may have gone since, or the
host's version left the range; such a module stays registered, is told as what does not fit, and does
nothing until it is imported anew or the host is what it was.
"""

import json

from consentry.base.canonical import canonical_json
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, UsageProblem
from consentry.base.values import dataclass
from consentry.decide.capabilitycheck import ModuleIdentity, Standing
from consentry.decide.moduleregistration import Registration, action_key
from consentry.declare.actiongraph import ActionGraph, GraphAction, read_action_graph
from consentry.declare.actiongraphcheck import check_action_graph
from consentry.declare.actiongraphfrom import graph_of
from consentry.declare.hostdescription import HostDescription
from consentry.declare.modulepackage import read_package
from consentry.declare.modulevalues import ModulePackage
from consentry.store.modules import StoredModules


@dataclass(frozen=True, slots=True)
class LoadedModule:
    """A module that fits its host; the graph is its own, or follows from its bindings."""

    identity: ModuleIdentity
    package: ModulePackage
    graph: ActionGraph

    def action(self, action_id: str) -> GraphAction | None:
        """The action of this id, or of the name that its questions and events have."""
        return self.graph.action(action_id) or self.recorded(action_id)

    def recorded(self, key: str) -> GraphAction | None:
        """The action that questions and events name so; never another one whose id it is."""
        return next((each for each in self.graph.actions if action_key(each.id) == key), None)


@dataclass(frozen=True, slots=True)
class Unfit:
    """A registered module that does not fit its host any more, and why."""

    identity: ModuleIdentity
    problem: ConsentryError


def loaded(registration: Registration, host: HostDescription) -> LoadedModule | Unfit:
    """The module as values, or why it does nothing."""
    try:
        package = read_package(canonical_json(registration.document), host)
        if registration.graph is None:
            graph = graph_of(package, host)
        else:
            text = json.dumps(registration.graph).encode()
            graph = read_action_graph(text, f"{package.module_id}.json")
            check_action_graph(graph, package, host)
    except ConsentryError as problem:
        return Unfit(registration.identity, problem)
    return LoadedModule(registration.identity, package, graph)


class LoadedModules:
    """Those of one host, each kept until its registration changes.

    The same package can be imported once more with another graph, so it is the revision that tells.
    """

    def __init__(self, modules: StoredModules, host: HostDescription) -> None:
        self._modules = modules
        self._host = host
        self._kept: dict[str, tuple[int, LoadedModule | Unfit]] = {}

    def of(self, standing: Standing) -> LoadedModule:
        """The module that stands so; raises where it does not fit, or is another one by now."""
        module_id = standing.identity.module_id
        revision, found = self._kept.get(module_id, (None, None))
        if found is None or found.identity != standing.identity or revision != standing.revision:
            registration = self._modules.find(self._host.host_id, module_id)
            if registration is None or registration.identity != standing.identity:
                raise _unknown(f"`{module_id}` was replaced or removed meanwhile")
            found = loaded(registration, self._host)
            self._kept[module_id] = (registration.revision, found)
        if isinstance(found, Unfit):
            raise _unknown(f"`{module_id}` does not fit this host: {found.problem}")
        return found

    def fitting(self) -> list[LoadedModule]:
        """Those that fit the host, each read once for each of its revisions."""
        found: list[LoadedModule] = []
        for module_id, revision in self._modules.revisions(self._host.host_id):
            kept = self._kept.get(module_id)
            if kept is None or kept[0] != revision:
                registration = self._modules.find(self._host.host_id, module_id)
                if registration is None:
                    continue
                kept = (registration.revision, loaded(registration, self._host))
                self._kept[module_id] = kept
            if isinstance(kept[1], LoadedModule):
                found.append(kept[1])
        return found

    def all(self) -> list[LoadedModule | Unfit]:
        """Every registered module of the host."""
        found = self._modules.all(self._host.host_id)
        return [loaded(each, self._host) for each in found]


def _unknown(message: str) -> UsageProblem:
    return UsageProblem(Code.MODULE_UNKNOWN, message)
