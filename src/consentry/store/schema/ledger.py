"""The tables of the ledger itself: events, heads of chains, archives.

Events are stored as the canonical bytes their hash is over, and once only: what queries look for is
computed from those bytes by the database itself, so that no second copy can tell another story.
An event that was archived leaves its place, hash and id in `archived_event`.

In SQLite the events of version 1 lay in the order of their chains; from version 2 on they lie in the
order they were recorded, which is quicker to add to and to read through.
"""

from consentry.store.database import Dialect
from consentry.store.schema.step import Migration

_INDEXES = (
    "CREATE UNIQUE INDEX ledger_event_id ON ledger_event (event_id)",
    "CREATE INDEX ledger_event_subject ON ledger_event (subject, at)",
    "CREATE INDEX ledger_event_at ON ledger_event (at)",
)
_FIRST_EVENTS = """
CREATE TABLE ledger_event (
    writer TEXT NOT NULL,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    body TEXT NOT NULL,
    event_id TEXT GENERATED ALWAYS AS (json_extract(body, '$.eventId')) VIRTUAL,
    type TEXT GENERATED ALWAYS AS (json_extract(body, '$.type')) VIRTUAL,
    subject TEXT GENERATED ALWAYS AS (json_extract(body, '$.subject')) VIRTUAL,
    session_id TEXT GENERATED ALWAYS AS (json_extract(body, '$.sessionId')) VIRTUAL,
    at TEXT GENERATED ALWAYS AS (json_extract(body, '$.timestampUtc')) VIRTUAL,
    PRIMARY KEY (writer, seq)
) WITHOUT ROWID, STRICT
"""
_COPY_EVENTS = (
    "INSERT INTO ledger_event (writer, seq, hash, body) "
    "SELECT writer, seq, hash, body FROM ledger_event_1 ORDER BY writer, seq"
)
# PostgreSQL reads no JSON with a NUL character in it, which a name from outside may well have; it is
# put aside for reading only. The parser does not depend on settings; its declaration says it may.
_AS_JSON = r"""
CREATE FUNCTION consentry_json(body TEXT) RETURNS JSON
LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN position('\u0000' IN body) = 0 THEN body::json
    ELSE regexp_replace(body, '(?<!\\)((\\\\)*)\\u0000', '\1\\ufffd', 'g')::json END
$$
"""
_DROP_EVENTS = (
    "DROP TABLE ledger_head",
    "DROP TABLE store_identity",
    "DROP TABLE ledger_event",
)

EVENTS = Migration(
    1,
    forward={
        Dialect.SQLITE: (
            _FIRST_EVENTS,
            *_INDEXES,
            "CREATE TABLE store_identity (id TEXT NOT NULL) STRICT",
            "INSERT INTO store_identity VALUES ('store-' || lower(hex(randomblob(16))))",
            """
            CREATE TABLE ledger_head (
                writer TEXT PRIMARY KEY,
                seq INTEGER NOT NULL,
                hash TEXT NOT NULL
            ) STRICT
            """,
        ),
        Dialect.POSTGRESQL: (
            _AS_JSON,
            """
            CREATE FUNCTION consentry_field(body TEXT, name TEXT) RETURNS TEXT
            LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT consentry_json(body) ->> name $$
            """,
            """
            CREATE TABLE ledger_event (
                writer TEXT COLLATE "C" NOT NULL,
                seq BIGINT NOT NULL,
                hash TEXT COLLATE "C" NOT NULL,
                body TEXT COLLATE "C" NOT NULL,
                event_id TEXT COLLATE "C" GENERATED ALWAYS AS (consentry_field(body, 'eventId')) STORED,
                type TEXT COLLATE "C" GENERATED ALWAYS AS (consentry_field(body, 'type')) STORED,
                subject TEXT COLLATE "C" GENERATED ALWAYS AS (consentry_field(body, 'subject')) STORED,
                session_id TEXT COLLATE "C"
                    GENERATED ALWAYS AS (consentry_field(body, 'sessionId')) STORED,
                at TEXT COLLATE "C" GENERATED ALWAYS AS (consentry_field(body, 'timestampUtc')) STORED,
                PRIMARY KEY (writer, seq)
            )
            """,
            *_INDEXES,
            "CREATE TABLE store_identity (id TEXT NOT NULL)",
            "INSERT INTO store_identity VALUES ('store-' || replace(gen_random_uuid()::text, '-', ''))",
            """
            CREATE TABLE ledger_head (
                writer TEXT COLLATE "C" PRIMARY KEY,
                seq BIGINT NOT NULL,
                hash TEXT COLLATE "C" NOT NULL
            )
            """,
        ),
    },
    back={
        Dialect.SQLITE: _DROP_EVENTS,
        Dialect.POSTGRESQL: (
            *_DROP_EVENTS,
            "DROP FUNCTION consentry_field(TEXT, TEXT)",
            "DROP FUNCTION consentry_json(TEXT)",
        ),
    },
)

