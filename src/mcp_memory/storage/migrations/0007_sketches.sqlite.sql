-- Bit codes of the vectors of a large space, which narrow a search down to candidates. They replace the
-- indexes of vec1, whose tables the background work drops.
DROP TABLE vector_index;
CREATE TABLE vector_sketch (
    model_id    INTEGER NOT NULL,
    owner       TEXT    NOT NULL,
    space_id    INTEGER NOT NULL,
    last_id     INTEGER NOT NULL,
    entry_count INTEGER NOT NULL,
    PRIMARY KEY (model_id, owner, space_id)
) WITHOUT ROWID;
-- `ids` are 64-bit numbers, `codes` one bit a dimension for each of them.
CREATE TABLE vector_segment (
    seq      INTEGER PRIMARY KEY,
    model_id INTEGER NOT NULL,
    owner    TEXT    NOT NULL,
    space_id INTEGER NOT NULL,
    ids      BLOB    NOT NULL,
    codes    BLOB    NOT NULL
);
CREATE INDEX vector_segment_scope ON vector_segment (model_id, owner, space_id);
