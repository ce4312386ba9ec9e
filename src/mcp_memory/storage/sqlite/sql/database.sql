-- sequences --
SELECT name, seq AS last FROM sqlite_sequence

-- set_sequence --
UPDATE sqlite_sequence SET seq = :last WHERE name = :name

-- add_sequence --
INSERT INTO sqlite_sequence (name, seq)
SELECT :name, :last WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = :name)

-- count_schema_objects --
SELECT count(*) AS count FROM sqlite_schema

-- full_text_tables --
SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%fts5%'

-- merge_segments --
-- Deleted text stays in the segments of a full-text index until they are merged. A negative number of pages begins to
-- merge all of them, a positive one goes on.
INSERT INTO {index} ({index}, rank) VALUES ('merge', :pages)

-- segments --
SELECT block FROM {index}_data WHERE id = 10

-- last_number --
-- The largest number that a row of a table has or had. The table itself is asked too, for the case that a repair
-- has lost the sequence.
SELECT max(coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = :table), 0),
           coalesce((SELECT max(seq) FROM {table}), 0))

-- listed_keys --
SELECT value FROM carray(:keys)

-- views_and_triggers --
-- Views first: triggers may be about them.
SELECT type, name, sql FROM sqlite_schema WHERE type IN ('view', 'trigger') ORDER BY type = 'trigger'

-- drop_view --
DROP {kind} "{name}"
