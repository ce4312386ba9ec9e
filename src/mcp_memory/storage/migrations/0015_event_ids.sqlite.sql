-- The ids of acts and subjects are the 16 bytes of a UUID instead of its 36 characters: an act stands in the row and in
-- two indexes. What is no UUID stays text. All events at once: an act is asked for in one form.
--
-- The indexes have new names, by which the diagnosis tells this schema from the one before.
CREATE TABLE event_with_ids (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id  INTEGER     NOT NULL REFERENCES space (seq),
    act       UUID_BLOB   NOT NULL,
    name      TEXT        NOT NULL,
    subject   UUID_BLOB   NOT NULL,
    payload   JSONB       NOT NULL,
    client    TEXT        NOT NULL,
    -- An earlier program that still runs would write text: this refuses its changes as a whole.
    at        TIMESTAMPTZ NOT NULL CHECK (typeof(at) = 'integer'),
    before    JSONB       NOT NULL,
    undone_at TIMESTAMPTZ
);
INSERT INTO event_with_ids (seq, space_id, act, name, subject, payload, client, at, before, undone_at)
SELECT seq, space_id,
       coalesce(iif(act GLOB '????????-????-????-????-????????????' AND act = lower(act)
                AND length(replace(act, '-', '')) = 32, unhex(replace(act, '-', '')), NULL), act),
       name,
       coalesce(iif(subject GLOB '????????-????-????-????-????????????' AND subject = lower(subject)
                AND length(replace(subject, '-', '')) = 32, unhex(replace(subject, '-', '')), NULL), subject),
       payload, client, iif(typeof(at) = 'integer', at, coalesce(unixepoch(at) * 1000000, 0)), before, undone_at
  FROM event ORDER BY seq;
-- No number is given out again, also if the newest events are gone.
DELETE FROM sqlite_sequence WHERE name = 'event_with_ids';
INSERT INTO sqlite_sequence (name, seq) SELECT 'event_with_ids', seq FROM sqlite_sequence WHERE name = 'event';
DROP TABLE event;
ALTER TABLE event_with_ids RENAME TO event;
CREATE INDEX event_order ON event (space_id, seq, act);
CREATE INDEX event_change ON event (space_id, act, name, seq, undone_at);
CREATE INDEX event_about ON event (subject);
