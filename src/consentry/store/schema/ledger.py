"""The tables of the ledger itself: events, heads of chains, archives.

Events are stored as the canonical bytes their hash is over, and once only: what queries look for is
computed from those bytes by the database itself, so that no second copy can tell another story.
An event that was archived leaves its place, hash and id in `archived_event`.
"""

from consentry.store.database import Dialect
from consentry.store.schema.step import Migration

_DROP_EVENTS = (
    "DROP TABLE ledger_head",
    "DROP TABLE store_identity",
    "DROP TABLE ledger_event",
)
_DROP_ARCHIVES = (
    "DROP TABLE archived_event",
    "DROP INDEX ledger_event_session",
    "ALTER TABLE ledger_event DROP COLUMN decision",
)

EVENTS = Migration(
    1,
    forward={
        Dialect.SQLITE: (
            """
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
            """,
            "CREATE UNIQUE INDEX ledger_event_id ON ledger_event (event_id)",
            "CREATE INDEX ledger_event_subject ON ledger_event (subject, at)",
            "CREATE INDEX ledger_event_at ON ledger_event (at)",
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
            # The parser of JSON does not depend on settings; only its declaration says it may.
            """
            CREATE FUNCTION consentry_field(body TEXT, name TEXT) RETURNS TEXT
            LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT body::json ->> name $$
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
            "CREATE UNIQUE INDEX ledger_event_id ON ledger_event (event_id)",
            "CREATE INDEX ledger_event_subject ON ledger_event (subject, at)",
            "CREATE INDEX ledger_event_at ON ledger_event (at)",
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
        Dialect.POSTGRESQL: (*_DROP_EVENTS, "DROP FUNCTION consentry_field(TEXT, TEXT)"),
    },
)

ARCHIVES = Migration(
    2,
    forward={
        Dialect.SQLITE: (
            """
            ALTER TABLE ledger_event ADD COLUMN decision TEXT
                GENERATED ALWAYS AS (json_extract(body, '$.payload.decision')) VIRTUAL
            """,
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
            AS $$ SELECT body::json -> 'payload' ->> 'decision' $$
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
        Dialect.SQLITE: _DROP_ARCHIVES,
        Dialect.POSTGRESQL: (*_DROP_ARCHIVES, "DROP FUNCTION consentry_decision(TEXT)"),
    },
)
