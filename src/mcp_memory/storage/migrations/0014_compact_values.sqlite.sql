-- Times are whole microseconds since 1970 instead of 32 characters of text, and the digest of a memory's content is
-- 16 bytes instead of 64 characters: each stands in a row and mostly in an index too, and together they took a
-- seventh of the file. A time or digest that cannot be read stays as it is, for the diagnosis to find.
--
-- All rows at once, in the transaction of the migration: texts and numbers have no common order, so that no search
-- could serve both. It takes about as long as reading the file twice: seconds for 100,000 entities.
--
-- Two of the indexes have new names, by which the diagnosis tells this schema from the one before. All are made again
-- in their order: of two that serve a query equally well, SQLite takes the later one. No query has used event_at.
DROP INDEX IF EXISTS memory_content;
DROP INDEX IF EXISTS memory_created;
DROP INDEX IF EXISTS memory_type;
DROP INDEX IF EXISTS memory_importance;
DROP INDEX IF EXISTS memory_flagged;
DROP INDEX IF EXISTS memory_forgotten;
DROP INDEX IF EXISTS memory_superseded;
DROP INDEX IF EXISTS memory_own;
DROP INDEX IF EXISTS memory_captured;
DROP INDEX IF EXISTS memory_archived;
DROP INDEX IF EXISTS memory_shown;
DROP INDEX IF EXISTS event_at;
ALTER TABLE memory DROP COLUMN used_epoch;
ALTER TABLE memory DROP COLUMN created_day;

UPDATE memory SET
  content_hash = coalesce(substr(unhex(content_hash), 1, 16), CAST(content_hash AS BLOB)),
  pinned_at = coalesce(iif(pinned_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(pinned_at, 1, 19)) * 1000000 + substr(pinned_at, 21, 6), NULL), pinned_at),
  created_at = coalesce(iif(created_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(created_at, 1, 19)) * 1000000 + substr(created_at, 21, 6), NULL), created_at),
  updated_at = coalesce(iif(updated_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(updated_at, 1, 19)) * 1000000 + substr(updated_at, 21, 6), NULL), updated_at),
  accessed_at = coalesce(iif(accessed_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(accessed_at, 1, 19)) * 1000000 + substr(accessed_at, 21, 6), NULL), accessed_at),
  flagged_at = coalesce(iif(flagged_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(flagged_at, 1, 19)) * 1000000 + substr(flagged_at, 21, 6), NULL), flagged_at),
  forgotten_at = coalesce(iif(forgotten_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(forgotten_at, 1, 19)) * 1000000 + substr(forgotten_at, 21, 6), NULL), forgotten_at),
  superseded_at = coalesce(iif(superseded_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(superseded_at, 1, 19)) * 1000000 + substr(superseded_at, 21, 6), NULL), superseded_at),
  captured_at = coalesce(iif(captured_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(captured_at, 1, 19)) * 1000000 + substr(captured_at, 21, 6), NULL), captured_at),
  archived_at = coalesce(iif(archived_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(archived_at, 1, 19)) * 1000000 + substr(archived_at, 21, 6), NULL), archived_at),
  confirmed_at = coalesce(iif(confirmed_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(confirmed_at, 1, 19)) * 1000000 + substr(confirmed_at, 21, 6), NULL), confirmed_at),
  quarantined_at = coalesce(iif(quarantined_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(quarantined_at, 1, 19)) * 1000000 + substr(quarantined_at, 21, 6), NULL), quarantined_at);
UPDATE space SET
  created_at = coalesce(iif(created_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(created_at, 1, 19)) * 1000000 + substr(created_at, 21, 6), NULL), created_at);
UPDATE memory_version SET
  created_at = coalesce(iif(created_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(created_at, 1, 19)) * 1000000 + substr(created_at, 21, 6), NULL), created_at);
UPDATE entity SET
  created_at = coalesce(iif(created_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(created_at, 1, 19)) * 1000000 + substr(created_at, 21, 6), NULL), created_at),
  updated_at = coalesce(iif(updated_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(updated_at, 1, 19)) * 1000000 + substr(updated_at, 21, 6), NULL), updated_at);
UPDATE entity_memory SET
  created_at = coalesce(iif(created_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(created_at, 1, 19)) * 1000000 + substr(created_at, 21, 6), NULL), created_at);
UPDATE relation SET
  created_at = coalesce(iif(created_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(created_at, 1, 19)) * 1000000 + substr(created_at, 21, 6), NULL), created_at),
  updated_at = coalesce(iif(updated_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(updated_at, 1, 19)) * 1000000 + substr(updated_at, 21, 6), NULL), updated_at),
  ended_at = coalesce(iif(ended_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(ended_at, 1, 19)) * 1000000 + substr(ended_at, 21, 6), NULL), ended_at);
