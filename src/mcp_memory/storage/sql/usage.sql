-- record_access --
INSERT INTO entity_access (entity_seq, access_count, last_at) VALUES (:entity_seq, 1, :at)
ON CONFLICT (entity_seq) DO UPDATE SET access_count = entity_access.access_count + 1, last_at = excluded.last_at

-- record_access_day --
INSERT INTO entity_access_day (entity_seq, day, access_count) VALUES (:entity_seq, :day, 1)
ON CONFLICT (entity_seq, day) DO UPDATE SET access_count = entity_access_day.access_count + 1

-- record_co_occurrence --
INSERT INTO co_occurrence (a_seq, b_seq, count, last_at) VALUES (:a_seq, :b_seq, 1, :at)
ON CONFLICT (a_seq, b_seq) DO UPDATE SET count = co_occurrence.count + 1, last_at = excluded.last_at

-- accesses_of --
SELECT a.entity_seq, a.access_count, a.last_at,
       (SELECT count(*) FROM entity_access_day d WHERE d.entity_seq = a.entity_seq) AS active_days
  FROM entity_access a WHERE a.entity_seq IN ({keys})

-- degrees_of --
SELECT x.entity_seq, count(*) AS degree
  FROM (SELECT source_seq AS entity_seq, seq FROM relation WHERE ended_at IS NULL AND source_seq IN ({keys})
        UNION SELECT target_seq, seq FROM relation WHERE ended_at IS NULL AND target_seq IN ({keys})) x
 GROUP BY x.entity_seq

-- co_occurrences_among --
SELECT a_seq, b_seq, count, last_at FROM co_occurrence WHERE a_seq IN ({keys}) AND b_seq IN ({keys})
