-- Memories that were stored in their own right: where there are none, nobody has to look for them.
CREATE INDEX memory_own ON memory (space_id, seq) WHERE origin = 'memory' AND forgotten_at IS NULL;
