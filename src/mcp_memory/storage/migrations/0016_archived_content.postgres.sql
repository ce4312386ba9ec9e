-- A memory that is stored again is looked for among the archived ones by its content: on every new memory. Nothing
-- asked for the time in this index.
DROP INDEX memory_archived;
CREATE INDEX memory_archived ON memory (space_id, content_hash) WHERE archived_at IS NOT NULL;
