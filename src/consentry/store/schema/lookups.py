"""Indexes for what is asked before every run, so that what was decided long ago costs it nothing.

A tool may have ten thousand consents that were used, have expired or belong to sessions that are over,
and as many requests that were answered: none of them is looked through.
"""

from consentry.store.database import Dialect
from consentry.store.schema.step import Migration

_LASTING = (
    "CREATE INDEX consent_lasting ON consent (tool, expires_at) "
    "WHERE revoked_at IS NULL AND used_at IS NULL AND lasts <> 'session'"
)
_OF_SESSION = (
    "CREATE INDEX consent_of_session ON consent (session_id, tool) "
    "WHERE revoked_at IS NULL AND used_at IS NULL AND lasts = 'session'"
)
_LATEST = "CREATE INDEX consent_latest ON consent (tool, given_at, consent_id)"
_ABOUT = (
    "CREATE INDEX approval_request_about ON approval_request (digest, requested_at, request_id)"
)
_NAMES = ("consent_lasting", "consent_of_session", "consent_latest", "approval_request_about")

LOOKUPS = Migration(
    6,
    forward=dict.fromkeys(Dialect, (_LASTING, _OF_SESSION, _LATEST, _ABOUT)),
    back=dict.fromkeys(Dialect, tuple(f"DROP INDEX {name}" for name in _NAMES)),
)
