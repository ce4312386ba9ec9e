-- memories_to_compare --
-- Current memories that are new or have changed since; in the order they were stored. Observations only if
-- `observations` is 1: a graph can have very many, and nobody has asked to merge them.
SELECT o.seq FROM memory o
 WHERE o.space_id = :space_id AND o.forgotten_at IS NULL AND o.superseded_at IS NULL
   AND o.updated_at >= :since AND o.seq > :after AND (o.origin = 'memory' OR :observations = 1)
 ORDER BY o.seq LIMIT :limit

-- count_to_compare --
SELECT count(*) AS count FROM memory o
 WHERE o.space_id = :space_id AND o.forgotten_at IS NULL AND o.superseded_at IS NULL AND o.updated_at >= :since
   AND (o.origin = 'memory' OR :observations = 1)

-- newest_memory --
SELECT COALESCE(max(seq), 0) AS count FROM memory WHERE space_id = :space_id

-- count_added --
SELECT count(*) AS count FROM memory WHERE space_id = :space_id AND seq > :after

-- superseded_by --
SELECT o.seq FROM memory o WHERE o.space_id = :space_id AND o.superseded_by = :id

-- merges_taken_back --
SELECT o.subject, o.payload FROM event o
 WHERE o.space_id = :space_id AND o.name = 'memories_merged' AND o.undone_at IS NOT NULL

-- contradictions --
SELECT a.source_seq, a.target_seq FROM association a
 WHERE a.space_id = :space_id AND a.type = 'contradicts' AND a.source_seq IN ({keys})

-- fading_memories --
-- Pinned, confirmed, important and identity memories are never archived by time.
SELECT {columns}, {effective} AS effective FROM memory o
 WHERE o.space_id = :space_id AND o.forgotten_at IS NULL AND o.pinned_at IS NULL AND o.type <> 'identity'
   AND o.confirmed_at IS NULL AND o.importance < :important
   AND {effective} < :below
 ORDER BY effective, o.seq LIMIT :limit

-- count_fading --
SELECT count(*) AS count FROM memory o
 WHERE o.space_id = :space_id AND o.forgotten_at IS NULL AND o.pinned_at IS NULL AND o.type <> 'identity'
   AND o.confirmed_at IS NULL AND o.importance < :important
   AND {effective} < :below
