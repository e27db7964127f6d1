"""The tables of transactions: attempts, their keys, what blocks a document; and the documents themselves.

An attempt is one row; what is large and never changes (operations, preview, journal) is a row of another
table, so that a step writes little. `version` counts its steps: whoever changes it says which one they saw. A
key belongs to one attempt.

`document_commit` is the log that tells for good what became of a commit: `apply` and `rollback` took effect,
`given-up` never will. Events stay when this version is left; the documents go with it.
"""

from consentry.store.database import Dialect
from consentry.store.schema.step import Migration, Statements

_TYPES = {
    Dialect.SQLITE: {"text": "TEXT", "whole": "INTEGER", "table_end": ") STRICT"},
    Dialect.POSTGRESQL: {"text": 'TEXT COLLATE "C"', "whole": "BIGINT", "table_end": ")"},
}
_ATTEMPTS = """
CREATE TABLE transaction_attempt (
    tx_id {text} NOT NULL,
    attempt_no {whole} NOT NULL CHECK (attempt_no > 0),
    document_id {text} NOT NULL,
    host_id {text} NOT NULL,
    module_id {text},
    state {text} NOT NULL,
    version {whole} NOT NULL,
    created_at {text} NOT NULL,
    changed_at {text} NOT NULL,
    request_id {text},
    attempt {text} NOT NULL,
    PRIMARY KEY (tx_id, attempt_no)
{table_end}
"""
_CONTENTS = """
CREATE TABLE transaction_content (
    tx_id {text} NOT NULL,
    attempt_no {whole} NOT NULL,
    document_id {text} NOT NULL,
    operations {text} NOT NULL,
    preview {text},
    writes {text} NOT NULL,
    PRIMARY KEY (tx_id, attempt_no)
{table_end}
"""
_KEYS = """
CREATE TABLE transaction_key (
    document_id {text} NOT NULL,
    idempotency_key {text} NOT NULL,
    kind {text} NOT NULL CHECK (kind IN ('apply', 'rollback')),
    tx_id {text} NOT NULL,
    attempt_no {whole} NOT NULL,
    PRIMARY KEY (document_id, kind, idempotency_key)
{table_end}
"""
_BLOCKS = """
CREATE TABLE transaction_block (
    document_id {text} NOT NULL,
    tx_id {text} NOT NULL,
    attempt_no {whole} NOT NULL,
    since {text} NOT NULL,
    PRIMARY KEY (document_id, tx_id, attempt_no)
{table_end}
"""
_DOCUMENTS = """
CREATE TABLE document (
    document_id {text} PRIMARY KEY,
    revision {text} NOT NULL,
    changed_at {text} NOT NULL
{table_end}
"""
_ENTITIES = """
CREATE TABLE document_entity (
    document_id {text} NOT NULL,
    entity_type {text} NOT NULL,
    entity_id {text} NOT NULL,
    value {text} NOT NULL,
    PRIMARY KEY (document_id, entity_type, entity_id)
{table_end}
"""
_COMMITS = """
CREATE TABLE document_commit (
    commit_key {text} PRIMARY KEY,
    document_id {text} NOT NULL,
    kind {text} NOT NULL CHECK (kind IN ('apply', 'rollback', 'given-up')),
    commit_id {text} NOT NULL,
    tx_id {text} NOT NULL,
    attempt_no {whole} NOT NULL,
    base_revision {text} NOT NULL,
    revision {text} NOT NULL,
    committed_at {text} NOT NULL
{table_end}
"""
_INDEXES = (
    "CREATE INDEX transaction_attempt_at ON transaction_attempt (created_at, tx_id, attempt_no)",
    "CREATE INDEX transaction_attempt_state ON transaction_attempt (state, document_id)",
    "CREATE INDEX transaction_attempt_request ON transaction_attempt (request_id)",
    "CREATE INDEX document_commit_of ON document_commit (document_id, tx_id, attempt_no)",
)
_TABLES = (
    ("transaction_attempt", _ATTEMPTS),
    ("transaction_content", _CONTENTS),
    ("transaction_key", _KEYS),
    ("transaction_block", _BLOCKS),
    ("document", _DOCUMENTS),
    ("document_entity", _ENTITIES),
    ("document_commit", _COMMITS),
)


def _forward(dialect: Dialect) -> Statements:
    return (*(table.format(**_TYPES[dialect]) for _, table in _TABLES), *_INDEXES)


TRANSACTIONS = Migration(
    12,
    forward={dialect: _forward(dialect) for dialect in Dialect},
    back=dict.fromkeys(Dialect, tuple(f"DROP TABLE {name}" for name, _ in reversed(_TABLES))),
)
