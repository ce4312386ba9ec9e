-- put_vector --
INSERT INTO vector (model_id, owner, seq, space_id, embedding)
VALUES (:model_id, :owner, :seq, :space_id, :embedding)

-- remove_vectors --
DELETE FROM vector
 WHERE model_id = :model_id AND owner = :owner
   AND seq IN (SELECT CAST(seq AS BIGINT) FROM json_array_elements_text(:seqs) AS given (seq))

-- nearest --
SELECT v.seq, v.embedding <=> :vector_query AS distance
  FROM (SELECT seq, embedding FROM vector WHERE {part}) v JOIN {owner} o ON o.seq = v.seq
 WHERE {allowed} ORDER BY distance, v.seq LIMIT :vector_limit

-- nearest_candidates --
WITH candidate AS MATERIALIZED (
    SELECT v.seq, v.embedding <=> :vector_query AS distance
      FROM (SELECT seq, embedding FROM vector WHERE {part}) v JOIN {owner} o ON o.seq = v.seq
     WHERE {allowed} ORDER BY {key} <=> {wanted} LIMIT 2 * :vector_limit)
SELECT seq, distance FROM candidate ORDER BY distance, seq LIMIT :vector_limit

-- tune_vector_search --
-- Iterative scan: continue until enough rows have passed the filter. Without it, a filter acts after the limit.
SELECT set_config('hnsw.ef_search', CAST(:searched AS TEXT), true),
       set_config('hnsw.iterative_scan', 'relaxed_order', true)

-- lock_vector_indexes --
-- Only the owner of the table may create indexes on it, and one server at a time does.
SELECT CASE WHEN pg_has_role(relowner, 'USAGE') THEN pg_try_advisory_lock({lock}, 0) END AS locked
  FROM pg_class WHERE oid = to_regclass('vector')

-- pgvector_schema --
SELECT quote_ident(n.nspname) AS schema FROM pg_extension e
  JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'

-- vector_indexes --
SELECT CAST(c.relname AS TEXT) AS name, i.indisvalid AS fit FROM pg_class t
  JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class c ON c.oid = i.indexrelid
 WHERE t.oid = to_regclass('vector') AND c.relname LIKE :name

-- vector_counts --
SELECT model_id, owner, space_id, count(*) AS count FROM vector GROUP BY 1, 2, 3

-- create_vector_index --
-- CONCURRENTLY: no other session waits for it.
CREATE INDEX CONCURRENTLY {index} ON vector USING hnsw (({key}) {operators}) WHERE {part}

-- drop_vector_index --
DROP INDEX CONCURRENTLY IF EXISTS {index}
