-- The day a memory was made, counted from 1970 in UTC, so that growth is counted the same on both engines.
ALTER TABLE memory ADD COLUMN created_day INTEGER
    GENERATED ALWAYS AS (CAST(floor(unixepoch(created_at) / 86400.0) AS INTEGER)) VIRTUAL;

-- How an entity was used outlives its deletion, so that an undo brings back both. A deleted thing's number
-- is never given to another, so what was used by it cannot be mistaken; old strays are swept away.
CREATE TABLE kept_access (
    entity_seq   INTEGER PRIMARY KEY,
    access_count INTEGER     NOT NULL,
    last_at      TIMESTAMPTZ NOT NULL
);
INSERT INTO kept_access SELECT entity_seq, access_count, last_at FROM entity_access;
DROP TABLE entity_access;
ALTER TABLE kept_access RENAME TO entity_access;

CREATE TABLE kept_access_day (
    entity_seq   INTEGER NOT NULL,
    day          TEXT    NOT NULL,
    access_count INTEGER NOT NULL,
    PRIMARY KEY (entity_seq, day)
) WITHOUT ROWID;
INSERT INTO kept_access_day SELECT entity_seq, day, access_count FROM entity_access_day;
DROP TABLE entity_access_day;
ALTER TABLE kept_access_day RENAME TO entity_access_day;

CREATE TABLE kept_co_occurrence (
    a_seq   INTEGER     NOT NULL,
    b_seq   INTEGER     NOT NULL,
    count   INTEGER     NOT NULL,
    last_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (a_seq, b_seq),
    CHECK (a_seq < b_seq)
) WITHOUT ROWID;
INSERT INTO kept_co_occurrence SELECT a_seq, b_seq, count, last_at FROM co_occurrence;
DROP TABLE co_occurrence;
ALTER TABLE kept_co_occurrence RENAME TO co_occurrence;
CREATE INDEX co_occurrence_b ON co_occurrence (b_seq);

-- What an absorbed memory had replaced is found without reading every memory.
CREATE INDEX memory_superseded ON memory (superseded_by) WHERE superseded_by IS NOT NULL;
