-- entities_above --
-- Entities with more observations than the lowest threshold, superseded ones included.
SELECT em.entity_seq, count(*) AS count
  FROM entity_memory em JOIN memory m ON m.seq = em.memory_seq
 WHERE em.space_id = :space_id AND m.forgotten_at IS NULL
 GROUP BY em.entity_seq HAVING count(*) > :least ORDER BY em.entity_seq

-- flagged_observations --
SELECT em.entity_seq, e.name, m.id, m.content
  FROM memory m JOIN entity_memory em ON em.memory_seq = m.seq JOIN entity e ON e.seq = em.entity_seq
 WHERE m.space_id = :space_id AND m.flagged_at IS NOT NULL AND m.forgotten_at IS NULL AND m.superseded_at IS NULL
 ORDER BY em.seq LIMIT :limit

-- count_flagged --
SELECT count(*) AS count FROM memory m
 WHERE m.space_id = :space_id AND m.flagged_at IS NOT NULL AND m.forgotten_at IS NULL AND m.superseded_at IS NULL
   AND EXISTS (SELECT 1 FROM entity_memory em WHERE em.memory_seq = m.seq)

-- stale_entities --
-- Neither opened nor found since, and seldom before. An entity never opened counts from its last change.
SELECT e.seq, e.name, e.type, e.updated_at, a.last_at, COALESCE(a.access_count, 0) AS access_count
  FROM entity e LEFT JOIN entity_access a ON a.entity_seq = e.seq
 WHERE e.space_id = :space_id AND e.status NOT IN ('archived', 'archivado')
   AND COALESCE(a.access_count, 0) <= :seldom
   AND e.updated_at < :before AND (a.last_at IS NULL OR a.last_at < :before)
   AND EXISTS (SELECT 1 FROM entity_memory em WHERE em.entity_seq = e.seq)
 ORDER BY COALESCE(a.last_at, e.updated_at), e.seq

-- flag_memories --
UPDATE memory SET flagged_at = :at WHERE space_id = :space_id AND flagged_at IS NULL AND seq IN ({keys})
