-- put_vector --
-- Replaced, not updated: the new id tells every index that it does not hold this vector yet.
INSERT OR REPLACE INTO vector (model_id, owner, seq, space_id, embedding)
VALUES (:model_id, :owner, :seq, :space_id, :embedding)

-- remove_vectors --
DELETE FROM vector WHERE model_id = :model_id AND owner = :owner AND seq = :seq

-- nearest --
-- CROSS JOIN keeps the order as written: the planner cannot know how much a filter lets through.
SELECT v.seq, 1 - vec1_cos_distance(v.embedding, :vector_query) AS similarity
  FROM vector v CROSS JOIN {owner} o ON o.seq = v.seq
 WHERE v.model_id = :vector_model AND v.owner = :vector_owner AND v.space_id = :vector_space
   AND v.id > :vector_after AND {allowed}
 ORDER BY similarity DESC, v.seq LIMIT :vector_limit

-- nearest_of_few --
-- For a filter that lets few of many rows through: only their vectors are read.
SELECT v.seq, 1 - vec1_cos_distance(v.embedding, :vector_query) AS similarity
  FROM {owner} o CROSS JOIN vector v ON v.seq = o.seq
 WHERE v.model_id = :vector_model AND v.owner = :vector_owner AND v.space_id = :vector_space AND {allowed}
 ORDER BY similarity DESC, v.seq LIMIT :vector_limit

-- nearest_candidates --
SELECT v.seq, 1 - vec1_cos_distance(v.embedding, :vector_query) AS similarity
  FROM {index}(:vector_query, :vector_profile) near
       CROSS JOIN vector v ON v.id = near.rowid CROSS JOIN {owner} o ON o.seq = v.seq
 WHERE near.space_id = :vector_space AND {allowed}

-- count_vectors_in_space --
SELECT count(*) AS count
  FROM (SELECT 1 FROM vector v
         WHERE v.model_id = :vector_model AND v.owner = :vector_owner AND v.space_id = :vector_space
         LIMIT :most)
