-- record_access --
-- Only for existing entities: one may have been deleted since it was read.
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

-- entity_standings --
-- Facts for ranking, after the number in the order of `EntityStanding`: `degree` counts active relations, one to
-- itself once; `share` is that of `metadata` among the current observations. `+ 0`: reading rows by their
-- numbers is quicker than through the index of the space. `> 0`: so SQLite counts in the index of active relations.
SELECT e.seq, e.created_at, a.last_at, coalesce(a.access_count, 0) AS access_count,
       CASE WHEN a.last_at IS NULL THEN 1
            ELSE (SELECT count(*) FROM entity_access_day d WHERE d.entity_seq = e.seq) END AS active_days,
       (SELECT count(*) FROM relation r WHERE r.source_seq = e.seq AND r.target_seq > 0 AND r.ended_at IS NULL)
       + (SELECT count(*) FROM relation r
           WHERE r.target_seq = e.seq AND r.source_seq <> e.seq AND r.ended_at IS NULL) AS degree,
       e.status,
       CAST(coalesce((SELECT avg(CASE WHEN m.kind = 'metadata' THEN 1.0 ELSE 0.0 END)
          FROM entity_memory em JOIN memory m ON m.seq = em.memory_seq
         WHERE em.entity_seq = e.seq AND m.forgotten_at IS NULL AND m.superseded_at IS NULL), 0.0)
         AS DOUBLE PRECISION) AS share
  FROM entity e LEFT JOIN entity_access a ON a.entity_seq = e.seq
 WHERE e.space_id + 0 = :space_id AND e.seq IN ({keys})

-- co_occurrences_among --
-- `+ 0`: walking each one's company is quicker than probing for every pair.
SELECT a_seq, b_seq, count, last_at FROM co_occurrence WHERE a_seq IN ({keys}) AND b_seq + 0 IN ({keys})
