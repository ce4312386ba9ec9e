-- server_facts --
SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
       pg_size_pretty(pg_database_size(current_database())) AS size, pg_is_in_recovery() AS follows

-- our_tables --
SELECT to_regclass('{schema}.migration') IS NOT NULL AS exist

-- tables_without_rights --
SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = :schema
   AND (c.relkind = 'r' AND NOT (SELECT bool_and(has_table_privilege(c.oid, kind))
                                   FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS kind)
        OR c.relkind = 'S' AND NOT has_sequence_privilege(c.oid, 'USAGE'))
 ORDER BY 1

-- other_owners --
SELECT DISTINCT tableowner AS owner FROM pg_tables
 WHERE schemaname = :schema AND NOT pg_has_role(tableowner, 'USAGE')

-- connection_counts --
SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
       CAST(current_setting('max_connections') AS INTEGER) AS allowed

-- all_indexes --
SELECT c.relname AS name, i.indisvalid AND i.indisready AS fit FROM pg_index i
  JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = :schema

-- dead_rows --
SELECT relname AS name, n_live_tup AS living, n_dead_tup AS dead FROM pg_stat_user_tables
 WHERE schemaname = :schema ORDER BY n_dead_tup DESC

-- word_index_differences --
SELECT count(*) FILTER (WHERE w.seq IS NULL) AS missing, count(*) FILTER (WHERE l.seq IS NULL) AS extra
  FROM (SELECT seq FROM {owner} {living}) AS l FULL JOIN {owner}_words AS w ON w.seq = l.seq
