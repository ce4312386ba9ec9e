-- With the columns of its own condition, the index alone answers how many memories a search may show.
DROP INDEX memory_shown;
CREATE INDEX memory_shown ON memory (space_id, forgotten_at, quarantined_at)
 WHERE forgotten_at IS NULL AND quarantined_at IS NULL;
