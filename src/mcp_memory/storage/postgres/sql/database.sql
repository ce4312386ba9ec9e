-- configure_session --
-- Our tables, times in UTC, and an end to sessions whose machine is gone.
WITH extension AS (
    SELECT n.nspname, t.oid FROM pg_extension e
      JOIN pg_namespace n ON n.oid = e.extnamespace
      JOIN pg_type t ON t.typnamespace = e.extnamespace AND t.typname = 'vector'
     WHERE e.extname = 'vector')
SELECT (SELECT oid FROM extension) AS vector_oid,
       set_config('TimeZone', 'UTC', false),
       set_config('idle_in_transaction_session_timeout', '1h', false),
       set_config('tcp_keepalives_idle', '30', false),
       set_config('tcp_keepalives_interval', '10', false),
       set_config('tcp_keepalives_count', '3', false),
       -- An acknowledged commit is on disk, whatever the default of the role.
       set_config('synchronous_commit',
                  replace(current_setting('synchronous_commit'), 'off', 'on'), false),
       -- Compiling one of our statements takes longer than running it.
       set_config('jit', 'off', false),
       set_config('search_path', concat_ws(', ', CAST(:schema AS TEXT), 'public',
                  (SELECT quote_ident(nspname) FROM extension WHERE nspname <> 'public')), false)

-- backend_pid --
SELECT pg_backend_pid() AS pid

-- next_numbers --
SELECT nextval(pg_get_serial_sequence(:table, 'seq')) AS seq FROM generate_series(1, :count)

-- column_types --
SELECT CAST(attname AS TEXT) AS name, CAST(atttypid AS BIGINT) AS oid FROM pg_attribute
 WHERE attrelid = to_regclass(:table) AND attnum > 0

-- sequences --
SELECT regexp_replace(sequencename, '_seq_seq$', '') AS name, last_value AS last
  FROM pg_sequences WHERE schemaname = 'mcp_memory' AND last_value IS NOT NULL

-- set_sequence --
SELECT setval(pg_get_serial_sequence(:name, 'seq'), :last)

-- schema_size --
SELECT CAST(COALESCE(sum(pg_total_relation_size(c.oid)), 0) AS BIGINT) AS bytes
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = :schema AND c.relkind IN ('r', 'm')

-- primary_position --
-- A position in the log means something only within one cluster; and a cluster has many databases.
SELECT CAST(pg_current_wal_{place}_lsn() - '0/0' AS BIGINT) AS written,
       (SELECT system_identifier FROM pg_control_system()) AS cluster,
       (SELECT oid FROM pg_database WHERE datname = current_database()) AS database

-- replica_position --
SELECT CAST(pg_last_wal_replay_lsn() - '0/0' AS BIGINT) AS replayed, pg_is_in_recovery() AS follows,
       (SELECT system_identifier FROM pg_control_system()) AS cluster,
       (SELECT oid FROM pg_database WHERE datname = current_database()) AS database

-- try_lead --
SELECT pg_try_advisory_lock({lock}, 0) AS leads

-- still_leads --
-- The answer shows that the connection, and with it the lock, is alive.
SELECT true AS leads

-- release_locks --
SELECT pg_advisory_unlock_all()
