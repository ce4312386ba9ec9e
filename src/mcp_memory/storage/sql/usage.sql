-- record_access --
-- Only of what is still there: it may have been deleted since it was read.
INSERT INTO entity_access (entity_seq, access_count, last_at)
SELECT e.seq, 1, :at FROM entity e WHERE e.space_id = :space_id AND e.seq IN ({keys}) ORDER BY e.seq
ON CONFLICT (entity_seq) DO UPDATE SET access_count = entity_access.access_count + 1, last_at = excluded.last_at

-- record_access_day --
INSERT INTO entity_access_day (entity_seq, day, access_count)
SELECT e.seq, :day, 1 FROM entity e WHERE e.space_id = :space_id AND e.seq IN ({keys}) ORDER BY e.seq
ON CONFLICT (entity_seq, day) DO UPDATE SET access_count = entity_access_day.access_count + 1

-- record_co_occurrences --
INSERT INTO co_occurrence (a_seq, b_seq, count, last_at)
SELECT a.seq, b.seq, 1, :at FROM entity a JOIN entity b ON b.seq > a.seq
 WHERE a.space_id = :space_id AND b.space_id = :space_id AND a.seq IN ({keys}) AND b.seq IN ({keys})
 ORDER BY a.seq, b.seq
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
-- `+ 0`: walking each one's company is quicker than probing for every pair.
SELECT a_seq, b_seq, count, last_at FROM co_occurrence WHERE a_seq IN ({keys}) AND b_seq + 0 IN ({keys})
