-- reflection_seqs_about --
SELECT seq FROM reflection
 WHERE space_id = :space_id AND target_type = :target_type AND target_seq = :target_seq ORDER BY seq

-- reflections_by_seq --
-- `+ 0`: without it SQLite walks the whole space.
SELECT {columns} FROM reflection o WHERE o.space_id + 0 = :space_id AND o.seq IN ({keys})

-- reflections_about --
SELECT {columns} FROM reflection o
 WHERE o.space_id = :space_id AND o.target_type = :target_type AND o.target_seq IN ({keys}) ORDER BY o.seq

-- reflection_by_id --
SELECT {columns} FROM reflection o WHERE o.space_id = :space_id AND o.id = :id

-- find_reflections --
SELECT {columns} FROM reflection o WHERE {where} ORDER BY o.seq DESC LIMIT :limit OFFSET :offset

-- count_found_reflections --
SELECT count(*) AS count FROM reflection o WHERE {where}
