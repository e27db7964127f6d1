"""The tables of what `decide` keeps: approval requests, consents, grants, permits, sessions, machines.

The program checks every value before it is written; the constraints here hold what several writers
could break together (one answer, one use, one session for a terminal) and what a careless hand
could (half an answer, a span without its end). Times are texts of one length that sort as they are.
"""

from consentry.store.database import Dialect
from consentry.store.schema.step import Migration, Statements

_TYPES = {
    Dialect.SQLITE: {"text": "TEXT", "table_end": ") STRICT"},
    Dialect.POSTGRESQL: {"text": 'TEXT COLLATE "C"', "table_end": ")"},
}

_REQUESTS = """
CREATE TABLE approval_request (
    request_id {text} PRIMARY KEY,
    kind {text} NOT NULL,
    subject {text} NOT NULL,
    question {text} NOT NULL,
    preview {text},
    digest {text},
    policy_hash {text},
    session_id {text},
    machine_id {text} NOT NULL,
    requested_at {text} NOT NULL,
    deadline {text} NOT NULL,
    status {text} NOT NULL
        CHECK (status IN ('pending', 'approved', 'denied', 'expired', 'superseded')),
    answered_by {text},
    answered_role {text},
    channel {text},
    answered_at {text},
    reason {text},
    lasts {text} CHECK (lasts IN ('once', 'session', 'until', 'permanent')),
    lasts_until {text},
    CHECK ((status = 'pending') = (answered_at IS NULL)),
    CHECK ((status = 'pending') = (answered_by IS NULL)),
    CHECK ((status = 'pending') = (answered_role IS NULL)),
    CHECK ((status = 'pending') = (channel IS NULL)),
    CHECK (lasts IS NULL OR status = 'approved'),
    CHECK (deadline >= requested_at)
{table_end}
"""
_CONSENTS = """
CREATE TABLE consent (
    consent_id {text} PRIMARY KEY,
    tool {text} NOT NULL,
    version {text} NOT NULL,
    digest {text} NOT NULL,
    surface {text} NOT NULL,
    arguments {text},
    lasts {text} NOT NULL CHECK (lasts IN ('once', 'session', 'until', 'permanent')),
    session_id {text},
    expires_at {text},
    machine_scope {text} NOT NULL,
    policy_hash {text},
    method {text} NOT NULL,
    request_id {text},
    given_by {text} NOT NULL,
    given_at {text} NOT NULL,
    revoked_by {text},
    revoked_at {text},
    used_at {text},
    UNIQUE (request_id, tool),
    CHECK ((lasts = 'once') = (arguments IS NOT NULL)),
    CHECK (lasts <> 'session' OR session_id IS NOT NULL),
    CHECK (lasts <> 'until' OR expires_at IS NOT NULL),
    CHECK (lasts <> 'permanent' OR expires_at IS NULL),
    CHECK (used_at IS NULL OR lasts = 'once'),
    CHECK ((revoked_by IS NULL) = (revoked_at IS NULL))
{table_end}
"""
_GRANTS = """
CREATE TABLE capability_grant (
    grant_id {text} PRIMARY KEY,
    module_id {text} NOT NULL,
    module_version {text} NOT NULL,
    capability_id {text} NOT NULL,
    scope {text} NOT NULL CHECK (scope IN ('session', 'persistent')),
    grant_version {text} NOT NULL,
    session_id {text},
    given_by {text} NOT NULL,
    given_role {text} NOT NULL,
    given_at {text} NOT NULL,
    revoked_by {text},
    revoked_at {text},
    CHECK ((scope = 'session') = (session_id IS NOT NULL)),
    CHECK ((revoked_by IS NULL) = (revoked_at IS NULL))
{table_end}
"""
_PERMITS = """
CREATE TABLE permit (
    permit_id {text} PRIMARY KEY,
    subject {text} NOT NULL,
    digests {text} NOT NULL,
    arguments {text} NOT NULL,
    surface {text} NOT NULL,
    machine_id {text} NOT NULL,
    decision_event_id {text} NOT NULL,
    made_at {text} NOT NULL,
    expires_at {text} NOT NULL,
    spent_at {text},
    spent_by {text},
    CHECK (expires_at > made_at),
    CHECK ((spent_at IS NULL) = (spent_by IS NULL)),
    CHECK (spent_at IS NULL OR spent_at BETWEEN made_at AND expires_at)
{table_end}
"""
# `user` is a word of its own in SQL, and `session_user` another.
_SESSIONS = """
CREATE TABLE session (
    session_id {text} PRIMARY KEY,
    "user" {text} NOT NULL,
    machine_id {text} NOT NULL,
    kind {text} NOT NULL CHECK (kind IN ('terminal', 'library', 'mcp')),
    leader {text},
    started_at {text} NOT NULL,
    ended_at {text},
    ended_why {text} CHECK (ended_why IN ('ended', 'process_gone', 'age', 'replaced')),
    CHECK (kind <> 'terminal' OR leader IS NOT NULL),
    CHECK ((ended_at IS NULL) = (ended_why IS NULL))
{table_end}
"""
_MACHINES = """
CREATE TABLE machine (
    machine_id {text} PRIMARY KEY,
    host_name {text} NOT NULL,
    registered_at {text} NOT NULL,
    labels {text} NOT NULL
{table_end}
"""
_GRANT_INDEX = """
    CREATE UNIQUE INDEX capability_grant_standing ON capability_grant (
        module_id, capability_id, module_version, scope, given_by, grant_version,
        (coalesce(session_id, ''))
    ) WHERE revoked_at IS NULL
    """
_INDEXES = (
    "CREATE INDEX approval_request_pending ON approval_request (deadline) WHERE status = 'pending'",
    "CREATE INDEX consent_open ON consent (tool) WHERE revoked_at IS NULL AND used_at IS NULL",
    "CREATE INDEX consent_tool ON consent (tool)",
    "CREATE INDEX consent_session ON consent (session_id) WHERE session_id IS NOT NULL",
    _GRANT_INDEX,
    """
    CREATE UNIQUE INDEX session_terminal ON session (machine_id, leader, "user")
        WHERE kind = 'terminal' AND ended_at IS NULL
    """,
    "CREATE INDEX session_open ON session (started_at) WHERE ended_at IS NULL",
)


def _forward(dialect: Dialect) -> Statements:
    tables = (_REQUESTS, _CONSENTS, _GRANTS, _PERMITS, _SESSIONS, _MACHINES)
    return (*(table.format(**_TYPES[dialect]) for table in tables), *_INDEXES)


GRANTS_BEFORE = {dialect: (_GRANTS.format(**_TYPES[dialect]), _GRANT_INDEX) for dialect in Dialect}
"""The table of grants as it was before there were modules, for going back to that."""

KEEPING = Migration(
    3,
    forward={dialect: _forward(dialect) for dialect in Dialect},
    back=dict.fromkeys(
        Dialect,
        (
            "DROP TABLE machine",
            "DROP TABLE session",
            "DROP TABLE permit",
            "DROP TABLE capability_grant",
            "DROP TABLE consent",
            "DROP TABLE approval_request",
        ),
    ),
)
