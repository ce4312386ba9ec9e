-- put_vector --
-- Replaced, not updated: the new id tells the sketch that it does not hold this vector yet.
INSERT OR REPLACE INTO vector (model_id, owner, seq, space_id, embedding)
VALUES (:model_id, :owner, :seq, :space_id, :embedding)

-- remove_vectors --
DELETE FROM vector WHERE model_id = :model_id AND owner = :owner AND seq = :seq

-- nearest --
-- A page of the vectors to compare. CROSS JOIN keeps the order as written: the planner cannot know how much
-- a filter lets through.
SELECT v.id, v.seq, v.embedding
  FROM vector v CROSS JOIN {owner} o ON o.seq = v.seq
 WHERE v.model_id = :vector_model AND v.owner = :vector_owner AND v.space_id = :vector_space
   AND v.id > :vector_after AND {allowed}
 ORDER BY v.id LIMIT :vector_page

-- vector_stamp --
SELECT count(*) AS count, max(id) AS last_id FROM vector
 WHERE model_id = :vector_model AND owner = :vector_owner AND space_id = :vector_space

-- vectors_after --
SELECT id, seq, embedding FROM vector
 WHERE model_id = :vector_model AND owner = :vector_owner AND space_id = :vector_space AND id > :vector_after
 ORDER BY id LIMIT :vector_most

-- nearest_of_few --
-- For a selective filter: reads only the vectors of rows that pass.
SELECT v.id, v.seq, v.embedding
  FROM {owner} o CROSS JOIN vector v ON v.seq = o.seq
 WHERE v.model_id = :vector_model AND v.owner = :vector_owner AND v.space_id = :vector_space AND {allowed}

-- allowed_seqs --
SELECT o.seq FROM {owner} o WHERE {allowed}

-- nearest_candidates --
SELECT v.id, v.seq, v.embedding
  FROM json_each(:vector_ids) near CROSS JOIN vector v ON v.id = near.value
       CROSS JOIN {owner} o ON o.seq = v.seq
 WHERE {allowed}

-- sketch --
SELECT last_id, entry_count FROM vector_sketch
 WHERE model_id = :model_id AND owner = :owner AND space_id = :space_id

-- sketch_segments --
SELECT ids, codes FROM vector_segment
 WHERE model_id = :model_id AND owner = :owner AND space_id = :space_id ORDER BY seq

-- put_sketch --
INSERT INTO vector_sketch (model_id, owner, space_id, last_id, entry_count)
VALUES (:model_id, :owner, :space_id, :last_id, :entry_count)
    ON CONFLICT (model_id, owner, space_id) DO UPDATE
   SET last_id = excluded.last_id, entry_count = excluded.entry_count

-- add_segment --
INSERT INTO vector_segment (model_id, owner, space_id, ids, codes)
VALUES (:model_id, :owner, :space_id, :ids, :codes)

-- vectors_to_sketch --
SELECT id, embedding FROM vector
 WHERE model_id = :model_id AND owner = :owner AND space_id = :space_id AND id > :after
 ORDER BY id LIMIT :batch

-- spaces_to_sketch --
SELECT owner, space_id, count(*) AS count FROM vector WHERE model_id = :model_id
 GROUP BY owner, space_id HAVING count(*) >= :least

-- stale_sketches --
-- Sketches of a removed model, and those whose entries are mostly of replaced or deleted vectors.
SELECT k.model_id, k.owner, k.space_id FROM vector_sketch k
 WHERE k.entry_count > :spare + 1.5 * (SELECT count(*) FROM vector v
                                        WHERE v.model_id = k.model_id AND v.owner = k.owner
                                          AND v.space_id = k.space_id)

-- remove_sketch --
DELETE FROM vector_sketch WHERE model_id = :model_id AND owner = :owner AND space_id = :space_id

-- remove_segments --
DELETE FROM vector_segment WHERE model_id = :model_id AND owner = :owner AND space_id = :space_id

-- wide_vectors --
-- Vectors of an earlier release: four bytes a dimension.
SELECT id, owner, seq, space_id, embedding FROM vector NOT INDEXED
 WHERE model_id = :model_id AND id > :after AND length(embedding) = :bytes ORDER BY id LIMIT :batch

-- legacy_indexes --
SELECT name FROM sqlite_schema WHERE name GLOB 'vector_index_[0-9]*' AND sql LIKE 'CREATE VIRTUAL TABLE%'

-- drop_legacy_index --
DROP TABLE {index}
