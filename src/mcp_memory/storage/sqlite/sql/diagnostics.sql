-- table_exists --
SELECT 1 FROM sqlite_schema WHERE name = :name

-- all_spaces --
SELECT seq FROM space ORDER BY seq

-- rows_to_index --
SELECT seq FROM {owner} WHERE space_id = :space_id {living}

-- indexed_rows --
-- FTS5 keeps the length of each indexed row in a table of its own.
SELECT id FROM {index}_docsize