UPDATE association SET
  created_at = coalesce(iif(created_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(created_at, 1, 19)) * 1000000 + substr(created_at, 21, 6), NULL), created_at);
UPDATE reflection SET
  created_at = coalesce(iif(created_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(created_at, 1, 19)) * 1000000 + substr(created_at, 21, 6), NULL), created_at);
UPDATE event SET
  at = coalesce(iif(at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(at, 1, 19)) * 1000000 + substr(at, 21, 6), NULL), at),
  undone_at = coalesce(iif(undone_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(undone_at, 1, 19)) * 1000000 + substr(undone_at, 21, 6), NULL), undone_at);
UPDATE embedding_model SET
  created_at = coalesce(iif(created_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(created_at, 1, 19)) * 1000000 + substr(created_at, 21, 6), NULL), created_at);
UPDATE entity_access SET
  last_at = coalesce(iif(last_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(last_at, 1, 19)) * 1000000 + substr(last_at, 21, 6), NULL), last_at);
UPDATE co_occurrence SET
  last_at = coalesce(iif(last_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(last_at, 1, 19)) * 1000000 + substr(last_at, 21, 6), NULL), last_at);
UPDATE search_event SET
  at = coalesce(iif(at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(at, 1, 19)) * 1000000 + substr(at, 21, 6), NULL), at);
UPDATE feedback SET
  at = coalesce(iif(at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(at, 1, 19)) * 1000000 + substr(at, 21, 6), NULL), at);
UPDATE token SET
  created_at = coalesce(iif(created_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(created_at, 1, 19)) * 1000000 + substr(created_at, 21, 6), NULL), created_at),
  expires_at = coalesce(iif(expires_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(expires_at, 1, 19)) * 1000000 + substr(expires_at, 21, 6), NULL), expires_at);
UPDATE answered SET
  at = coalesce(iif(at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(at, 1, 19)) * 1000000 + substr(at, 21, 6), NULL), at);
UPDATE session SET
  started_at = coalesce(iif(started_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(started_at, 1, 19)) * 1000000 + substr(started_at, 21, 6), NULL), started_at),
  seen_at = coalesce(iif(seen_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(seen_at, 1, 19)) * 1000000 + substr(seen_at, 21, 6), NULL), seen_at);
UPDATE page_session SET
  expires_at = coalesce(iif(expires_at GLOB '????-??-??T??:??:??.??????+00:00',
          unixepoch(substr(expires_at, 1, 19)) * 1000000 + substr(expires_at, 21, 6), NULL), expires_at);

-- Seconds since 1970 of the last use, so that decay is the same arithmetic on both engines.
ALTER TABLE memory ADD COLUMN used_epoch REAL
  GENERATED ALWAYS AS (iif(typeof(accessed_at) = 'integer', accessed_at, created_at) / 1000000.0) VIRTUAL;
-- The day it was made, counted from 1970 in UTC, so that growth is counted the same on both engines.
ALTER TABLE memory ADD COLUMN created_day INTEGER
  GENERATED ALWAYS AS (CAST(floor(created_at / 86400000000.0) AS INTEGER)) VIRTUAL;
CREATE UNIQUE INDEX memory_same ON memory (space_id, content_hash) WHERE forgotten_at IS NULL;
CREATE INDEX memory_age ON memory (space_id, created_at) WHERE forgotten_at IS NULL;
CREATE INDEX memory_type ON memory (space_id, type) WHERE forgotten_at IS NULL;
CREATE INDEX memory_importance ON memory (space_id, importance) WHERE forgotten_at IS NULL;
CREATE INDEX memory_flagged ON memory (space_id, flagged_at) WHERE flagged_at IS NOT NULL;
CREATE INDEX memory_forgotten ON memory (space_id, forgotten_at) WHERE forgotten_at IS NOT NULL;
CREATE INDEX memory_superseded ON memory (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memory_own ON memory (space_id, seq) WHERE origin = 'memory' AND forgotten_at IS NULL;
CREATE INDEX memory_captured ON memory (space_id, captured_at) WHERE captured_at IS NOT NULL;
CREATE INDEX memory_archived ON memory (space_id, archived_at) WHERE archived_at IS NOT NULL;
CREATE INDEX memory_shown ON memory (space_id, forgotten_at, quarantined_at)
 WHERE forgotten_at IS NULL AND quarantined_at IS NULL;
