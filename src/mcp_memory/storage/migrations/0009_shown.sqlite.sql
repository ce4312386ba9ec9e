-- Counting what a search may show reads this index instead of every row.
CREATE INDEX memory_shown ON memory (space_id)
 WHERE forgotten_at IS NULL AND archived_at IS NULL AND quarantined_at IS NULL;
