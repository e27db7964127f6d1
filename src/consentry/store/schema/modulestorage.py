"""The table of what modules keep for themselves: one row for each key of a module of a host.

`size` counts key and value in bytes. It stands before the value, so that adding up what a module keeps
does not read what it keeps.
"""

from consentry.store.database import Dialect
from consentry.store.schema.step import Migration, Statements

_TYPES = {
    Dialect.SQLITE: {"text": "TEXT", "whole": "INTEGER", "table_end": ") STRICT"},
    Dialect.POSTGRESQL: {"text": 'TEXT COLLATE "C"', "whole": "BIGINT", "table_end": ")"},
}

_STORAGE = """
CREATE TABLE module_storage (
    host_id {text} NOT NULL,
    module_id {text} NOT NULL,
    storage_key {text} NOT NULL,
    size {whole} NOT NULL CHECK (size > 0),
    updated_at {text} NOT NULL,
    value {text} NOT NULL,
    PRIMARY KEY (host_id, module_id, storage_key)
{table_end}
"""


def _forward(dialect: Dialect) -> Statements:
    return (_STORAGE.format(**_TYPES[dialect]),)


MODULE_STORAGE = Migration(
    11,
    forward={dialect: _forward(dialect) for dialect in Dialect},
    back=dict.fromkeys(Dialect, ("DROP TABLE module_storage",)),
)
