-- memory_totals --
SELECT count(*) AS count, avg({effective}) AS average_confidence,
       sum(CASE WHEN {effective} < :low THEN 1 ELSE 0 END) AS low_count,
       -- Observations and identities are pinned by themselves.
       sum(CASE WHEN o.pinned_at IS NOT NULL AND o.origin = 'memory' AND o.type <> :pinned_type
                THEN 1 ELSE 0 END) AS pinned_count,
       count(o.superseded_at) AS superseded_count
  FROM memory o WHERE o.space_id = :space_id AND o.forgotten_at IS NULL

-- oldest_memory_time --
-- Times as columns, not as expressions: so they come out as times on both engines.
SELECT o.created_at FROM memory o WHERE o.space_id = :space_id AND o.forgotten_at IS NULL
 ORDER BY o.created_at LIMIT 1

-- newest_memory_time --
SELECT o.created_at FROM memory o WHERE o.space_id = :space_id AND o.forgotten_at IS NULL
 ORDER BY o.created_at DESC LIMIT 1

-- memories_by_type --
SELECT o.type, count(*) AS count FROM memory o
 WHERE o.space_id = :space_id AND o.forgotten_at IS NULL
 GROUP BY o.type ORDER BY count(*) DESC, o.type

-- memories_by_day --
SELECT o.created_day AS day, count(*) AS count FROM memory o
 WHERE o.space_id = :space_id AND o.forgotten_at IS NULL AND o.created_day BETWEEN :first_day AND :last_day
 GROUP BY o.created_day ORDER BY o.created_day

-- count_before_day --
SELECT count(*) AS count FROM memory o
 WHERE o.space_id = :space_id AND o.forgotten_at IS NULL AND o.created_day < :day

-- tag_counts --
SELECT t.tag, count(*) AS count FROM memory_tag t WHERE t.space_id = :space_id
 GROUP BY t.tag ORDER BY count(*) DESC, t.tag LIMIT :limit

-- count_tags --
SELECT count(DISTINCT t.tag) AS count FROM memory_tag t WHERE t.space_id = :space_id

-- confidence_histogram --
-- A confidence of exactly 1 belongs to the last bin.
SELECT x.bin, count(*) AS count
  FROM (SELECT CASE WHEN {effective} >= 1 THEN :bin_count - 1
                    ELSE CAST(floor({effective} * :bin_count) AS INTEGER) END AS bin
          FROM memory o WHERE o.space_id = :space_id AND o.forgotten_at IS NULL) x
 GROUP BY x.bin ORDER BY x.bin

-- count_forgotten --
SELECT count(*) AS count FROM memory o WHERE o.space_id = :space_id AND o.forgotten_at IS NOT NULL

-- count_associations --
SELECT count(*) AS count FROM association WHERE space_id = :space_id

-- count_reflections --
SELECT count(*) AS count FROM reflection WHERE space_id = :space_id
