-- embedding_models --
SELECT seq AS id, name, dimensions, fingerprint, state FROM embedding_model ORDER BY seq

-- add_embedding_model --
-- Writers in different spaces do not wait for each other, so another may have added one just now.
INSERT INTO embedding_model (name, dimensions, fingerprint, state, created_at)
VALUES (:name, :dimensions, :fingerprint, :state, :at) ON CONFLICT (state) DO NOTHING

-- remove_embedding_model --
DELETE FROM embedding_model WHERE seq = :seq

-- remove_vectors_of_model --
DELETE FROM vector WHERE model_id = :model_id

-- activate_embedding_model --
UPDATE embedding_model SET state = 'active' WHERE seq = :seq

-- vectors_by_seq --
SELECT seq, embedding FROM vector WHERE model_id = :model_id AND owner = :owner AND seq IN ({keys})

-- count_vectors --
SELECT owner, count(*) AS count FROM vector WHERE model_id = :model_id GROUP BY owner

-- add_pending --
-- The stamp follows the journal, so that no two states of a text have the same, though a vector was made
-- in between.
INSERT INTO pending (owner, seq, space_id, stamp)
SELECT :owner, o.seq, o.space_id,
       (SELECT COALESCE(max(e.seq), 0) + 2 FROM event e WHERE e.space_id = :space_id)
  FROM {table} o WHERE o.space_id = :space_id AND o.seq IN ({keys})
ON CONFLICT (owner, seq) DO UPDATE SET stamp = excluded.stamp

-- next_stamp --
-- The stamp of `add_pending`, for rows that this transaction has made.
SELECT COALESCE(max(seq), 0) + 2 AS count FROM event WHERE space_id = :space_id

-- remove_pending --
DELETE FROM pending WHERE owner = :owner AND seq IN ({keys})

-- pending_by_seq --
SELECT seq, stamp FROM pending WHERE space_id = :space_id AND owner = :owner AND seq IN ({keys})

-- settle_all_pending --
DELETE FROM pending
 WHERE EXISTS (SELECT 1 FROM vector v
                WHERE v.model_id = :model_id AND v.owner = pending.owner AND v.seq = pending.seq)

-- pending_page --
-- The newest first: a search must find what its client just wrote.
SELECT owner, seq, space_id, stamp FROM pending
 WHERE space_id = :space_id AND owner = :owner ORDER BY seq DESC LIMIT :limit

-- pending_anywhere --
SELECT p.owner, p.seq, p.space_id, p.stamp, s.name AS space FROM pending p JOIN space s ON s.seq = p.space_id
 ORDER BY p.space_id, p.owner DESC, p.seq LIMIT :limit

-- count_pending --
SELECT count(*) AS count FROM pending WHERE space_id = :space_id

-- count_pending_anywhere --
SELECT count(*) AS count FROM pending

-- pend_all_memories --
INSERT INTO pending (owner, seq, space_id, stamp)
SELECT 'memory', m.seq, m.space_id, 1 FROM memory m
 WHERE m.forgotten_at IS NULL
   AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.model_id = :model_id AND v.owner = 'memory' AND v.seq = m.seq)
ON CONFLICT (owner, seq) DO NOTHING

-- pend_all_entities --
INSERT INTO pending (owner, seq, space_id, stamp)
SELECT 'entity', e.seq, e.space_id, 1 FROM entity e
 WHERE NOT EXISTS (SELECT 1 FROM vector v WHERE v.model_id = :model_id AND v.owner = 'entity' AND v.seq = e.seq)
ON CONFLICT (owner, seq) DO NOTHING

-- pend_all_reflections --
INSERT INTO pending (owner, seq, space_id, stamp)
SELECT 'reflection', r.seq, r.space_id, 1 FROM reflection r
 WHERE NOT EXISTS (SELECT 1 FROM vector v WHERE v.model_id = :model_id AND v.owner = 'reflection' AND v.seq = r.seq)
ON CONFLICT (owner, seq) DO NOTHING

-- unembedded --
-- Rows without a vector of the model that is being built.
SELECT x.owner, x.seq, x.space_id, s.name AS space
  FROM (SELECT 'memory' AS owner, m.seq, m.space_id FROM memory m WHERE m.forgotten_at IS NULL
        UNION ALL SELECT 'entity', e.seq, e.space_id FROM entity e
        UNION ALL SELECT 'reflection', r.seq, r.space_id FROM reflection r) x
  JOIN space s ON s.seq = x.space_id
 WHERE NOT EXISTS (SELECT 1 FROM vector v WHERE v.model_id = :model_id AND v.owner = x.owner AND v.seq = x.seq)
 ORDER BY x.space_id, x.owner, x.seq LIMIT :limit

-- count_unembedded --
SELECT count(*) AS count
  FROM (SELECT 'memory' AS owner, m.seq FROM memory m WHERE m.forgotten_at IS NULL
        UNION ALL SELECT 'entity', e.seq FROM entity e
        UNION ALL SELECT 'reflection', r.seq FROM reflection r) x
 WHERE NOT EXISTS (SELECT 1 FROM vector v WHERE v.model_id = :model_id AND v.owner = x.owner AND v.seq = x.seq)
