-- How far the trigrams of a large space are indexed, by number; the indexes are made in the background.
CREATE TABLE trigram_index (
    owner    TEXT    NOT NULL,
    space_id INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    PRIMARY KEY (owner, space_id)
) WITHOUT ROWID;
-- Indexed rows whose text has changed since.
CREATE TABLE stale_trigrams (
    owner    TEXT    NOT NULL,
    space_id INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    PRIMARY KEY (owner, space_id, seq)
) WITHOUT ROWID;
