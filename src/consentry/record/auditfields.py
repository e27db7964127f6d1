"""The audit entry of a tool's run (CONSENT §audit), the payload of `tool.audit`.

One entry for every run, refusals and failures included. A refused run has no times and no exit
code; a hash is null where the file's bytes were not seen; with the lowest log level the lists are
empty, and never absent.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from consentry.record.fieldrules import (
    BOOLEAN,
    DIGEST,
    INSTANT,
    LIST,
    TEXT,
    WHOLE,
    field,
    id_of,
    list_of,
    nullable,
    object_of,
    one_of,
    refuse,
    whole_from,
)


class ConsentMethod(StrEnum):
    """How consent was given, or that none was asked for."""

    NONE = "none"
    IMPLICIT_NOTIFICATION = "implicit_notification"
    EXPLICIT_APPROVAL = "explicit_approval"
    STRICT_APPROVAL = "strict_approval"
    REMEMBERED = "remembered"
    BATCH_APPROVAL = "batch_approval"
    POLICY = "policy"
    COMMAND_LINE = "command_line"


class ExecutionStatus(StrEnum):
    """How a run ended, or that it did not begin."""

    SUCCESS = "success"
    FAILURE = "failure"
    DENIED = "denied"
    TIMEOUT = "timeout"
    KILLED = "killed"
    LIMIT = "limit"
    DISCARDED = "discarded"
    NOT_STARTED = "not_started"


class Trigger(StrEnum):
    """What set a run off."""

    USER_COMMAND = "user_command"
    FLOW = "flow"
    MCP = "mcp"
    HOOK = "hook"
    API = "api"
    DRILL = "drill"


def _no_time_of_a_refusal(user: Mapping[str, Any]) -> None:
    if not user["consentGiven"] and user["consentTimestamp"] is not None:
        refuse("consentTimestamp", "must have null here when no consent was given")


_TOOL: Final = object_of(field("name", TEXT), field("version", TEXT))
_USER: Final = object_of(
    field("id", TEXT),
    field("consentGiven", BOOLEAN),
    nullable("consentTimestamp", INSTANT),
    field("consentMethod", one_of(*ConsentMethod)),
    across=(_no_time_of_a_refusal,),
)
_EXECUTION: Final = object_of(
    nullable("startTime", INSTANT),
    nullable("endTime", INSTANT),
    field("status", one_of(*ExecutionStatus)),
    nullable("exitCode", WHOLE),
)
_FILE_READ: Final = object_of(field("path", TEXT), nullable("hash", DIGEST))
_FILE_WRITTEN: Final = object_of(
    field("path", TEXT), nullable("hash", DIGEST), field("size", whole_from(0))
)
_IMPACT: Final = object_of(
    field("filesRead", list_of(_FILE_READ)),
    field("filesWritten", list_of(_FILE_WRITTEN)),
    field("filesDeleted", LIST),
    field("committed", BOOLEAN),
)
_SANDBOX: Final = object_of(
    field("profile", TEXT),
    field("violations", LIST),
    field(
        "resourceUsage",
        object_of(nullable("cpuTime", TEXT), nullable("memoryPeak", TEXT)),
    ),
)
_CONTEXT: Final = object_of(
    nullable("workflowId", TEXT),
    nullable("sessionId", TEXT),
    field("triggeredBy", one_of(*Trigger)),
)

TOOL_AUDIT: Final = object_of(
    field("id", id_of("audit")),
    field("timestamp", INSTANT),
    field("tool", _TOOL),
    field("user", _USER),
    field("execution", _EXECUTION),
    field("impact", _IMPACT),
    field("sandbox", _SANDBOX),
    field("context", _CONTEXT),
)
