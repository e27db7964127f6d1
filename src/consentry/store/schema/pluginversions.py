"""The table of plugins that were accepted with evidence: at most one memory stands for a plugin's folder."""

from consentry.store.database import Dialect
from consentry.store.schema.step import Migration, Statements

_TYPES = {
    Dialect.SQLITE: {"text": "TEXT", "table_end": ") STRICT"},
    Dialect.POSTGRESQL: {"text": 'TEXT COLLATE "C"', "table_end": ")"},
}

_VERSIONS = """
CREATE TABLE plugin_version (
    memory_id {text} PRIMARY KEY,
    machine_id {text} NOT NULL,
    folder {text} NOT NULL,
    plugin {text} NOT NULL,
    version {text} NOT NULL,
    digest {text} NOT NULL,
    strength {text} NOT NULL,
    evidence {text} NOT NULL,
    signers {text} NOT NULL,
    signed_at {text},
    accepted_at {text} NOT NULL,
    forgotten_by {text},
    forgotten_at {text},
    CHECK ((forgotten_by IS NULL) = (forgotten_at IS NULL)),
    CHECK (forgotten_at IS NULL OR forgotten_at >= accepted_at)
{table_end}
"""
_INDEX = (
    "CREATE UNIQUE INDEX plugin_version_standing ON plugin_version (machine_id, folder, plugin) "
    "WHERE forgotten_at IS NULL"
)


def _forward(dialect: Dialect) -> Statements:
    return (_VERSIONS.format(**_TYPES[dialect]), _INDEX)


PLUGIN_VERSIONS = Migration(
    9,
    forward={dialect: _forward(dialect) for dialect in Dialect},
    back=dict.fromkeys(Dialect, ("DROP TABLE plugin_version",)),
)
