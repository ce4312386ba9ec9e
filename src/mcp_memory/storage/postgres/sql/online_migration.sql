-- compact_hash --
-- As migration 14 makes it.
CASE WHEN length({hash}) = 64 AND {hash} !~ '[^0-9a-f]' THEN substring(decode({hash}, 'hex') FROM 1 FOR 16)
     ELSE convert_to({hash}, 'UTF8') END

-- migration_under_way --
SELECT (SELECT max(number) FROM migration) = :number AND to_regprocedure('digits(text)') IS NOT NULL AS under_way

-- may_migrate --
-- Only the owner of the table may, and one server at a time does. Servers that start wait for another lock.
SELECT CASE WHEN pg_has_role(relowner, 'USAGE') THEN pg_try_advisory_lock({lock}, 1) END AS locked
  FROM pg_class WHERE oid = to_regclass('memory')

-- other_uses_of_hash --
-- Views, indexes and the like that are not ours.
SELECT pg_describe_object(d.classid, d.objid, d.objsubid) AS name FROM pg_depend d
  JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
  LEFT JOIN pg_constraint c ON d.classid = CAST('pg_constraint' AS regclass) AND c.oid = d.objid
 WHERE d.refclassid = CAST('pg_class' AS regclass) AND d.refobjid = to_regclass('memory')
   AND a.attname = 'content_hash' AND d.objid IS DISTINCT FROM to_regclass('memory_content')
   AND c.conname IS DISTINCT FROM 'memory_hash_is_right__compact' AND c.contype IS DISTINCT FROM 'n'
 ORDER BY 1

-- hash_copies --
-- Whether the copies of the hashes are kept up to date, and whether all are there and right.
SELECT EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = to_regclass('memory')
                  AND tgname = 'memory_hash__compact' AND tgenabled = 'O')
       AND EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('memory')
                      AND attname = 'content_hash__compact')
       AND count(*) = 2 AS begun, COALESCE(bool_and(convalidated), false) AS whole
  FROM pg_constraint WHERE conrelid = to_regclass('memory')
   AND conname IN ('memory_hash_is_right__compact', 'memory_hash_is_given__compact')

-- lock_memory_against_vacuum --
-- Nobody else waits for this lock; and vacuum makes way for a session that has waited for a second.
SET LOCAL lock_timeout = '3s'; LOCK TABLE memory IN SHARE UPDATE EXCLUSIVE MODE

-- lock_memory --
SET LOCAL lock_timeout = '{milliseconds}ms'; LOCK TABLE memory IN ACCESS EXCLUSIVE MODE

-- drop_hash_copies --
DROP TRIGGER IF EXISTS memory_hash__compact ON memory;
DROP FUNCTION IF EXISTS memory_hash__compact();
-- With its constraints and indexes.
ALTER TABLE memory DROP COLUMN IF EXISTS content_hash__compact

-- add_hash_copies --
ALTER TABLE memory ADD COLUMN content_hash__compact BYTEA;
CREATE FUNCTION memory_hash__compact() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    NEW.content_hash__compact := {new};
    RETURN NEW;
END $$;
CREATE TRIGGER memory_hash__compact BEFORE INSERT OR UPDATE ON memory
   FOR EACH ROW EXECUTE FUNCTION memory_hash__compact();
ALTER TABLE memory
  ADD CONSTRAINT memory_hash_is_right__compact CHECK (content_hash__compact = {stored}) NOT VALID,
  ADD CONSTRAINT memory_hash_is_given__compact CHECK (content_hash__compact IS NOT NULL) NOT VALID

-- first_without_copy --
SELECT min(seq) AS seq FROM memory WHERE content_hash__compact IS NULL

-- copy_hashes --
-- The trigger makes the copy. Rows that somebody else is changing are left out: waiting for one while
-- holding others could end in a deadlock.
WITH piece AS (
    SELECT seq FROM memory WHERE seq >= :first AND content_hash__compact IS NULL
     ORDER BY seq LIMIT :count FOR NO KEY UPDATE SKIP LOCKED)
UPDATE memory o SET content_hash = o.content_hash FROM piece WHERE o.seq = piece.seq RETURNING o.seq

-- without_waiting_for_disk --
SET LOCAL synchronous_commit = off

-- check_hash_copies --
ALTER TABLE memory VALIDATE CONSTRAINT memory_hash_is_right__compact,
                   VALIDATE CONSTRAINT memory_hash_is_given__compact

-- vacuum_memory --
-- Every row has been changed. The statistics of the new column are those of its future name.
VACUUM (ANALYZE, TRUNCATE false) memory

-- create_memory_content --
CREATE UNIQUE INDEX CONCURRENTLY memory_content__compact
    ON memory (space_id, content_hash__compact) WHERE forgotten_at IS NULL

-- create_memory_archived --
CREATE INDEX CONCURRENTLY memory_archived__compact
    ON memory (space_id, content_hash__compact) WHERE archived_at IS NOT NULL

-- create_event_subject --
CREATE INDEX CONCURRENTLY event_subject__compact ON event (substr(subject, 25))

-- drop_index --
DROP INDEX CONCURRENTLY IF EXISTS {index}

-- index_of_subjects --
SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('event_subject') AND indexprs IS NOT NULL

-- replace_event_subject --
-- Renaming an index locks nothing but the index.
ALTER INDEX event_subject RENAME TO event_subject__replaced;
ALTER INDEX event_subject__compact RENAME TO event_subject

-- put_hash_copies_in_place --
-- What migrations 14 and 16 make.
DROP TRIGGER memory_hash__compact ON memory;
DROP FUNCTION memory_hash__compact();
DROP INDEX IF EXISTS memory_archived;
-- With the index memory_content.
ALTER TABLE memory DROP COLUMN content_hash;
ALTER TABLE memory RENAME COLUMN content_hash__compact TO content_hash;
-- Takes the constraint for proof, and does not read the rows.
ALTER TABLE memory ALTER COLUMN content_hash SET NOT NULL;
ALTER TABLE memory DROP CONSTRAINT memory_hash_is_given__compact,
  ADD CONSTRAINT memory_hash_is_short CHECK (octet_length(content_hash) <> 64) NOT VALID;
ALTER INDEX memory_content__compact RENAME TO memory_content;
ALTER INDEX memory_archived__compact RENAME TO memory_archived

-- drop_preparations --
DROP INDEX IF EXISTS event_subject__compact, event_subject__replaced;
DROP FUNCTION IF EXISTS digits(TEXT)

-- forget_migration --
DELETE FROM migration WHERE number = :number
