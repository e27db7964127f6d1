BEGIN TRANSACTION;
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO schema_version VALUES(1);
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
            ;
INSERT INTO ledger_event VALUES('machine-11111111111111111111111111111111',1,'sha256:1aff701e2f4e7ea6e1aaf3f1cac51da8235bc2b1a92a5f4b7bd2f4e40d4837dd','{"actor":"local:1000:user@host","drillId":null,"eventId":"event-00000000-0000-7000-8000-000000000001","evidenceChannel":"prod_traffic","expectedOutcome":null,"fixtureCaseId":null,"fixtureRunId":null,"machineId":"machine-11111111111111111111111111111111","payload":{"component":"a","jail":"/jail","n":0,"relative":"a/b"},"policyHash":null,"prev":"sha256:0000000000000000000000000000000000000000000000000000000000000000","schemaVersion":1,"seq":1,"sessionId":null,"subject":"tool:0","timestampUtc":"2026-01-01T00:00:01.000Z","type":"FilesystemRaceDetected","workflowId":null,"writer":"machine-11111111111111111111111111111111"}');
INSERT INTO ledger_event VALUES('machine-11111111111111111111111111111111',2,'sha256:1998b5fdddc1487305b072ade5ede89441d8fe52749b37cda4b06c79f1596600','{"actor":"local:1000:user@host","drillId":null,"eventId":"event-00000000-0000-7000-8000-000000000003","evidenceChannel":"prod_traffic","expectedOutcome":null,"fixtureCaseId":null,"fixtureRunId":null,"machineId":"machine-11111111111111111111111111111111","payload":{"component":"a","jail":"/jail","n":2,"relative":"a/b"},"policyHash":null,"prev":"sha256:1aff701e2f4e7ea6e1aaf3f1cac51da8235bc2b1a92a5f4b7bd2f4e40d4837dd","schemaVersion":1,"seq":2,"sessionId":null,"subject":"tool:2","timestampUtc":"2026-01-01T00:00:03.000Z","type":"FilesystemRaceDetected","workflowId":null,"writer":"machine-11111111111111111111111111111111"}');
INSERT INTO ledger_event VALUES('machine-11111111111111111111111111111111',3,'sha256:bc1c7e1a8faeb8b2568260913ef62f4cbcb51d37a396cc32aa6d5a64cf640fa6','{"actor":"local:1000:user@host","drillId":null,"eventId":"event-00000000-0000-7000-8000-000000000005","evidenceChannel":"prod_traffic","expectedOutcome":null,"fixtureCaseId":null,"fixtureRunId":null,"machineId":"machine-11111111111111111111111111111111","payload":{"component":"a","jail":"/jail","n":4,"relative":"a/b"},"policyHash":null,"prev":"sha256:1998b5fdddc1487305b072ade5ede89441d8fe52749b37cda4b06c79f1596600","schemaVersion":1,"seq":3,"sessionId":null,"subject":"tool:4","timestampUtc":"2026-01-01T00:00:05.000Z","type":"FilesystemRaceDetected","workflowId":null,"writer":"machine-11111111111111111111111111111111"}');
INSERT INTO ledger_event VALUES('machine-22222222222222222222222222222222',1,'sha256:722969858dbf3c36393b1339384acf75f547e0a4a574f6374edffd0c2fc613ff','{"actor":"local:1000:user@host","drillId":null,"eventId":"event-00000000-0000-7000-8000-000000000002","evidenceChannel":"prod_traffic","expectedOutcome":null,"fixtureCaseId":null,"fixtureRunId":null,"machineId":"machine-11111111111111111111111111111111","payload":{"component":"a","jail":"/jail","n":1,"relative":"a/b"},"policyHash":null,"prev":"sha256:0000000000000000000000000000000000000000000000000000000000000000","schemaVersion":1,"seq":1,"sessionId":null,"subject":"tool:1","timestampUtc":"2026-01-01T00:00:02.000Z","type":"FilesystemRaceDetected","workflowId":null,"writer":"machine-22222222222222222222222222222222"}');
INSERT INTO ledger_event VALUES('machine-22222222222222222222222222222222',2,'sha256:d8fa73cd8f648a09a124fecee93fd00b810029988e99dbe3b5f4e382db566442','{"actor":"local:1000:user@host","drillId":null,"eventId":"event-00000000-0000-7000-8000-000000000004","evidenceChannel":"prod_traffic","expectedOutcome":null,"fixtureCaseId":null,"fixtureRunId":null,"machineId":"machine-11111111111111111111111111111111","payload":{"component":"a","jail":"/jail","n":3,"relative":"a/b"},"policyHash":null,"prev":"sha256:722969858dbf3c36393b1339384acf75f547e0a4a574f6374edffd0c2fc613ff","schemaVersion":1,"seq":2,"sessionId":null,"subject":"tool:3","timestampUtc":"2026-01-01T00:00:04.000Z","type":"FilesystemRaceDetected","workflowId":null,"writer":"machine-22222222222222222222222222222222"}');
INSERT INTO ledger_event VALUES('machine-22222222222222222222222222222222',3,'sha256:a10cd9e0b6c492c16cc31006510e9aa696fd5a857b8be6f541e6ce2a6c495117','{"actor":"local:1000:user@host","drillId":null,"eventId":"event-00000000-0000-7000-8000-000000000006","evidenceChannel":"prod_traffic","expectedOutcome":null,"fixtureCaseId":null,"fixtureRunId":null,"machineId":"machine-11111111111111111111111111111111","payload":{"component":"a","jail":"/jail","relative":"a/b","text":"a\nb''c"},"policyHash":null,"prev":"sha256:d8fa73cd8f648a09a124fecee93fd00b810029988e99dbe3b5f4e382db566442","schemaVersion":1,"seq":3,"sessionId":null,"subject":"tool:é","timestampUtc":"2026-01-01T00:00:06.000Z","type":"FilesystemRaceDetected","workflowId":null,"writer":"machine-22222222222222222222222222222222"}');
CREATE TABLE store_identity (id TEXT NOT NULL) STRICT;
INSERT INTO store_identity VALUES('store-13bb9443b8868a357a86ce2a6b21cd0a');
CREATE TABLE ledger_head (
                writer TEXT PRIMARY KEY,
                seq INTEGER NOT NULL,
                hash TEXT NOT NULL
            ) STRICT
            ;
INSERT INTO ledger_head VALUES('machine-11111111111111111111111111111111',3,'sha256:bc1c7e1a8faeb8b2568260913ef62f4cbcb51d37a396cc32aa6d5a64cf640fa6');
INSERT INTO ledger_head VALUES('machine-22222222222222222222222222222222',3,'sha256:a10cd9e0b6c492c16cc31006510e9aa696fd5a857b8be6f541e6ce2a6c495117');
CREATE UNIQUE INDEX ledger_event_id ON ledger_event (event_id);
CREATE INDEX ledger_event_subject ON ledger_event (subject, at);
CREATE INDEX ledger_event_at ON ledger_event (at);
COMMIT;
