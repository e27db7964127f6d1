"""The tables of capability tokens and of what their workflows have used (TRUST §token-6).

Both are filled from events only, by `store.projections`. A workflow's limits and counts are one row
for each kind of use, so that the ten-thousandth use costs what the first did. `held` runs ahead of
`uses` inside a transaction: whoever is about to append counts itself there first.
"""

from consentry.store.database import Dialect
from consentry.store.schema.step import Migration, Statements

_TYPES = {
    Dialect.SQLITE: {"text": "TEXT", "whole": "INTEGER", "table_end": ") STRICT"},
    Dialect.POSTGRESQL: {"text": 'TEXT COLLATE "C"', "whole": "BIGINT", "table_end": ")"},
}

_TOKENS = """
CREATE TABLE capability_token (
    token_id {text} PRIMARY KEY,
    capability {text} NOT NULL,
    workflow {text} NOT NULL,
    workspace {text} NOT NULL,
    tool {text},
    machine_id {text} NOT NULL,
    consent_id {text},
    grant_id {text},
    part_of {text},
    digest {text} NOT NULL,
    scope {text} NOT NULL,
    minted_at {text} NOT NULL,
    expires_at {text} NOT NULL,
    uses {whole} NOT NULL,
    used_at {text}
{table_end}
"""
_BUDGETS = """
CREATE TABLE capability_budget (
    workflow {text} NOT NULL,
    kind {text} NOT NULL,
    most {whole} CHECK (most >= 0),
    uses {whole} NOT NULL,
    held {whole} NOT NULL,
    PRIMARY KEY (workflow, kind)
{table_end}
"""
_INDEXES = (
    "CREATE INDEX capability_token_workflow ON capability_token (workflow, token_id)",
    "CREATE INDEX capability_token_consent ON capability_token (consent_id)",
)


def _forward(dialect: Dialect) -> Statements:
    types = _TYPES[dialect]
    return (_TOKENS.format(**types), _BUDGETS.format(**types), *_INDEXES)


TOKENS = Migration(
    8,
    forward={dialect: _forward(dialect) for dialect in Dialect},
    back=dict.fromkeys(Dialect, ("DROP TABLE capability_budget", "DROP TABLE capability_token")),
)
