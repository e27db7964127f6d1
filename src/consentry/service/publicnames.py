"""Where the names of the library live that are loaded when they are first used.

`consentry` asks here for what it does not define itself, and says whose environment it is. A class that
needs that is handed out as one which is told it; the calls with tokens are bound to it.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

_PLACES: Final[Mapping[str, str]] = {
    "base.paths": "SandboxedPath",
    "decide.capabilities": "PERMISSION_CONFIDENCE_THRESHOLD determine_permission_set",
    "decide.escalation": "PermissionEscalationRequest format_escalation_request"
    " get_valid_escalation_targets is_valid_escalation suggest_escalation",
    "decide.escalation_handler": "PermissionEscalationHandler",
    "decide.permissionaudit": "PermissionAuditLogEntry",
    "decide.tokens": "CapabilityBundle FsReadWriteCapability GitLocalOpsCapability"
    " NpmInstallCapability",
    "examine.pluginproblems": "PluginRejected VerificationError",
    "examine.verdict": "Verdict",
    "flow.commands": "CommandQueue",
    "flow.results": "TaskResult",
    "flow.tasks": "Task",
    "service.callresults": "CodeResult RunResult ToolResult",
    "service.consentmanager": "ConsentManager ConsentResult",
    "service.consentrecords": "ConsentRecord",
    "service.executing": "ControlledExecutor",
    "store.capabilities": "CapabilityStore",
    "store.ledger": "Ledger",
    "store.permissionaudit": "PermissionAuditStore",
    "surface.lattice": "Surface",
}
_IN_SURROUNDINGS: Final = ("ConsentManager", "ControlledExecutor")
_WITH_TOKENS: Final = ("mint", "npm_install", "git_local", "files")

_made: dict[str, Any] = {}


def public_name(name: str, environ: Mapping[str, str]) -> object:
    """What `consentry.NAME` is; raises `AttributeError` where there is no such name."""
    if name in _WITH_TOKENS:
        from consentry.service.tokencalls import TokenCalls  # noqa: PLC0415 - few programs mint

        return getattr(TokenCalls(environ), name)
    place = next((place for place, names in _PLACES.items() if name in names.split()), None)
    if place is None:
        raise AttributeError(f"module `consentry` has no attribute `{name}`")
    found: Any = getattr(import_module(f"consentry.{place}"), name)
    if name not in _IN_SURROUNDINGS:
        return found
    if name not in _made:
        _made[name] = _in_surroundings(found, environ)
    return _made[name]


def _in_surroundings(plain: Any, environ: Mapping[str, str]) -> Any:
    """The class, which is told the environment of whoever makes one."""
    from inspect import signature  # noqa: PLC0415 - few programs need it

    class Here(plain):  # type: ignore[misc]
        __doc__ = plain.__doc__

        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(environ, *given, **named)

    said = signature(plain)
    Here.__signature__ = said.replace(parameters=list(said.parameters.values())[1:])
    Here.__name__ = Here.__qualname__ = plain.__name__
    return Here
