-- archived_rows --
SELECT o.seq, {columns} FROM {table} o {joins}
 WHERE o.space_id = :space_id AND o.seq > :after ORDER BY o.seq LIMIT :limit

-- archived_reflections --
-- The target by its id; one that is neither entity nor relation has only a number.
SELECT o.seq, {columns}, COALESCE(e.id, r.id) AS target, o.target_seq
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

-- row_keys --
SELECT id, seq FROM {table} WHERE space_id = :space_id AND id IN ({keys})

-- ids_elsewhere --
SELECT id FROM {table} WHERE space_id <> :space_id AND id IN ({keys})

-- living_memory_keys --
SELECT content_hash, seq, id, content FROM memory
 WHERE space_id = :space_id AND forgotten_at IS NULL AND content_hash IN ({keys})

-- present_rows --
SELECT {columns} FROM {table} WHERE space_id = :space_id AND {column} IN ({keys}) {active}

-- put_archived_event --
INSERT INTO event (space_id, act, name, subject, payload, client, at, before, undone_at)
VALUES (:space_id, :act, :name, :subject, :payload, :client, :at, :before, :undone_at)

-- remove_archived_events --
DELETE FROM event WHERE space_id = :space_id AND seq BETWEEN :first AND :last

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
