
PRAGMA page_size=4096;

BEGIN TRANSACTION;

DROP TABLE IF EXISTS answered;
CREATE TABLE answered (
    space_id INTEGER     NOT NULL,
    key      TEXT        NOT NULL,
    request  TEXT        NOT NULL,
    status   INTEGER     NOT NULL,
    body     JSONB       NOT NULL,
    at       TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (space_id, key)
) WITHOUT ROWID;
CREATE INDEX answered_at ON answered (at);

DROP TABLE IF EXISTS association;
CREATE TABLE association (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id   INTEGER     NOT NULL,
    id         TEXT        NOT NULL UNIQUE,
    source_seq INTEGER     NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    target_seq INTEGER     NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    type       TEXT        NOT NULL,
    weight     REAL        NOT NULL CHECK (weight BETWEEN 0 AND 1),
    created_at TIMESTAMPTZ NOT NULL,
    UNIQUE (source_seq, target_seq, type)
);
INSERT INTO association VALUES(1,1,'00000000-0000-7000-8000-000000000008',2,1,'related_to',0.5,'2026-01-01T12:01:00.000000+00:00');
CREATE INDEX association_target ON association (target_seq);

DROP TABLE IF EXISTS co_occurrence;
CREATE TABLE co_occurrence (
    a_seq   INTEGER     NOT NULL,
    b_seq   INTEGER     NOT NULL,
    count   INTEGER     NOT NULL,
    last_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (a_seq, b_seq),
    CHECK (a_seq < b_seq)
) WITHOUT ROWID;
INSERT INTO co_occurrence VALUES(1,2,2,'2026-01-01T12:01:00.000000+00:00');
CREATE INDEX co_occurrence_b ON co_occurrence (b_seq);

DROP TABLE IF EXISTS embedding_model;
CREATE TABLE embedding_model (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT        NOT NULL,
    dimensions  INTEGER     NOT NULL,
    fingerprint TEXT        NOT NULL,
    state       TEXT        NOT NULL CHECK (state IN ('active', 'building')),
    created_at  TIMESTAMPTZ NOT NULL
);
INSERT INTO embedding_model VALUES(1,'hashed-words',16,'hashed-words-16','active','2026-01-01T12:00:00.000000+00:00');
CREATE UNIQUE INDEX embedding_model_state ON embedding_model (state);

DROP TABLE IF EXISTS entity;
CREATE TABLE entity (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id    INTEGER     NOT NULL REFERENCES space (seq),
    id          TEXT        NOT NULL UNIQUE,
    name        TEXT        NOT NULL,
    type        TEXT        NOT NULL,
    description TEXT,
    metadata    JSONB       NOT NULL,
    status      TEXT        NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    UNIQUE (space_id, name, type)
);
INSERT INTO entity VALUES(1,1,'00000000-0000-7000-8000-00000000000a','Rosa','person',NULL,'{}','active','2026-01-01T12:01:00.000000+00:00','2026-01-01T12:01:00.000000+00:00');
INSERT INTO entity VALUES(2,1,'00000000-0000-7000-8000-00000000000b','Apiary','place',NULL,'{}','active','2026-01-01T12:01:00.000000+00:00','2026-01-01T12:01:00.000000+00:00');
CREATE INDEX entity_order ON entity (space_id, seq);
CREATE INDEX entity_type ON entity (space_id, type);

DROP TABLE IF EXISTS entity_access;
CREATE TABLE entity_access (
    entity_seq   INTEGER PRIMARY KEY,
    access_count INTEGER     NOT NULL,
    last_at      TIMESTAMPTZ NOT NULL
);
INSERT INTO entity_access VALUES(1,2,'2026-01-01T12:01:00.000000+00:00');
INSERT INTO entity_access VALUES(2,2,'2026-01-01T12:01:00.000000+00:00');

DROP TABLE IF EXISTS entity_access_day;
CREATE TABLE entity_access_day (
    entity_seq   INTEGER NOT NULL,
    day          TEXT    NOT NULL,
    access_count INTEGER NOT NULL,
    PRIMARY KEY (entity_seq, day)
) WITHOUT ROWID;
INSERT INTO entity_access_day VALUES(1,'2026-01-01',2);
INSERT INTO entity_access_day VALUES(2,'2026-01-01',2);

