-- vector_indexes --
-- None on a connection without vec1.
SELECT id, state, vector_count, bucket_count, last_id FROM vector_index
 WHERE model_id = :model_id AND owner = :owner
   AND EXISTS (SELECT 1 FROM pragma_module_list WHERE name = 'vec1')

-- unused_vector_indexes --
-- Virtual tables without a row in `vector_index`, or whose vectors are all deleted.
SELECT CAST(substr(name, length('vector_index_') + 1) AS INTEGER) AS id FROM sqlite_schema
 WHERE name GLOB 'vector_index_[0-9]*' AND sql LIKE 'CREATE VIRTUAL TABLE%'
   AND EXISTS (SELECT 1 FROM pragma_module_list WHERE name = 'vec1')
EXCEPT
SELECT id FROM vector_index i
 WHERE EXISTS (SELECT 1 FROM vector v WHERE v.model_id = i.model_id AND v.owner = i.owner)

-- add_vector_index --
INSERT INTO vector_index (model_id, owner, state, vector_count, bucket_count, last_id)
VALUES (:model_id, :owner, 'building', :count, :buckets, 0) RETURNING id

-- remove_vector_index --
DELETE FROM vector_index WHERE id = :id

-- set_vector_index_state --
UPDATE vector_index SET state = :state WHERE id = :id

-- set_vector_index_last_id --
UPDATE vector_index SET last_id = :last_id WHERE id = :id

-- create_vector_index --
CREATE VIRTUAL TABLE {index} USING vec1(vector, space_id)

-- drop_vector_index --
DROP TABLE IF EXISTS {index}

-- apply_trained_model --
INSERT INTO {index} (cmd, arg) VALUES ('rebuild', :trained)

-- train_vector_index --
SELECT vec1_train(embedding, :training) AS trained FROM vector
 WHERE id IN (SELECT id FROM vector WHERE model_id = :model_id AND owner = :owner
               ORDER BY random() LIMIT :sample)

-- count_indexable_vectors --
-- None on a connection without vec1.
SELECT count(*) AS count FROM vector
 WHERE model_id = :model_id AND owner = :owner
   AND EXISTS (SELECT 1 FROM pragma_module_list WHERE name = 'vec1')

-- newest_vector --
SELECT max(id) AS newest FROM vector

-- vectors_to_index --
-- NOT INDEXED: in the order of ids, across spaces.
SELECT id FROM vector NOT INDEXED
 WHERE model_id = :model_id AND owner = :owner AND id > :after ORDER BY id LIMIT :batch

-- index_vectors --
INSERT INTO {index} (rowid, vector, space_id)
SELECT id, embedding, space_id FROM vector NOT INDEXED
 WHERE model_id = :model_id AND owner = :owner AND id > :after ORDER BY id LIMIT :batch

-- unindex_vector --
DELETE FROM {index}
 WHERE rowid = (SELECT id FROM vector
                 WHERE model_id = :model_id AND owner = :owner AND seq = :seq AND id <= :last_id)

-- sample_vectors --
SELECT embedding FROM vector
 WHERE id IN (SELECT id FROM vector WHERE model_id = :model_id AND owner = :owner AND id <= :last_id
               ORDER BY random() LIMIT :count)

-- probe_vector_index --
SELECT vec1_cos_distance(v.embedding, :query) AS distance
  FROM {index}(:query, :profile) near CROSS JOIN vector v ON v.id = near.rowid
 ORDER BY distance LIMIT :count

-- indexed_vectors --
SELECT id, embedding FROM vector NOT INDEXED
 WHERE model_id = :model_id AND owner = :owner AND id > :after AND id <= :last_id ORDER BY id LIMIT :count