ARCHIVES = Migration(
    2,
    forward={
        Dialect.SQLITE: (
            "ALTER TABLE ledger_event RENAME TO ledger_event_1",
            """
            CREATE TABLE ledger_event (
                id INTEGER PRIMARY KEY,
                writer TEXT NOT NULL,
                seq INTEGER NOT NULL,
                hash TEXT NOT NULL,
                body TEXT NOT NULL,
                event_id TEXT GENERATED ALWAYS AS (json_extract(body, '$.eventId')) VIRTUAL,
                type TEXT GENERATED ALWAYS AS (json_extract(body, '$.type')) VIRTUAL,
                subject TEXT GENERATED ALWAYS AS (json_extract(body, '$.subject')) VIRTUAL,
                session_id TEXT GENERATED ALWAYS AS (json_extract(body, '$.sessionId')) VIRTUAL,
                at TEXT GENERATED ALWAYS AS (json_extract(body, '$.timestampUtc')) VIRTUAL,
                decision TEXT
                    GENERATED ALWAYS AS (json_extract(body, '$.payload.decision')) VIRTUAL,
                UNIQUE (writer, seq)
            ) STRICT
            """,
            _COPY_EVENTS,
            "DROP TABLE ledger_event_1",
            *_INDEXES,
            """
            CREATE INDEX ledger_event_session ON ledger_event (session_id, at)
                WHERE session_id IS NOT NULL
            """,
            """
            CREATE TABLE archived_event (
                writer TEXT NOT NULL,
                seq INTEGER NOT NULL,
                hash TEXT NOT NULL,
                event_id TEXT NOT NULL UNIQUE,
                archive_id TEXT NOT NULL,
                PRIMARY KEY (writer, seq)
            ) WITHOUT ROWID, STRICT
            """,
        ),
        Dialect.POSTGRESQL: (
            """
            CREATE FUNCTION consentry_decision(body TEXT) RETURNS TEXT
            LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE
            AS $$ SELECT consentry_json(body) -> 'payload' ->> 'decision' $$
            """,
            """
            ALTER TABLE ledger_event ADD COLUMN decision TEXT COLLATE "C"
                GENERATED ALWAYS AS (consentry_decision(body)) STORED
            """,
            """
            CREATE INDEX ledger_event_session ON ledger_event (session_id, at)
                WHERE session_id IS NOT NULL
            """,
            """
            CREATE TABLE archived_event (
                writer TEXT COLLATE "C" NOT NULL,
                seq BIGINT NOT NULL,
                hash TEXT COLLATE "C" NOT NULL,
                event_id TEXT COLLATE "C" NOT NULL UNIQUE,
                archive_id TEXT COLLATE "C" NOT NULL,
                PRIMARY KEY (writer, seq)
            )
            """,
        ),
    },
    back={
        Dialect.SQLITE: (
            "DROP TABLE archived_event",
            "ALTER TABLE ledger_event RENAME TO ledger_event_1",
            _FIRST_EVENTS,
            _COPY_EVENTS,
            "DROP TABLE ledger_event_1",
            *_INDEXES,
        ),
        Dialect.POSTGRESQL: (
            "DROP TABLE archived_event",
            "DROP INDEX ledger_event_session",
            "ALTER TABLE ledger_event DROP COLUMN decision",
            "DROP FUNCTION consentry_decision(TEXT)",
        ),
    },
)
