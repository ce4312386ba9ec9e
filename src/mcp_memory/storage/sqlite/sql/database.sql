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
