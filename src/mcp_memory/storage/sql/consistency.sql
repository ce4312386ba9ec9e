-- reflections_about_nothing --
SELECT o.seq FROM reflection o
 WHERE (o.target_type = 'entity'
        AND NOT EXISTS (SELECT 1 FROM entity e WHERE e.seq = o.target_seq AND e.space_id = o.space_id))
    OR (o.target_type = 'relation'
        AND NOT EXISTS (SELECT 1 FROM relation r WHERE r.seq = o.target_seq AND r.space_id = o.space_id))

-- keep_reflections_about_nothing --
UPDATE reflection SET target_type = 'global', target_seq = NULL
 WHERE (target_type = 'entity'
        AND NOT EXISTS (SELECT 1 FROM entity e
                         WHERE e.seq = reflection.target_seq AND e.space_id = reflection.space_id))
    OR (target_type = 'relation'
        AND NOT EXISTS (SELECT 1 FROM relation r
                         WHERE r.seq = reflection.target_seq AND r.space_id = reflection.space_id))

-- show_superseded_by_themselves --
UPDATE memory SET superseded_by = NULL, superseded_at = NULL WHERE superseded_by = id

-- superseded_by_themselves --
SELECT seq, id FROM memory WHERE superseded_by = id

-- event_names --
SELECT DISTINCT name FROM event ORDER BY name

-- unusable_tokens --
SELECT name FROM token WHERE length(digest) <> :length ORDER BY name

-- late_rows --
SELECT count(*) AS count FROM {table} WHERE {late}
