"""The two tables of saved capabilities and their permission sets (ESCALATION AC4, AC6).

`permission_audit_log` has the document's own columns and indexes: the time in whole seconds since
1970, `approved` as 0 or 1. Both tables are filled from events only, by `store.projections`.
"""

from consentry.store.database import Dialect
from consentry.store.schema.step import Migration, Statements

_TYPES = {
    Dialect.SQLITE: {
        "text": "TEXT",
        "whole": "INTEGER",
        "real": "REAL",
        "table_end": ") STRICT",
    },
    Dialect.POSTGRESQL: {
        "text": 'TEXT COLLATE "C"',
        "whole": "BIGINT",
        "real": "DOUBLE PRECISION",
        "table_end": ")",
    },
}

_AUDIT_LOG = """
CREATE TABLE permission_audit_log (
    id {text} PRIMARY KEY,
    timestamp {whole} NOT NULL,
    capability_id {text} NOT NULL,
    from_set {text} NOT NULL,
    to_set {text} NOT NULL,
    approved {whole} NOT NULL CHECK (approved IN (0, 1)),
    approved_by {text},
    reason {text},
    detected_operation {text}
{table_end}
"""
_PATTERNS = """
CREATE TABLE workflow_pattern (
    id {text} PRIMARY KEY,
    name {text} NOT NULL,
    language {text} NOT NULL,
    code {text} NOT NULL,
    code_hash {text} NOT NULL,
    version {whole} NOT NULL CHECK (version >= 1),
    permission_set {text} NOT NULL,
    permission_confidence {real} NOT NULL CHECK (permission_confidence BETWEEN 0 AND 1),
    permission_source {text} NOT NULL,
    detected_patterns {text} NOT NULL,
    created_at {text} NOT NULL,
    updated_at {text} NOT NULL
{table_end}
"""
_INDEXES = (
    "CREATE INDEX permission_audit_log_capability_id ON permission_audit_log (capability_id)",
    "CREATE INDEX permission_audit_log_timestamp ON permission_audit_log (timestamp)",
)


def _forward(dialect: Dialect) -> Statements:
    types = _TYPES[dialect]
    return (_AUDIT_LOG.format(**types), _PATTERNS.format(**types), *_INDEXES)


ESCALATION = Migration(
    4,
    forward={dialect: _forward(dialect) for dialect in Dialect},
    back=dict.fromkeys(Dialect, ("DROP TABLE workflow_pattern", "DROP TABLE permission_audit_log")),
)
