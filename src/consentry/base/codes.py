"""Every stable code of the product: a promise to scripts and to people searching for it.

Once released a code keeps its meaning. Adding one means adding a member here and its table in
`codes.toml`, which says its exit status, its meaning and what to do; `docs/reference/codes.md` is
generated from both, and `make check` fails when they differ. Codes that belong to a document's own
wire format (`capability-unknown-id` and its kin) live with that document, not here.
"""

from enum import StrEnum
from functools import cache

from consentry.base.exitstatus import ExitStatus

TYPE_CHECKING = False  # as `typing` has it, which the launcher should not have to load
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Code", "ExitStatus"]


class Code(StrEnum):
    """One member per error a person or a script can meet; the value is the wire string."""

    @property
    def status(self) -> ExitStatus:
        """What a command exits with that ends with it."""
        return ExitStatus[_rows()[self.value]["status"]]

    @property
    def meaning(self) -> str:
        """What happened, in one line."""
        return _rows()[self.value]["meaning"]

    @property
    def remedy(self) -> str:
        """What to do, in one line."""
        return _rows()[self.value]["remedy"]

    INTERNAL_FAULT = "internal-fault"
    USAGE = "usage"
    INTERRUPTED = "interrupted"
    OUTPUT_FAILED = "output-failed"
    UNKNOWN_WORD = "unknown-word"
    UNIT_SIZE = "unit-size"
    UNIT_DURATION = "unit-duration"
    CANONICAL_JSON = "canonical-json"
    IDENTIFIER = "identifier"
    TIMESTAMP = "timestamp"
    PATH_ESCAPE = "path-escape"
    PATH_KIND = "path-kind"
    PATH_HARD_LINK = "path-hard-link"
    PATH_TOO_LARGE = "path-too-large"
    FILESYSTEM_RACE = "filesystem-race"
    SURFACE_FIELD = "surface-field"
    SURFACE_PATTERN = "surface-pattern"
    SURFACE_PATTERN_LEAVES = "surface-pattern-leaves"
    SURFACE_TOO_COMPLEX = "surface-too-complex"
    SURFACE_HOST = "surface-host"
    PROTECTED_ROOT = "protected-root"
    PERMISSION_SET = "permission-set"
    PERMISSION_STEP = "permission-step"
    ESCALATION_PROTECTED_ROOT = "escalation-protected-root"
    ESCALATION_CRITICAL = "escalation-critical"
    ESCALATION_UNCOVERED = "escalation-uncovered"
    ESCALATION_SPENT = "escalation-spent"
    CAPABILITY_MISSING = "capability-missing"
    CAPABILITY_REJECTED = "capability-rejected"
    CAPABILITY_CODE = "capability-code"
    HOLD_REFUSED = "hold-refused"
    WORKSPACE_REFUSED = "workspace-refused"
    WORKSPACE_MISSING = "workspace-missing"
    WORKSPACE_OWNER = "workspace-owner"
    CONFIG_MISSING = "config-missing"
    CONFIG_FILE = "config-file"
    SETTING_VALUE = "setting-value"
    STATE_REFUSED = "state-refused"
    STATE_UNSAFE = "state-unsafe"
    STATE_UNUSABLE = "state-unusable"
    EVENT_FIELD = "event-field"
    LEDGER_UNWRITABLE = "ledger-unwritable"
    LEDGER_BUSY = "ledger-busy"
    LEDGER_CORRUPT = "ledger-corrupt"
    LEDGER_NEWER = "ledger-newer"
    LEDGER_OLDER = "ledger-older"
    CHAIN_BROKEN = "chain-broken"
    PROOF = "proof"
    CHECKPOINT = "checkpoint"
    LEDGER_KEY = "ledger-key"
    EVENT_UNKNOWN = "event-unknown"
    CONFIG_UNSAFE = "config-unsafe"
    FILE_UNUSABLE = "file-unusable"
    CHECKPOINT_EMPTY = "checkpoint-empty"
    EVENT_TWICE = "event-twice"
    DECISION_FIELD = "decision-field"
    ID_UNKNOWN = "id-unknown"
    REQUEST_SETTLED = "request-settled"
    REQUEST_LATE = "request-late"
    ANSWER_REFUSED = "answer-refused"
    CONSENT_CLOSED = "consent-closed"
    CONSENT_STALE = "consent-stale"
    PERMIT_REFUSED = "permit-refused"
    MINT_REFUSED = "mint-refused"
    TOKEN_REFUSED = "token-refused"  # noqa: S105 - a code
    BUDGET_EXHAUSTED = "budget-exhausted"
    ARCHIVE = "archive"
    ARCHIVE_UNKNOWN = "archive-unknown"
    RETAIN_RACED = "retain-raced"
    DOCUMENT_INVALID = "document-invalid"
    SECRET_UNUSABLE = "secret-unusable"  # noqa: S105 - a code
    PROGRAM_UNSTARTABLE = "program-unstartable"
    PROGRAM_UNKNOWN = "program-unknown"
    ENGINE_FAILED = "engine-failed"
    NOT_ENFORCEABLE = "not-enforceable"
    LAYER_UNREADABLE = "layer-unreadable"
    COMMIT_REFUSED = "commit-refused"
    COMMIT_UNFINISHED = "commit-unfinished"
    RUN_UNRECORDED = "run-unrecorded"
    RUN_UNKNOWN = "run-unknown"
    RUN_AMBIGUOUS = "run-ambiguous"
    EFFECT_UNKEPT = "effect-unkept"
    EFFECT_ABSENT = "effect-absent"
    EFFECT_SETTLED = "effect-settled"
    EFFECT_EXPIRED = "effect-expired"
    EFFECT_CONFLICT = "effect-conflict"
    EFFECT_TAMPERED = "effect-tampered"
    APPROVAL_PENDING = "approval-pending"
    APPROVAL_DENIED = "approval-denied"
    TOOL_UNKNOWN = "tool-unknown"
    HOST_UNKNOWN = "host-unknown"
    MODULE_UNKNOWN = "module-unknown"
    COMMAND_REFUSED = "command-refused"
    TOOL_DENIED = "tool-denied"
    NOTHING_TO_TRUST = "nothing-to-trust"
    TRUST_REFUSED = "trust-refused"
    APPROVAL_EXPIRED = "approval-expired"
    APPROVAL_SUPERSEDED = "approval-superseded"
    ID_AMBIGUOUS = "id-ambiguous"
    TERMINAL_MISSING = "terminal-missing"
    PASSPHRASE_REFUSED = "passphrase-refused"  # noqa: S105 - a code
    PASSPHRASE_UNUSABLE = "passphrase-unusable"  # noqa: S105 - a code
    PLUGIN_REJECTED = "plugin-rejected"
    PLUGIN_DOCUMENT = "plugin-document"
    PLUGIN_POLICY = "plugin-policy"
    EVIDENCE = "evidence"
    SIGNING_KEY = "signing-key"
    KEY_UNKNOWN = "key-unknown"
    KEY_EXISTS = "key-exists"
    KEY_REFUSED = "key-refused"
    MODULE_STORAGE_FULL = "module-storage-full"
    EXPORT_REFUSED = "export-refused"
    COMMAND_BUSY = "command-busy"
    TX_OPERATION = "tx-operation"
    TX_STATE = "tx-state"
    TX_APPROVAL = "tx-approval"
    TX_CONFLICT = "tx-conflict"
    TX_IN_FLIGHT = "tx-in-flight"
    TX_KEY = "tx-key"
    TX_BLOCKED = "tx-blocked"
    TX_UNSETTLED = "tx-unsettled"
    TX_STORE = "tx-store"
    TX_UNKNOWN = "tx-unknown"
    TX_ELSEWHERE = "tx-elsewhere"
    MODULE_REJECTED = "module-rejected"
    SIGNOFF_EVENT = "signoff-event"
    SIGNOFF_RESOLVED = "signoff-resolved"
    DRILL_REFUSED = "drill-refused"


@cache
def _rows() -> "Mapping[str, Mapping[str, str]]":
    import tomllib  # noqa: PLC0415 - only failures and pages pay for it
    from importlib.resources import files  # noqa: PLC0415 - as above

    return tomllib.loads(files("consentry.base").joinpath("codes.toml").read_text("utf-8"))
