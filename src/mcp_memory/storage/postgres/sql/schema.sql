-- lock_migration --
SELECT pg_advisory_xact_lock({lock}, 0)

-- migration_table --
-- Not to_regclass, which may not see yet what another server created while this one waited for it.
SELECT has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') AS readable
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = :schema AND c.relname = 'migration'

-- schema_version --
SELECT COALESCE(max(number), 0) AS number FROM migration

-- create_migration_table --
CREATE TABLE migration (
    number     INTEGER PRIMARY KEY,
    name       TEXT        NOT NULL,
    applied_at TIMESTAMPTZ NOT NULL DEFAULT now()
)

-- add_migration --
INSERT INTO migration (number, name) VALUES (:number, :name)

-- schema_exists --
SELECT 1 FROM pg_namespace WHERE nspname = :schema

-- create_schema --
CREATE SCHEMA {schema}

-- installed_extension --
SELECT extversion AS version FROM pg_extension WHERE extname = 'vector'

-- available_extension --
SELECT default_version AS version FROM pg_available_extensions WHERE name = 'vector'

-- create_extension --
CREATE EXTENSION vector SCHEMA public

-- server_setting --
SELECT current_setting(:name) AS value
