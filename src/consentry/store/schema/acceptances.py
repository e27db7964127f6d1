"""The table of accepted workspaces: at most one acceptance stands for a workspace on a machine."""

from consentry.store.database import Dialect
from consentry.store.schema.step import Migration, Statements

_TYPES = {
    Dialect.SQLITE: {"text": "TEXT", "table_end": ") STRICT"},
    Dialect.POSTGRESQL: {"text": 'TEXT COLLATE "C"', "table_end": ")"},
}

_ACCEPTANCES = """
CREATE TABLE acceptance (
    acceptance_id {text} PRIMARY KEY,
    machine_id {text} NOT NULL,
    workspace {text} NOT NULL,
    digest {text} NOT NULL,
    files {text} NOT NULL,
    accepted_by {text} NOT NULL,
    accepted_at {text} NOT NULL,
    withdrawn_by {text},
    withdrawn_at {text},
    CHECK ((withdrawn_by IS NULL) = (withdrawn_at IS NULL)),
    CHECK (withdrawn_at IS NULL OR withdrawn_at >= accepted_at)
{table_end}
"""
_INDEX = (
    "CREATE UNIQUE INDEX acceptance_standing ON acceptance (machine_id, workspace) "
    "WHERE withdrawn_at IS NULL"
)


def _forward(dialect: Dialect) -> Statements:
    return (_ACCEPTANCES.format(**_TYPES[dialect]), _INDEX)


ACCEPTANCES = Migration(
    5,
    forward={dialect: _forward(dialect) for dialect in Dialect},
    back=dict.fromkeys(Dialect, ("DROP TABLE acceptance",)),
)
