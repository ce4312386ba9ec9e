-- trigram_support --
-- Whether we may create indexes on the tables, and whether pg_trgm is there or can be added.
SELECT (SELECT bool_and(pg_has_role(relowner, 'USAGE')) FROM pg_class
         WHERE oid IN (to_regclass('memory'), to_regclass('entity'))) AS owned,
       EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm') AS installed,
       EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm') AS available

-- row_estimate --
-- As of the last vacuum or analyze; -1 before the first.
SELECT CAST(reltuples AS BIGINT) AS count FROM pg_class WHERE oid = to_regclass(:table)

-- fit_index --
SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(:index) AND indisvalid

-- add_trigram_extension --
CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public

-- create_trigrams --
-- CONCURRENTLY: no other session waits for it.
CREATE INDEX CONCURRENTLY {index} ON {table} USING gin (lower({column}) gin_trgm_ops)

-- drop_trigrams --
DROP INDEX CONCURRENTLY IF EXISTS {index}
