"""Why a plugin is not accepted: one word for each reason, and the errors that carry it.

`VerificationError` is what a check raises, about one plugin; `PluginRejected` is what whoever loads
plugins makes of it. The exit status follows from the reason: 4 for a finding about the plugin itself,
3 for a document that cannot be read, 126 where the signing policy says no.

What these errors say of file names came from a stranger's tree; it is kept as it came and escaped where
it is shown.
"""

from enum import StrEnum
from typing import Final

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import Refused, Where
from consentry.base.values import dataclass

MOST_LISTED: Final = 3
"""Paths that a message names of each kind; the error itself has all of them."""


class Rejection(StrEnum):
    """One word for each reason; the value is what events and documents say."""

    INTEGRITY_MISMATCH = "integrity_mismatch"
    NOT_LOCKED = "not_locked"
    MISSING_PLUGIN = "missing_plugin"
    PLUGIN_NAME = "plugin_name"
    BYTECODE = "bytecode"
    LINK_LEAVES = "link_leaves"
    LINK_DANGLES = "link_dangles"
    LINK_CYCLE = "link_cycle"
    SPECIAL_FILE = "special_file"
    SET_ID = "set_id"
    UNREADABLE = "unreadable"
    NAME_NOT_UTF8 = "name_not_utf8"
    NAME_CLASH = "name_clash"
    EMPTY_FOLDER = "empty_folder"
    CHANGED_WHILE_READ = "changed_while_read"
    TOO_LARGE = "too_large"
    FENCE = "fence"
    DEFINITION_CHANGED = "definition_changed"

    LOCK_UNREADABLE = "lock_unreadable"
    MANIFEST = "manifest"
    POLICY_UNREADABLE = "policy_unreadable"
    BAD_ENVELOPE = "bad_envelope"
    KEYS_UNREADABLE = "keys_unreadable"

    UNSIGNED = "unsigned"
    SIGNATURE_INVALID = "signature_invalid"
    UNKNOWN_KEY = "unknown_key"
    KEY_EXPIRED = "key_expired"
    KEY_REVOKED = "key_revoked"
    KEY_NOT_YET_VALID = "key_not_yet_valid"
    TOO_FEW_SIGNERS = "too_few_signers"
    STALE = "stale"
    ROLLED_BACK = "rolled_back"
    DOWNGRADED = "downgraded"
    NOT_COVERED = "not_covered"
    SIGNED_OTHER_TREE = "signed_other_tree"
    SIGNED_OTHER_PLUGIN = "signed_other_plugin"
    SIGNED_OTHER_VERSION = "signed_other_version"
    EVIDENCE_EXPIRED = "evidence_expired"
    CLOCK_SET_BACK = "clock_set_back"
    FORMAT_NOT_ALLOWED = "format_not_allowed"
    IDENTITY_REFUSED = "identity_refused"
    EXTRA_MISSING = "extra_missing"

    @property
    def code(self) -> Code:
        """The stable code that decides the exit status."""
        if self in _DOCUMENTS:
            return Code.PLUGIN_DOCUMENT
        return Code.PLUGIN_POLICY if self in _POLICY else Code.PLUGIN_REJECTED


_DOCUMENTS: Final = frozenset(
    {
        Rejection.LOCK_UNREADABLE,
        Rejection.MANIFEST,
        Rejection.POLICY_UNREADABLE,
        Rejection.BAD_ENVELOPE,
        Rejection.KEYS_UNREADABLE,
    }
)
_POLICY: Final = frozenset(
    {
        Rejection.UNSIGNED,
        Rejection.SIGNATURE_INVALID,
        Rejection.UNKNOWN_KEY,
        Rejection.KEY_EXPIRED,
        Rejection.KEY_REVOKED,
        Rejection.KEY_NOT_YET_VALID,
        Rejection.TOO_FEW_SIGNERS,
        Rejection.STALE,
        Rejection.ROLLED_BACK,
        Rejection.DOWNGRADED,
        Rejection.NOT_COVERED,
        Rejection.SIGNED_OTHER_PLUGIN,
        Rejection.SIGNED_OTHER_VERSION,
        Rejection.EVIDENCE_EXPIRED,
        Rejection.CLOCK_SET_BACK,
        Rejection.FORMAT_NOT_ALLOWED,
        Rejection.IDENTITY_REFUSED,
        Rejection.EXTRA_MISSING,
    }
)


@dataclass(frozen=True, slots=True)
class TreeChanges:
    """The difference between a tree and its lock, as paths below the plugin, sorted."""

    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.added or self.missing)

    def __str__(self) -> str:
        kinds = (("changed", self.changed), ("added", self.added), ("missing", self.missing))
        return "; ".join(f"{word} {_few(paths)}" for word, paths in kinds if paths)


class VerificationError(Refused):
    """A plugin did not pass a check, for one reason."""

    def __init__(
        self,
        reason: Rejection,
        plugin: str,
        message: str,
        *,
        expected: Digest | None = None,
        found: Digest | None = None,
        changes: TreeChanges | None = None,
        where: Where | None = None,
        help_line: str | None = None,
    ) -> None:
        super().__init__(reason.code, message, where=where, help_line=help_line)
        self.reason = reason
        self.plugin = plugin
        self.expected = expected
        self.found = found
        self.changes = changes


class PluginRejected(Refused):
    """A plugin is not loaded; nothing of it is used."""

    def __init__(self, cause: VerificationError) -> None:
        message = f"plugin `{cause.plugin}` is rejected ({cause.reason}): {cause.message}"
        super().__init__(cause.code, message, where=cause.where, help_line=cause.help_line)
        self.cause = cause
        self.reason = cause.reason
        self.plugin = cause.plugin
        self.expected = cause.expected
        self.found = cause.found
        self.changes = cause.changes


def _few(paths: tuple[str, ...]) -> str:
    named = ", ".join(f"`{path}`" for path in paths[:MOST_LISTED])
    more = len(paths) - MOST_LISTED
    return f"{named} and {more} more" if more > 0 else named
