"""The tables of imported modules: hosts, registrations, the operator's mode, blocked actions; and grants anew.

A registration's `revision` counts up with every change of what the module may do (import, grant, revoke),
in the transaction that makes the change: whoever holds a loaded snapshot learns from one row whether it
is still the truth. It never counts from the beginning again: of a module that is removed the last one is
kept, or one that comes back would look like what was loaded before it went.

Grants get the host and the package digest they were given for. No module could be imported before this
version, so there is no grant to carry over, and the table is made anew. Going back drops what only this
version can hold; the events stay.
"""

from consentry.store.database import Dialect
from consentry.store.schema.keeping import GRANTS_BEFORE
from consentry.store.schema.step import Migration, Statements

_TYPES = {
    Dialect.SQLITE: {"text": "TEXT", "whole": "INTEGER", "table_end": ") STRICT"},
    Dialect.POSTGRESQL: {"text": 'TEXT COLLATE "C"', "whole": "BIGINT", "table_end": ")"},
}
_HOSTS = """
CREATE TABLE module_host (
    host_id {text} PRIMARY KEY,
    app_version {text} NOT NULL,
    digest {text} NOT NULL,
    document {text} NOT NULL,
    registered_at {text} NOT NULL
{table_end}
"""
_MODULES = """
CREATE TABLE module (
    host_id {text} NOT NULL,
    module_id {text} NOT NULL,
    module_version {text} NOT NULL,
    package_digest {text} NOT NULL,
    document {text} NOT NULL,
    graph {text},
    imported_by {text} NOT NULL,
    imported_at {text} NOT NULL,
    revision {whole} NOT NULL,
    PRIMARY KEY (host_id, module_id)
{table_end}
"""
_REMOVED = """
CREATE TABLE module_removed (
    host_id {text} NOT NULL,
    module_id {text} NOT NULL,
    revision {whole} NOT NULL,
    PRIMARY KEY (host_id, module_id)
{table_end}
"""
_MODE = """
CREATE TABLE module_mode (
    only_row {whole} PRIMARY KEY CHECK (only_row = 1),
    mode {text} NOT NULL CHECK (mode IN ('deny-all', 'inspect-only', 'block-rejected', 'normal')),
    changed_by {text} NOT NULL,
    changed_at {text} NOT NULL
{table_end}
"""
_BLOCKS = """
CREATE TABLE module_block (
    host_id {text} NOT NULL,
    module_id {text} NOT NULL,
    action_id {text} NOT NULL,
    code {text} NOT NULL,
    capability_id {text} NOT NULL,
    blocked_at {text} NOT NULL,
    PRIMARY KEY (host_id, module_id, action_id)
{table_end}
"""
# One yes carries out one run.
_RUNS = """
CREATE TABLE module_action (
    request_id {text} PRIMARY KEY,
    action_run_id {text} NOT NULL,
    begun_at {text} NOT NULL
{table_end}
"""
_GRANTS = """
CREATE TABLE capability_grant (
    grant_id {text} PRIMARY KEY,
    host_id {text} NOT NULL,
    module_id {text} NOT NULL,
    module_version {text} NOT NULL,
    package_digest {text} NOT NULL,
    capability_id {text} NOT NULL,
    scope {text} NOT NULL CHECK (scope IN ('session', 'persistent')),
    grant_version {text} NOT NULL,
    session_id {text},
    given_by {text} NOT NULL,
    given_role {text} NOT NULL,
    given_at {text} NOT NULL,
    request_id {text},
    revoked_by {text},
    revoked_at {text},
    CHECK ((scope = 'session') = (session_id IS NOT NULL)),
    CHECK ((revoked_by IS NULL) = (revoked_at IS NULL))
{table_end}
"""
_INDEXES = (
    """
    CREATE UNIQUE INDEX capability_grant_standing ON capability_grant (
        host_id, module_id, capability_id, module_version, package_digest, scope, given_by,
        grant_version, (coalesce(session_id, ''))
    ) WHERE revoked_at IS NULL
    """,
    # All that a query names, so that none is answered from the long list of what has ended.
    (
        "CREATE INDEX capability_grant_lasting ON capability_grant (host_id, module_id, "
        "module_version, package_digest) WHERE revoked_at IS NULL AND scope = 'persistent'"
    ),
    (
        "CREATE INDEX capability_grant_of_session ON capability_grant (session_id, host_id, module_id) "
        "WHERE scope = 'session'"
    ),
    # What was voided is asked for only to tell stale from never given.
    (
        "CREATE INDEX capability_grant_void ON capability_grant (host_id, module_id, capability_id) "
        "WHERE revoked_by = 'system'"
    ),
    "CREATE INDEX capability_grant_given ON capability_grant (given_at, grant_id)",
    # Of what a module waits for, the database itself keeps a second question out.
    (
        "CREATE UNIQUE INDEX approval_request_asked ON approval_request (digest) "
        "WHERE kind = 'capability' AND status = 'pending'"
    ),
)


def _forward(dialect: Dialect) -> Statements:
    tables = (_GRANTS, _HOSTS, _MODULES, _REMOVED, _MODE, _BLOCKS, _RUNS)
    made = (table.format(**_TYPES[dialect]) for table in tables)
    return ("DROP TABLE capability_grant", *made, *_INDEXES)


def _back(dialect: Dialect) -> Statements:
    return (
        "DROP INDEX approval_request_asked",
        "DROP TABLE module_action",
        "DROP TABLE module_block",
        "DROP TABLE module_mode",
        "DROP TABLE module_removed",
        "DROP TABLE module",
        "DROP TABLE module_host",
        "DROP TABLE capability_grant",
        *GRANTS_BEFORE[dialect],
    )


MODULES = Migration(
    10,
    forward={dialect: _forward(dialect) for dialect in Dialect},
    back={dialect: _back(dialect) for dialect in Dialect},
)
