-- archived_memories --
SELECT {columns} FROM memory o WHERE o.space_id = :space_id AND o.seq > :after ORDER BY o.seq LIMIT :limit

-- archived_entities --
SELECT {columns} FROM entity o WHERE o.space_id = :space_id AND o.seq > :after ORDER BY o.seq LIMIT :limit

-- archived_versions --
SELECT v.seq, m.id AS memory, v.number, v.content, v.state, v.reason, v.created_at
  FROM memory_version v JOIN memory m ON m.seq = v.memory_seq
 WHERE v.space_id = :space_id AND v.seq > :after ORDER BY v.seq LIMIT :limit

-- archived_observations --
SELECT em.seq, e.id AS entity, m.id AS memory, em.relevance, em.created_at
  FROM entity_memory em JOIN entity e ON e.seq = em.entity_seq JOIN memory m ON m.seq = em.memory_seq
 WHERE em.space_id = :space_id AND em.seq > :after ORDER BY em.seq LIMIT :limit

-- archived_relations --
SELECT o.seq, o.id, s.id AS source, t.id AS target, o.type, o.strength, o.confidence, o.context, o.metadata,
       o.created_at, o.updated_at, o.ended_at
  FROM relation o JOIN entity s ON s.seq = o.source_seq JOIN entity t ON t.seq = o.target_seq
 WHERE o.space_id = :space_id AND o.seq > :after ORDER BY o.seq LIMIT :limit

-- archived_associations --
SELECT o.seq, o.id, s.id AS source, t.id AS target, o.type, o.weight, o.created_at
  FROM association o JOIN memory s ON s.seq = o.source_seq JOIN memory t ON t.seq = o.target_seq
 WHERE o.space_id = :space_id AND o.seq > :after ORDER BY o.seq LIMIT :limit

-- archived_reflections --
-- The target by its id; one that is no entity and no relation has a number only.
SELECT o.seq, o.id, o.target_type, COALESCE(e.id, r.id) AS target, o.target_seq, o.author, o.content, o.mood,
       o.created_at
  FROM reflection o
  LEFT JOIN entity e ON o.target_type = 'entity' AND e.seq = o.target_seq
  LEFT JOIN relation r ON o.target_type = 'relation' AND r.seq = o.target_seq
 WHERE o.space_id = :space_id AND o.seq > :after ORDER BY o.seq LIMIT :limit

-- archived_accesses --
SELECT a.entity_seq AS seq, e.id AS entity, a.access_count, a.last_at
  FROM entity e JOIN entity_access a ON a.entity_seq = e.seq
 WHERE e.space_id = :space_id AND e.seq > :after ORDER BY e.seq LIMIT :limit

-- archived_access_days --
SELECT entity_seq, day, access_count FROM entity_access_day WHERE entity_seq IN ({keys}) ORDER BY entity_seq, day

-- archived_co_occurrences --
SELECT c.a_seq, a.id AS a, b.id AS b, c.count, c.last_at
  FROM co_occurrence c JOIN entity a ON a.seq = c.a_seq JOIN entity b ON b.seq = c.b_seq
 WHERE c.a_seq IN ({keys}) ORDER BY c.a_seq, c.b_seq

-- archived_events --
SELECT o.seq, o.act, o.name, o.subject, o.payload, o.client, o.at, o.undone_at FROM event o
 WHERE o.space_id = :space_id AND o.seq > :after ORDER BY o.seq LIMIT :limit

-- memory_keys --
SELECT id, seq FROM memory WHERE space_id = :space_id AND id IN ({keys})

-- memory_ids_elsewhere --
SELECT id FROM memory WHERE space_id <> :space_id AND id IN ({keys})

-- entity_keys --
SELECT id, seq FROM entity WHERE space_id = :space_id AND id IN ({keys})

-- entity_ids_elsewhere --
SELECT id FROM entity WHERE space_id <> :space_id AND id IN ({keys})

-- relation_keys --
SELECT id, seq FROM relation WHERE space_id = :space_id AND id IN ({keys})

-- relation_ids_elsewhere --
SELECT id FROM relation WHERE space_id <> :space_id AND id IN ({keys})

-- association_keys --
SELECT id, seq FROM association WHERE space_id = :space_id AND id IN ({keys})

-- association_ids_elsewhere --
SELECT id FROM association WHERE space_id <> :space_id AND id IN ({keys})

-- reflection_keys --
SELECT id, seq FROM reflection WHERE space_id = :space_id AND id IN ({keys})

-- reflection_ids_elsewhere --
SELECT id FROM reflection WHERE space_id <> :space_id AND id IN ({keys})

-- living_memory_keys --
SELECT content_hash, seq, id, content FROM memory
 WHERE space_id = :space_id AND forgotten_at IS NULL AND content_hash IN ({keys})

-- version_keys --
SELECT memory_seq, number, created_at FROM memory_version
 WHERE space_id = :space_id AND memory_seq IN ({keys})

-- observation_keys --
SELECT memory_seq, entity_seq FROM entity_memory WHERE space_id = :space_id AND memory_seq IN ({keys})

-- active_relation_keys --
SELECT source_seq, target_seq, type FROM relation
 WHERE space_id = :space_id AND ended_at IS NULL AND source_seq IN ({keys})

-- association_ends --
SELECT source_seq, target_seq, type FROM association WHERE space_id = :space_id AND source_seq IN ({keys})

-- event_keys --
SELECT act, name, subject, at FROM event WHERE space_id = :space_id AND act IN ({keys})

-- put_archived_event --
-- Only what happened: how to take it back is about rows that have other numbers here.
INSERT INTO event (space_id, act, name, subject, payload, client, at, before, undone_at)
VALUES (:space_id, :act, :name, :subject, :payload, :client, :at, :before, :undone_at)

-- put_archived_access --
INSERT INTO entity_access (entity_seq, access_count, last_at) VALUES (:entity_seq, :access_count, :last_at)
ON CONFLICT (entity_seq) DO UPDATE SET access_count = excluded.access_count, last_at = excluded.last_at
 WHERE excluded.access_count > entity_access.access_count

-- put_archived_access_day --
INSERT INTO entity_access_day (entity_seq, day, access_count) VALUES (:entity_seq, :day, :access_count)
ON CONFLICT (entity_seq, day) DO UPDATE SET access_count = excluded.access_count
 WHERE excluded.access_count > entity_access_day.access_count

-- put_archived_co_occurrence --
INSERT INTO co_occurrence (a_seq, b_seq, count, last_at) VALUES (:a_seq, :b_seq, :count, :last_at)
ON CONFLICT (a_seq, b_seq) DO UPDATE SET count = excluded.count, last_at = excluded.last_at
 WHERE excluded.count > co_occurrence.count
