-- The day a memory was made, counted from 1970 in UTC, so that growth is counted the same on both engines.
ALTER TABLE memory ADD COLUMN created_day INTEGER
    GENERATED ALWAYS AS (CAST(floor(extract(epoch FROM created_at AT TIME ZONE 'UTC') / 86400) AS INTEGER)) STORED;

-- How an entity was used outlives its deletion, so that an undo brings back both. A deleted thing's number
-- is never given to another, so what was used by it cannot be mistaken; old strays are swept away.
ALTER TABLE entity_access DROP CONSTRAINT IF EXISTS entity_access_entity_seq_fkey;
ALTER TABLE entity_access_day DROP CONSTRAINT IF EXISTS entity_access_day_entity_seq_fkey;
ALTER TABLE co_occurrence DROP CONSTRAINT IF EXISTS co_occurrence_a_seq_fkey;
ALTER TABLE co_occurrence DROP CONSTRAINT IF EXISTS co_occurrence_b_seq_fkey;

-- What an absorbed memory had replaced is found without reading every memory.
CREATE INDEX memory_superseded ON memory (superseded_by) WHERE superseded_by IS NOT NULL;
