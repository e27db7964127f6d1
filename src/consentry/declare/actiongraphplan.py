"""The action graph as it is handed to a planner: a language model, or a script.

A planner has to know before it proposes a call what that takes: the capabilities, with and without a person
at the keyboard, who is asked and how often, what changes and what undoes it. All of it is worked out here
from the host's description, so that no planner has to work it out, or guess.

Only a graph that passes its check is exported. The document has a version; actions are sorted by id, calls
stay in order, commands stand in the order of their first call, and the same graph gives the same bytes.
It says what would be asked for and grants nothing: every call is checked when it is made. Labels and
reasons in it are a stranger's text, which a planner must not take for instructions.
"""

from typing import Final

from consentry.base.canonical import Json
from consentry.declare.actionapproval import approval_of, called
from consentry.declare.actiongraph import ActionGraph, GraphAction
from consentry.declare.actiongraphcheck import check_action_graph
from consentry.declare.hostdescription import HostDescription
from consentry.declare.modulevalues import ModulePackage
from consentry.declare.requiredcapabilities import required_capabilities

PLANNER_VERSION: Final = "1"


def planner_document(
    graph: ActionGraph, package: ModulePackage, host: HostDescription
) -> dict[str, Json]:
    """The document for planners, or raises `document-invalid` where the graph may not say what it says."""
    check_action_graph(graph, package, host)
    return {
        "plannerVersion": PLANNER_VERSION,
        "hostId": host.host_id,
        "appVersion": host.app_version,
        "moduleId": package.module_id,
        "moduleVersion": package.module_version,
        "packageDigest": package.digest,
        "actions": [
            _action(each, host) for each in sorted(graph.actions, key=lambda action: action.id)
        ],
    }


def _action(action: GraphAction, host: HostDescription) -> dict[str, Json]:
    approval = approval_of(action, host)
    return {
        **action.to_json(),
        "requiredCapabilities": list(
            required_capabilities(action.calls, host, is_automation=False)
        ),
        "requiredCapabilitiesFromAutomation": list(
            required_capabilities(action.calls, host, is_automation=True)
        ),
        "approval": None if approval is None else approval.to_json(),
        "commands": [each.to_json() for each in called(action, host)],
    }
