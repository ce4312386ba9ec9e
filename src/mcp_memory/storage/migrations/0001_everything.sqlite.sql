-- The schema of the first release. Times are fixed-width UTC text, so that their
-- order is the order of time. AUTOINCREMENT: a deleted thing's number is never
-- given to another, so an undo can always put it back where it was.

CREATE TABLE space (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT        NOT NULL UNIQUE,
    created_at  TIMESTAMPTZ NOT NULL
);

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
);
-- Equal content is one memory; a forgotten one does not stand in the way of a new one.
CREATE UNIQUE INDEX memory_content ON memory (space_id, content_hash) WHERE forgotten_at IS NULL;
CREATE INDEX memory_created ON memory (space_id, created_at) WHERE forgotten_at IS NULL;
CREATE INDEX memory_type ON memory (space_id, type) WHERE forgotten_at IS NULL;
CREATE INDEX memory_importance ON memory (space_id, importance) WHERE forgotten_at IS NULL;
CREATE INDEX memory_flagged ON memory (space_id, flagged_at) WHERE flagged_at IS NOT NULL;
CREATE INDEX memory_forgotten ON memory (space_id, forgotten_at) WHERE forgotten_at IS NOT NULL;
-- What an absorbed memory had replaced is found without reading every memory.
CREATE INDEX memory_superseded ON memory (superseded_by) WHERE superseded_by IS NOT NULL;
-- Memories that were stored in their own right: where there are none, nobody has to look for them.
CREATE INDEX memory_own ON memory (space_id, seq) WHERE origin = 'memory' AND forgotten_at IS NULL;

-- Which memories carry a tag: made from memory.tags, for filters and counts.
CREATE TABLE memory_tag (
    space_id   INTEGER NOT NULL,
    tag        TEXT    NOT NULL,
    memory_seq INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    PRIMARY KEY (space_id, tag, memory_seq)
) WITHOUT ROWID;
CREATE INDEX memory_tag_memory ON memory_tag (memory_seq);

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
CREATE INDEX memory_version_memory ON memory_version (memory_seq, seq);

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
CREATE INDEX entity_order ON entity (space_id, seq);
CREATE INDEX entity_type ON entity (space_id, type);

-- Which memory is about which entity. The number keeps the order of observations, and
-- one text may stand twice under an entity, as some callers ask.
CREATE TABLE entity_memory (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id   INTEGER     NOT NULL,
    entity_seq INTEGER     NOT NULL REFERENCES entity (seq) ON DELETE CASCADE,
    memory_seq INTEGER     NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    relevance  REAL        NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX entity_memory_entity ON entity_memory (entity_seq, seq, memory_seq);
CREATE INDEX entity_memory_memory ON entity_memory (memory_seq, entity_seq);

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
-- Unique among the active ones, so that an ended relation can begin again.
CREATE UNIQUE INDEX relation_active ON relation (source_seq, target_seq, type) WHERE ended_at IS NULL;
CREATE INDEX relation_target ON relation (target_seq);
CREATE INDEX relation_source ON relation (source_seq);
CREATE INDEX relation_order ON relation (space_id, seq);

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
CREATE INDEX association_target ON association (target_seq);

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
CREATE INDEX reflection_target ON reflection (space_id, target_type, target_seq);

-- The journal. `before` holds what each touched row was, for undo.
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
CREATE INDEX event_space ON event (space_id, seq);
CREATE INDEX event_act ON event (act);
CREATE INDEX event_subject ON event (subject);
CREATE INDEX event_at ON event (at);

-- Derived from here on: everything below can be made again, or is only about use.

CREATE TABLE embedding_model (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT        NOT NULL,
    dimensions  INTEGER     NOT NULL,
    fingerprint TEXT        NOT NULL,
    state       TEXT        NOT NULL CHECK (state IN ('active', 'building')),
    created_at  TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX embedding_model_state ON embedding_model (state);

-- A vector put again gets a new id, so an index that has all up to some id lacks exactly the later ones.
CREATE TABLE vector (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    model_id  INTEGER NOT NULL REFERENCES embedding_model (seq) ON DELETE CASCADE,
    owner     TEXT    NOT NULL,
    seq       INTEGER NOT NULL,
    space_id  INTEGER NOT NULL,
    embedding BLOB    NOT NULL,
    UNIQUE (model_id, owner, seq)
);
-- Its entries end in the id: a scan of a space reads the rows in the order they lie in.
CREATE INDEX vector_space ON vector (model_id, owner, space_id);
-- The approximate indexes over it. Number 7 is the virtual table vector_index_7.
CREATE TABLE vector_index (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    model_id     INTEGER NOT NULL,
    owner        TEXT    NOT NULL,
    state        TEXT    NOT NULL CHECK (state IN ('building', 'ready', 'unfit')),
    vector_count INTEGER NOT NULL,
    bucket_count INTEGER NOT NULL,
    last_id      INTEGER NOT NULL,
    UNIQUE (model_id, owner, state)
);

-- What waits for its vector. The stamp grows whenever the text changes again.
CREATE TABLE pending (
    owner    TEXT    NOT NULL,
    seq      INTEGER NOT NULL,
    space_id INTEGER NOT NULL,
    stamp    INTEGER NOT NULL,
    PRIMARY KEY (owner, seq)
) WITHOUT ROWID;
CREATE INDEX pending_space ON pending (space_id, owner, seq);

-- Words are in tables of their own, one for each space: sqlite_words.py makes them.

-- How an entity was used outlives its deletion, so that an undo brings back both. A deleted thing's number
-- is never given to another, so what was used by it cannot be mistaken; old strays are swept away.
CREATE TABLE entity_access (
    entity_seq   INTEGER PRIMARY KEY,
    access_count INTEGER     NOT NULL,
    last_at      TIMESTAMPTZ NOT NULL
);
CREATE TABLE entity_access_day (
    entity_seq   INTEGER NOT NULL,
    day          TEXT    NOT NULL,
    access_count INTEGER NOT NULL,
    PRIMARY KEY (entity_seq, day)
) WITHOUT ROWID;
CREATE TABLE co_occurrence (
    a_seq   INTEGER     NOT NULL,
    b_seq   INTEGER     NOT NULL,
    count   INTEGER     NOT NULL,
    last_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (a_seq, b_seq),
    CHECK (a_seq < b_seq)
) WITHOUT ROWID;
CREATE INDEX co_occurrence_b ON co_occurrence (b_seq);

-- The shadow log: both rankings of each search, and what came of it.
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
CREATE INDEX search_event_at ON search_event (space_id, at);
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
CREATE INDEX search_result_entity ON search_result (entity_seq);
CREATE TABLE feedback (
    event_seq  INTEGER     NOT NULL REFERENCES search_event (seq) ON DELETE CASCADE,
    entity_seq INTEGER     NOT NULL,
    sign       TEXT        NOT NULL,
    at         TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (event_seq, entity_seq, sign)
) WITHOUT ROWID;

CREATE TABLE setting (
    key   TEXT PRIMARY KEY,
    value JSONB NOT NULL
) WITHOUT ROWID;

-- Who may come in over HTTP. Only a digest of the secret is kept.
CREATE TABLE token (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    name         TEXT        NOT NULL UNIQUE,
    digest       TEXT        NOT NULL UNIQUE,
    spaces       JSONB       NOT NULL,
    rights       TEXT        NOT NULL CHECK (rights IN ('read', 'write')),
    created_at   TIMESTAMPTZ NOT NULL
);

-- What was answered to a create that carried an idempotency key, so that a repeated one is answered the same.
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