DROP TABLE IF EXISTS entity_memory;
CREATE TABLE entity_memory (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id   INTEGER     NOT NULL,
    entity_seq INTEGER     NOT NULL REFERENCES entity (seq) ON DELETE CASCADE,
    memory_seq INTEGER     NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    relevance  REAL        NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
INSERT INTO entity_memory VALUES(1,1,1,3,1.0,'2026-01-01T12:01:00.000000+00:00');
INSERT INTO entity_memory VALUES(2,1,1,4,1.0,'2026-01-01T12:01:00.000000+00:00');
CREATE INDEX entity_memory_entity ON entity_memory (entity_seq, seq, memory_seq);
CREATE INDEX entity_memory_memory ON entity_memory (memory_seq, entity_seq);

DROP TABLE IF EXISTS event;
CREATE TABLE event (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id  INTEGER     NOT NULL REFERENCES space (seq),
    act       TEXT        NOT NULL,
    name      TEXT        NOT NULL,
    subject   TEXT        NOT NULL,
    payload   JSONB       NOT NULL,
    client    TEXT        NOT NULL,
    at        TIMESTAMPTZ NOT NULL,
    before    JSONB       NOT NULL,
    undone_at TIMESTAMPTZ
);
INSERT INTO event VALUES(1,1,'00000000-0000-7000-8000-000000000002','memory_created','00000000-0000-7000-8000-000000000003','{"content":"Rosa keeps bees","type":"fact"}','sample','2026-01-01T12:00:00.000000+00:00','[["memory",1,"c7663795bb48bd36"]]',NULL);
INSERT INTO event VALUES(2,1,'00000000-0000-7000-8000-000000000004','memory_updated','00000000-0000-7000-8000-000000000003','{"changes":{"content":"Rosa keeps bees in four hives"}}','sample','2026-01-01T12:01:00.000000+00:00','[["memory_version",1,"80980dd5422d926d"],{"table":"memory","key":1,"before":{"seq":1,"space_id":1,"id":"00000000-0000-7000-8000-000000000003","content":"Rosa keeps bees","type":"fact","kind":"generic","tags":["bees","garden"],"confidence":1.0,"importance":0.5,"source":null,"context":null,"channel":null,"metadata":{"hives":3},"origin":"memory","pinned_at":null,"created_at":"2026-01-01T12:00:00+00:00","updated_at":"2026-01-01T12:00:00+00:00","accessed_at":null,"access_count":0,"version":1,"flagged_at":null,"forgotten_at":null,"forgotten_reason":null,"superseded_at":null,"superseded_by":null,"captured_at":null,"project":null,"archived_at":null,"confirmed_at":null,"quarantined_at":null,"provenance":{"client":"sample"},"content_hash":"0865d391372e128dbc4d3b360fd7b56bd4eb20aa2da036f1a3ed4c6c29ce201b"},"after":"1548a72f00a8662b"}]',NULL);
INSERT INTO event VALUES(3,1,'00000000-0000-7000-8000-000000000005','memory_created','00000000-0000-7000-8000-000000000006','{"content":"Deploys happen on Mondays","type":"decision"}','sample','2026-01-01T12:01:00.000000+00:00','[["memory",2,"e19d7b338e45a35f"]]',NULL);
INSERT INTO event VALUES(4,1,'00000000-0000-7000-8000-000000000007','memory_associated','00000000-0000-7000-8000-000000000006','{"target":"00000000-0000-7000-8000-000000000003","type":"related_to","weight":0.5}','sample','2026-01-01T12:01:00.000000+00:00','[["association",1,"4c4d527159009f1f"]]',NULL);
INSERT INTO event VALUES(5,1,'00000000-0000-7000-8000-000000000009','entity_created','00000000-0000-7000-8000-00000000000a','{"name":"Rosa","type":"person"}','sample','2026-01-01T12:01:00.000000+00:00','[["entity",1,"f6546d1813fb40cb"]]',NULL);
INSERT INTO event VALUES(6,1,'00000000-0000-7000-8000-000000000009','entity_created','00000000-0000-7000-8000-00000000000b','{"name":"Apiary","type":"place"}','sample','2026-01-01T12:01:00.000000+00:00','[["entity",2,"854df50678d39290"]]',NULL);
INSERT INTO event VALUES(7,1,'00000000-0000-7000-8000-000000000009','memory_created','00000000-0000-7000-8000-00000000000c','{"content":"lives in Porto","type":"observation"}','sample','2026-01-01T12:01:00.000000+00:00','[["memory",3,"de6175be5a823206"]]',NULL);
INSERT INTO event VALUES(8,1,'00000000-0000-7000-8000-000000000009','memory_created','00000000-0000-7000-8000-00000000000d','{"content":"likes tea","type":"observation"}','sample','2026-01-01T12:01:00.000000+00:00','[["memory",4,"db250df109df8a80"],["entity_memory",1,"d3d17a07b6d6117c"],["entity_memory",2,"75b63a8dc20525fb"]]',NULL);
INSERT INTO event VALUES(9,1,'00000000-0000-7000-8000-00000000000e','relation_created','00000000-0000-7000-8000-00000000000f','{"source":"Rosa","target":"Apiary","type":"tends"}','sample','2026-01-01T12:01:00.000000+00:00','[["relation",1,"e7f1b91998d44e38"]]',NULL);
INSERT INTO event VALUES(10,1,'00000000-0000-7000-8000-000000000010','relation_created','00000000-0000-7000-8000-000000000011','{"source":"Apiary","target":"Rosa","type":"belongs to"}','sample','2026-01-01T12:01:00.000000+00:00','[["relation",2,"f74b01eedd2b4ae8"]]',NULL);
INSERT INTO event VALUES(11,1,'00000000-0000-7000-8000-000000000012','reflection_added','00000000-0000-7000-8000-000000000013','{"target_type":"entity","author":"sample"}','sample','2026-01-01T12:01:00.000000+00:00','[["reflection",1,"e0f6723da662fc42"]]',NULL);
INSERT INTO event VALUES(12,1,'00000000-0000-7000-8000-000000000014','memory_created','00000000-0000-7000-8000-000000000015','{"content":"This was deleted","type":"fact"}','sample','2026-01-01T12:01:00.000000+00:00','[["memory",5,"e88e5812bdadf717"]]',NULL);
INSERT INTO event VALUES(13,1,'00000000-0000-7000-8000-000000000016','memory_deleted','00000000-0000-7000-8000-000000000015','{}','sample','2026-01-01T12:02:00.000000+00:00','[{"table":"memory","key":5,"before":{"seq":5,"space_id":1,"id":"00000000-0000-7000-8000-000000000015","content":"This was deleted","type":"fact","kind":"generic","tags":[],"confidence":1.0,"importance":0.5,"source":null,"context":null,"channel":null,"metadata":{},"origin":"memory","pinned_at":null,"created_at":"2026-01-01T12:01:00+00:00","updated_at":"2026-01-01T12:01:00+00:00","accessed_at":null,"access_count":0,"version":1,"flagged_at":null,"forgotten_at":null,"forgotten_reason":null,"superseded_at":null,"superseded_by":null,"captured_at":null,"project":null,"archived_at":null,"confirmed_at":null,"quarantined_at":null,"provenance":{"client":"sample"},"content_hash":"f85c510ad3e5e9629f9a0b358b8a1b23f331c5abb8862ac0d6f1a3e10ee13ed6"},"after":null}]',NULL);
INSERT INTO event VALUES(14,1,'00000000-0000-7000-8000-000000000017','token_created','laptop','{"name":"laptop","rights":"write"}','sample','2026-01-01T12:02:00.000000+00:00','[]',NULL);
INSERT INTO event VALUES(15,2,'00000000-0000-7000-8000-000000000018','memory_created','00000000-0000-7000-8000-000000000019','{"content":"Another space has its own","type":"fact"}','sample','2026-01-01T12:02:00.000000+00:00','[["memory",6,"2a5898008a1e2f24"]]',NULL);
INSERT INTO event VALUES(16,1,'00000000-0000-7000-8000-00000000001a','memory_created','00000000-0000-7000-8000-00000000001b','{"content":"I never deploy on Fridays.","type":"preference"}','sample','2026-01-01T12:02:00.000000+00:00','[["memory",7,"62b58aa58284c2ff"]]',NULL);
CREATE INDEX event_act ON event (space_id, act, name, seq, undone_at);
CREATE INDEX event_at ON event (at);
CREATE INDEX event_space ON event (space_id, seq, act);
CREATE INDEX event_subject ON event (substr(subject, 25));

DROP TABLE IF EXISTS feedback;
CREATE TABLE feedback (
    event_seq  INTEGER     NOT NULL REFERENCES search_event (seq) ON DELETE CASCADE,
    entity_seq INTEGER     NOT NULL,
    sign       TEXT        NOT NULL,
    at         TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (event_seq, entity_seq, sign)
) WITHOUT ROWID;
INSERT INTO feedback VALUES(1,1,'opened','2026-01-01T12:01:00.000000+00:00');
INSERT INTO feedback VALUES(1,2,'opened','2026-01-01T12:01:00.000000+00:00');

DROP TABLE IF EXISTS memory;
CREATE TABLE memory (
    seq              INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id         INTEGER     NOT NULL REFERENCES space (seq),
    id               TEXT        NOT NULL UNIQUE,
    content          TEXT        NOT NULL,
    content_hash     TEXT        NOT NULL,
    type             TEXT        NOT NULL,
    kind             TEXT        NOT NULL,
    tags             JSONB       NOT NULL,
    confidence       REAL        NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    importance       REAL        NOT NULL CHECK (importance BETWEEN 0 AND 1),
    source           TEXT,
    context          TEXT,
    channel          TEXT,
    metadata         JSONB       NOT NULL,
    origin           TEXT        NOT NULL CHECK (origin IN ('memory', 'observation')),
    pinned_at        TIMESTAMPTZ,
    created_at       TIMESTAMPTZ NOT NULL,
    updated_at       TIMESTAMPTZ NOT NULL,
    accessed_at      TIMESTAMPTZ,
    access_count     INTEGER     NOT NULL,
    version          INTEGER     NOT NULL,
    flagged_at       TIMESTAMPTZ,
    forgotten_at     TIMESTAMPTZ,
    forgotten_reason TEXT,
    superseded_at    TIMESTAMPTZ,
    superseded_by    TEXT,
    -- Seconds since 1970 of the last use, so that decay is the same arithmetic on both engines.
    used_epoch       REAL GENERATED ALWAYS AS (unixepoch(COALESCE(accessed_at, created_at), 'subsec')) VIRTUAL,
    -- The day it was made, counted from 1970 in UTC, so that growth is counted the same on both engines.
    created_day      INTEGER GENERATED ALWAYS AS (CAST(floor(unixepoch(created_at) / 86400.0) AS INTEGER)) VIRTUAL
, captured_at TIMESTAMPTZ, project TEXT, archived_at TIMESTAMPTZ, confirmed_at TIMESTAMPTZ, quarantined_at TIMESTAMPTZ, provenance JSONB NOT NULL DEFAULT '{}');
INSERT INTO memory VALUES(1,1,'00000000-0000-7000-8000-000000000003','Rosa keeps bees in four hives','2b2153c3562dbc48b13a9d6902dbd37171714a9d5f8f94837bbea4a7582053fb','fact','generic','["bees","garden"]',1.0,0.5,NULL,NULL,NULL,'{"hives":3}','memory',NULL,'2026-01-01T12:00:00.000000+00:00','2026-01-01T12:01:00.000000+00:00','2026-01-01T12:02:00.000000+00:00',1,2,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"client":"sample"}');
INSERT INTO memory VALUES(2,1,'00000000-0000-7000-8000-000000000006','Deploys happen on Mondays','a6e6732110c8eaef54290b1b7d68e06d64648db38d4168c5c1e495855f8d7ccf','decision','generic','[]',1.0,0.5,NULL,NULL,NULL,'{}','memory',NULL,'2026-01-01T12:01:00.000000+00:00','2026-01-01T12:01:00.000000+00:00',NULL,0,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"client":"sample"}');
INSERT INTO memory VALUES(3,1,'00000000-0000-7000-8000-00000000000c','lives in Porto','05418f2744605de075a9ead6d374a38b83e6adfffa2a044f3c5b02b3230541b2','observation','generic','[]',1.0,0.4,NULL,NULL,NULL,'{}','observation','2026-01-01T12:01:00.000000+00:00','2026-01-01T12:01:00.000000+00:00','2026-01-01T12:01:00.000000+00:00',NULL,0,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"client":"sample"}');
INSERT INTO memory VALUES(4,1,'00000000-0000-7000-8000-00000000000d','likes tea','50f5f279425da6b804f2885cc042bf9ee88aabfd6c1f13b27cd37e38f9084bb8','observation','generic','[]',1.0,0.4,NULL,NULL,NULL,'{}','observation','2026-01-01T12:01:00.000000+00:00','2026-01-01T12:01:00.000000+00:00','2026-01-01T12:01:00.000000+00:00',NULL,0,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"client":"sample"}');
INSERT INTO memory VALUES(6,2,'00000000-0000-7000-8000-000000000019','Another space has its own','f33ff22f3c5bcef71312cf7a2e82aa9448eaa30b903a9c89ade573f465f56d8c','fact','generic','[]',1.0,0.5,NULL,NULL,NULL,'{}','memory',NULL,'2026-01-01T12:02:00.000000+00:00','2026-01-01T12:02:00.000000+00:00',NULL,0,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"client":"sample"}');
INSERT INTO memory VALUES(7,1,'00000000-0000-7000-8000-00000000001b','I never deploy on Fridays.','7d3a5ba522a12151090c048901cda7295532f255f87c01f7939b71dcc53a07f2','preference','generic','[]',0.3,0.5,'sample',NULL,'s1','{"capture":{"rule":"preference","client":"sample","session":"s1","turn":"t1","said_at":null}}','memory',NULL,'2026-01-01T12:02:00.000000+00:00','2026-01-01T12:02:00.000000+00:00',NULL,0,1,NULL,NULL,NULL,NULL,NULL,'2026-01-01T12:02:00.000000+00:00','acme',NULL,NULL,NULL,'{"client":"sample","via":"capture"}');
CREATE INDEX memory_archived ON memory (space_id, archived_at) WHERE archived_at IS NOT NULL;
CREATE INDEX memory_captured ON memory (space_id, captured_at) WHERE captured_at IS NOT NULL;
CREATE UNIQUE INDEX memory_content ON memory (space_id, content_hash) WHERE forgotten_at IS NULL;
CREATE INDEX memory_created ON memory (space_id, created_at) WHERE forgotten_at IS NULL;
CREATE INDEX memory_flagged ON memory (space_id, flagged_at) WHERE flagged_at IS NOT NULL;
CREATE INDEX memory_forgotten ON memory (space_id, forgotten_at) WHERE forgotten_at IS NOT NULL;
CREATE INDEX memory_importance ON memory (space_id, importance) WHERE forgotten_at IS NULL;
CREATE INDEX memory_own ON memory (space_id, seq) WHERE origin = 'memory' AND forgotten_at IS NULL;
CREATE INDEX memory_shown ON memory (space_id, forgotten_at, quarantined_at)
 WHERE forgotten_at IS NULL AND quarantined_at IS NULL;
CREATE INDEX memory_superseded ON memory (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memory_type ON memory (space_id, type) WHERE forgotten_at IS NULL;

DROP TABLE IF EXISTS memory_tag;
CREATE TABLE memory_tag (
    space_id   INTEGER NOT NULL,
    tag        TEXT    NOT NULL,
    memory_seq INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    PRIMARY KEY (space_id, tag, memory_seq)
) WITHOUT ROWID;
INSERT INTO memory_tag VALUES(1,'bees',1);
INSERT INTO memory_tag VALUES(1,'garden',1);
CREATE INDEX memory_tag_memory ON memory_tag (memory_seq);

DROP TABLE IF EXISTS memory_version;
CREATE TABLE memory_version (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id   INTEGER     NOT NULL,
    memory_seq INTEGER     NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    number     INTEGER     NOT NULL,
    content    TEXT        NOT NULL,
    state      JSONB       NOT NULL,
    reason     TEXT        NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
INSERT INTO memory_version VALUES(1,1,1,1,'Rosa keeps bees','{"seq":1,"id":"00000000-0000-7000-8000-000000000003","content":"Rosa keeps bees","type":"fact","kind":"generic","tags":["bees","garden"],"confidence":1.0,"importance":0.5,"source":null,"context":null,"channel":null,"metadata":{"hives":3},"origin":"memory","pinned_at":null,"created_at":"2026-01-01T12:00:00+00:00","updated_at":"2026-01-01T12:00:00+00:00","accessed_at":null,"access_count":0,"version":1,"flagged_at":null,"forgotten_at":null,"forgotten_reason":null,"superseded_at":null,"superseded_by":null,"captured_at":null,"project":null,"archived_at":null,"confirmed_at":null,"quarantined_at":null,"provenance":{"client":"sample"}}','updated','2026-01-01T12:01:00.000000+00:00');
CREATE INDEX memory_version_memory ON memory_version (memory_seq, seq);

DROP TABLE IF EXISTS page_session;
CREATE TABLE page_session (
    digest     TEXT        NOT NULL PRIMARY KEY,
    kind       TEXT        NOT NULL CHECK (kind IN ('code', 'session')),
    credential TEXT        NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
) WITHOUT ROWID;

DROP TABLE IF EXISTS pending;
CREATE TABLE pending (
    owner    TEXT    NOT NULL,
    seq      INTEGER NOT NULL,
    space_id INTEGER NOT NULL,
    stamp    INTEGER NOT NULL,
    PRIMARY KEY (owner, seq)
) WITHOUT ROWID;
CREATE INDEX pending_space ON pending (space_id, owner, seq);

DROP TABLE IF EXISTS reflection;
CREATE TABLE reflection (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id    INTEGER     NOT NULL REFERENCES space (seq),
    id          TEXT        NOT NULL UNIQUE,
    target_type TEXT        NOT NULL CHECK (target_type IN ('entity', 'session', 'relation', 'global')),
    target_seq  INTEGER,
    author      TEXT        NOT NULL,
    content     TEXT        NOT NULL,
    mood        TEXT,
    created_at  TIMESTAMPTZ NOT NULL
);
INSERT INTO reflection VALUES(1,1,'00000000-0000-7000-8000-000000000013','entity',1,'sample','Rosa comes up often',NULL,'2026-01-01T12:01:00.000000+00:00');
CREATE INDEX reflection_target ON reflection (space_id, target_type, target_seq);

DROP TABLE IF EXISTS relation;
CREATE TABLE relation (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id   INTEGER     NOT NULL REFERENCES space (seq),
    id         TEXT        NOT NULL UNIQUE,
    source_seq INTEGER     NOT NULL REFERENCES entity (seq) ON DELETE CASCADE,
    target_seq INTEGER     NOT NULL REFERENCES entity (seq) ON DELETE CASCADE,
    type       TEXT        NOT NULL,
    strength   REAL        NOT NULL CHECK (strength BETWEEN 0 AND 1),
    confidence REAL        NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    context    TEXT,
    metadata   JSONB       NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    ended_at   TIMESTAMPTZ
);
INSERT INTO relation VALUES(1,1,'00000000-0000-7000-8000-00000000000f',1,2,'tends',0.5,1.0,NULL,'{}','2026-01-01T12:01:00.000000+00:00','2026-01-01T12:01:00.000000+00:00',NULL);
INSERT INTO relation VALUES(2,1,'00000000-0000-7000-8000-000000000011',2,1,'belongs to',0.5,1.0,NULL,'{}','2026-01-01T12:01:00.000000+00:00','2026-01-01T12:01:00.000000+00:00',NULL);
CREATE UNIQUE INDEX relation_active ON relation (source_seq, target_seq, type) WHERE ended_at IS NULL;
CREATE INDEX relation_order ON relation (space_id, seq);
CREATE INDEX relation_source ON relation (source_seq);
CREATE INDEX relation_target ON relation (target_seq);

DROP TABLE IF EXISTS search_event;
CREATE TABLE search_event (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id     INTEGER     NOT NULL REFERENCES space (seq),
    query        TEXT        NOT NULL,
    client       TEXT        NOT NULL,
    strategy     TEXT        NOT NULL,
    mode         TEXT        NOT NULL,
    k_limit      INTEGER     NOT NULL,
    result_count INTEGER     NOT NULL,
    duration_ms  REAL        NOT NULL,
    at           TIMESTAMPTZ NOT NULL
);
INSERT INTO search_event VALUES(1,1,'tea','sample','HYBRID_BALANCED','hybrid',5,2,0.0,'2026-01-01T12:01:00.000000+00:00');
CREATE INDEX search_event_at ON search_event (space_id, at);

DROP TABLE IF EXISTS search_result;
CREATE TABLE search_result (
    event_seq     INTEGER NOT NULL REFERENCES search_event (seq) ON DELETE CASCADE,
    entity_seq    INTEGER NOT NULL,
    rank          INTEGER NOT NULL,
    baseline_rank INTEGER,
    base          REAL    NOT NULL,
    limbic_score  REAL    NOT NULL,
    cosine        REAL,
    importance    REAL    NOT NULL,
    temporal      REAL    NOT NULL,
    cooc          REAL    NOT NULL,
    PRIMARY KEY (event_seq, entity_seq)
) WITHOUT ROWID;
INSERT INTO search_result VALUES(1,1,1,1,0.6267786979675293,0.6267786979675293,0.37796449661254883,0.0,1.0,0.0);
INSERT INTO search_result VALUES(1,2,2,2,0.0,0.0,0.0,0.0,1.0,0.0);
CREATE INDEX search_result_entity ON search_result (entity_seq);

DROP TABLE IF EXISTS session;
CREATE TABLE session (
    space_id   INTEGER     NOT NULL REFERENCES space (seq),
    id         TEXT        NOT NULL,
    client     TEXT        NOT NULL,
    project    TEXT        NOT NULL,
    state      JSONB       NOT NULL,
    started_at TIMESTAMPTZ NOT NULL,
    seen_at    TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (space_id, id)
);
INSERT INTO session VALUES(1,'s1','sample','acme','{"kept":["7d3a5ba522a12151090c048901cda7295532f255f87c01f7939b71dcc53a07f2"],"cursor":1}','2026-01-01T12:02:00.000000+00:00','2026-01-01T12:02:00.000000+00:00');

DROP TABLE IF EXISTS setting;
CREATE TABLE setting (
    key   TEXT PRIMARY KEY,
    value JSONB NOT NULL
) WITHOUT ROWID;
INSERT INTO setting VALUES('*token_needed','{"is":true}');

DROP TABLE IF EXISTS shared_words;
CREATE TABLE shared_words (
  owner TEXT NOT NULL,
  space_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  body TEXT NOT NULL,
  extra TEXT NOT NULL,
  length INTEGER NOT NULL,
  PRIMARY KEY (owner, space_id, seq)
) WITHOUT ROWID;
INSERT INTO shared_words VALUES('entity',1,1,'rosa','person',2);
INSERT INTO shared_words VALUES('entity',1,2,'apiari','place',2);
INSERT INTO shared_words VALUES('memory',1,1,'rosa keep bee in four hive','bee garden fact',9);
INSERT INTO shared_words VALUES('memory',1,2,'deploy happen on monday','decis',5);
INSERT INTO shared_words VALUES('memory',1,3,'live in porto','observ',4);
INSERT INTO shared_words VALUES('memory',1,4,'like tea','observ',3);
INSERT INTO shared_words VALUES('memory',1,7,'i never deploy on friday','prefer',6);
INSERT INTO shared_words VALUES('memory',2,6,'anoth space has it own','fact',6);
INSERT INTO shared_words VALUES('reflection',1,1,'rosa come up often','sampl',5);

DROP TABLE IF EXISTS space;
CREATE TABLE space (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT        NOT NULL UNIQUE,
    created_at  TIMESTAMPTZ NOT NULL
);
INSERT INTO space VALUES(1,'default','2026-01-01T12:00:00.000000+00:00');
INSERT INTO space VALUES(2,'elsewhere','2026-01-01T12:02:00.000000+00:00');

DROP TABLE IF EXISTS stale_trigrams;
CREATE TABLE stale_trigrams (
    owner    TEXT    NOT NULL,
    space_id INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    PRIMARY KEY (owner, space_id, seq)
) WITHOUT ROWID;

DROP TABLE IF EXISTS token;
CREATE TABLE token (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    name         TEXT        NOT NULL UNIQUE,
    digest       TEXT        NOT NULL UNIQUE,
    spaces       JSONB       NOT NULL,
    rights       TEXT        NOT NULL CHECK (rights IN ('read', 'write')),
    created_at   TIMESTAMPTZ NOT NULL
, expires_at TIMESTAMPTZ);
INSERT INTO token VALUES(1,'laptop','e1ed5eec9689d0d1d8eb6fee63b002fa81f602ad56fa4dbbf8ec7e2d5e518a20','["default"]','write','2026-01-01T12:02:00.000000+00:00',NULL);

DROP TABLE IF EXISTS trigram_index;
CREATE TABLE trigram_index (
    owner    TEXT    NOT NULL,
    space_id INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    PRIMARY KEY (owner, space_id)
) WITHOUT ROWID;

DROP TABLE IF EXISTS vector;
CREATE TABLE vector (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    model_id  INTEGER NOT NULL REFERENCES embedding_model (seq) ON DELETE CASCADE,
    owner     TEXT    NOT NULL,
    seq       INTEGER NOT NULL,
    space_id  INTEGER NOT NULL,
    embedding BLOB    NOT NULL,
    UNIQUE (model_id, owner, seq)
);
INSERT INTO vector VALUES(2,1,'memory',2,1,X'00000000000000000040007F00000040');
INSERT INTO vector VALUES(3,1,'entity',2,1,X'0000000000000000007F0000007F0000');
INSERT INTO vector VALUES(4,1,'entity',1,1,X'7F7F00000000007F007F7F0000007F7F');
INSERT INTO vector VALUES(6,1,'memory',6,2,X'0000400000007F000040000000400000');
INSERT INTO vector VALUES(7,1,'memory',4,1,X'7F000000000000000000000000007F00');
INSERT INTO vector VALUES(8,1,'memory',3,1,X'0000000000000000007F7F000000007F');
INSERT INTO vector VALUES(9,1,'memory',1,1,X'00007F007F007F7F00007F000000007F');
INSERT INTO vector VALUES(10,1,'reflection',1,1,X'000000000000007F0000000000400040');
INSERT INTO vector VALUES(11,1,'memory',7,1,X'7F0000007F007F00007F00007F000000');
CREATE INDEX vector_space ON vector (model_id, owner, space_id);

DROP TABLE IF EXISTS vector_segment;
CREATE TABLE vector_segment (
    seq      INTEGER PRIMARY KEY,
    model_id INTEGER NOT NULL,
    owner    TEXT    NOT NULL,
    space_id INTEGER NOT NULL,
    ids      BLOB    NOT NULL,
    codes    BLOB    NOT NULL
);
CREATE INDEX vector_segment_scope ON vector_segment (model_id, owner, space_id);

DROP TABLE IF EXISTS vector_sketch;
CREATE TABLE vector_sketch (
    model_id    INTEGER NOT NULL,
    owner       TEXT    NOT NULL,
    space_id    INTEGER NOT NULL,
    last_id     INTEGER NOT NULL,
    entry_count INTEGER NOT NULL,
    PRIMARY KEY (model_id, owner, space_id)
) WITHOUT ROWID;

DELETE FROM main.sqlite_sequence WHERE name='association';
INSERT INTO main.sqlite_sequence VALUES ('association', 1);
DELETE FROM main.sqlite_sequence WHERE name='embedding_model';
INSERT INTO main.sqlite_sequence VALUES ('embedding_model', 1);
DELETE FROM main.sqlite_sequence WHERE name='entity';
INSERT INTO main.sqlite_sequence VALUES ('entity', 2);
DELETE FROM main.sqlite_sequence WHERE name='entity_memory';
INSERT INTO main.sqlite_sequence VALUES ('entity_memory', 2);
DELETE FROM main.sqlite_sequence WHERE name='event';
INSERT INTO main.sqlite_sequence VALUES ('event', 16);
DELETE FROM main.sqlite_sequence WHERE name='memory';
INSERT INTO main.sqlite_sequence VALUES ('memory', 7);
DELETE FROM main.sqlite_sequence WHERE name='memory_version';
INSERT INTO main.sqlite_sequence VALUES ('memory_version', 1);
DELETE FROM main.sqlite_sequence WHERE name='reflection';
INSERT INTO main.sqlite_sequence VALUES ('reflection', 1);
DELETE FROM main.sqlite_sequence WHERE name='relation';
INSERT INTO main.sqlite_sequence VALUES ('relation', 2);
DELETE FROM main.sqlite_sequence WHERE name='search_event';
INSERT INTO main.sqlite_sequence VALUES ('search_event', 1);
DELETE FROM main.sqlite_sequence WHERE name='space';
INSERT INTO main.sqlite_sequence VALUES ('space', 2);
DELETE FROM main.sqlite_sequence WHERE name='token';
INSERT INTO main.sqlite_sequence VALUES ('token', 1);
DELETE FROM main.sqlite_sequence WHERE name='vector';
INSERT INTO main.sqlite_sequence VALUES ('vector', 11);

pragma user_version=13;
pragma application_id=1835363633;

COMMIT TRANSACTION;
PRAGMA user_version = 13;
PRAGMA application_id = 1835363633;
