-- page_of_rows --
-- Rows of any table in the order of its key, for copying a database.
SELECT {columns} FROM {table} o WHERE {where} ORDER BY {order} LIMIT :limit

-- count_rows --
SELECT count(*) AS count FROM {table} o WHERE {where}

-- rows_like --
-- Rows that a restored row would clash with. Two are enough to know of another one.
SELECT seq FROM {table} o WHERE {where} LIMIT 2
