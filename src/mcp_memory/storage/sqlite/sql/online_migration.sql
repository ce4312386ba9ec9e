-- compact_time --
-- A time that cannot be read stays as it is, for the diagnosis to find.
coalesce(iif({column} GLOB '????-??-??T??:??:??.??????+00:00',
         unixepoch(substr({column}, 1, 19)) * 1000000 + substr({column}, 21, 6), NULL), {column})

-- compact_event_time --
-- The journal takes numbers only.
coalesce(iif({column} GLOB '????-??-??T??:??:??.??????+00:00',
         unixepoch(substr({column}, 1, 19)) * 1000000 + substr({column}, 21, 6), NULL),
         iif(typeof({column}) = 'integer', {column}, coalesce(unixepoch({column}) * 1000000, 0)))

-- compact_hash --
coalesce(substr(unhex({column}), 1, 16), CAST({column} AS BLOB))

-- compact_id --
coalesce(iif({column} GLOB '????????-????-????-????-????????????' AND {column} = lower({column})
         AND length(replace({column}, '-', '')) = 32, unhex(replace({column}, '-', '')), NULL), {column})

-- create_marks --
-- Up to which key the rows of each table are copied (none: all of them), and the last one to be copied. Later ones are
-- copied as they are added.
CREATE TABLE compacting (name TEXT PRIMARY KEY, mark INTEGER, last INTEGER)

-- add_mark --
INSERT INTO compacting (name, mark, last) SELECT :name, min({mark}) - 1, max({mark}) FROM {table}

-- put_mark --
UPDATE compacting SET mark = :mark WHERE name = :name

-- marks --
SELECT name, mark, last FROM compacting WHERE mark IS NOT NULL

-- end_of_piece --
SELECT max({mark}) FROM (SELECT {mark} FROM {table} WHERE {mark} > :after ORDER BY {mark} LIMIT :count)

-- first_mark --
SELECT min({mark}) - 1 FROM {table}

-- copy_rows --
-- Rows that were added or changed since the copying began are there already.
INSERT INTO {table}__compact ({columns})
SELECT {values} FROM {table} o
 WHERE o.{mark} > :after AND o.{mark} <= :until
   AND NOT EXISTS (SELECT 1 FROM {table}__compact n WHERE {same})
 ORDER BY o.{mark}

-- copy_added --
CREATE TRIGGER compacting_{table}_added AFTER INSERT ON {table} BEGIN
  INSERT INTO {table}__compact ({columns}) SELECT {values} FROM {table} o WHERE {new};
END

-- copy_changed --
CREATE TRIGGER compacting_{table}_changed AFTER UPDATE ON {table} BEGIN
  DELETE FROM {table}__compact WHERE {old};
  INSERT INTO {table}__compact ({columns}) SELECT {values} FROM {table} o WHERE {new};
END

-- copy_removed --
CREATE TRIGGER compacting_{table}_removed AFTER DELETE ON {table} BEGIN
  DELETE FROM {table}__compact WHERE {old};
END

-- count_copies --
SELECT (SELECT count(*) FROM {table}), (SELECT count(*) FROM {table}__compact)

-- drop_copying_trigger --
DROP TRIGGER {trigger}

-- drop_copies --
DROP TABLE IF EXISTS {table}__compact

-- drop_marks --
DROP TABLE IF EXISTS compacting

-- move_aside --
ALTER TABLE {table} RENAME TO {table}__replaced

-- move_in --
ALTER TABLE {table}__compact RENAME TO {table}

-- compact_times_in_place --
UPDATE {table} SET {assignments}

-- given_number --
SELECT seq FROM sqlite_sequence WHERE name = :name

-- redescribe --
UPDATE sqlite_schema SET name = :name, sql = :sql WHERE name = :former

-- described --
SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL

-- stored_columns --
-- Without those that are computed.
SELECT name FROM pragma_table_xinfo(:table) WHERE hidden = 0 ORDER BY name

-- remove_replaced_rows --
DELETE FROM {table} WHERE {mark} <= :until

-- drop_replaced_index --
DROP INDEX {index}

-- drop_replaced_table --
DROP TABLE {table}
