"""What may be there once: a capability of a name, and an execution's request for a larger set.

Both hold whichever process or machine writes, so that of two that come at once the database itself
keeps the second out. The third index leads to what a capability or a tool still waits for.
"""

from consentry.store.schema.step import Migration, in_both

CAPABILITIES = Migration(
    7,
    forward=in_both(
        "CREATE UNIQUE INDEX workflow_pattern_name ON workflow_pattern (name)",
        "CREATE UNIQUE INDEX approval_request_once ON approval_request (digest) "
        "WHERE kind = 'escalation'",
        "CREATE INDEX approval_request_waiting ON approval_request (subject) "
        "WHERE status = 'pending'",
    ),
    back=in_both(
        "DROP INDEX approval_request_waiting",
        "DROP INDEX approval_request_once",
        "DROP INDEX workflow_pattern_name",
    ),
)
