-- relations_around --
-- One step of a walk: the strongest first, so that what a limit leaves out is the weakest.
SELECT o.source_seq, o.target_seq FROM relation o
 WHERE o.space_id + 0 = :space_id AND o.ended_at IS NULL AND o.strength >= :min_strength
   AND (o.source_seq IN ({keys}) OR o.target_seq IN ({keys}))
 ORDER BY o.strength DESC, o.seq LIMIT :limit

-- relations_among --
-- `+ 0`: without it SQLite walks the whole space.
SELECT {columns} FROM relation o JOIN entity s ON s.seq = o.source_seq JOIN entity t ON t.seq = o.target_seq
 WHERE o.space_id + 0 = :space_id AND o.ended_at IS NULL AND o.strength >= :min_strength
   AND o.source_seq IN ({keys}) AND o.target_seq IN ({keys})
 ORDER BY o.strength DESC, o.seq LIMIT :limit

-- newest_memories_of --
-- The same limit for each entity.
SELECT {columns}, x.entity_seq
  FROM (SELECT em.entity_seq, em.memory_seq,
               row_number() OVER (PARTITION BY em.entity_seq ORDER BY max(em.seq) DESC) AS place
          FROM entity_memory em JOIN memory m ON m.seq = em.memory_seq
         WHERE em.space_id = :space_id AND em.entity_seq IN ({keys})
           AND m.forgotten_at IS NULL AND m.superseded_at IS NULL
         GROUP BY em.entity_seq, em.memory_seq) x
  JOIN memory o ON o.seq = x.memory_seq
 WHERE x.place <= :per_entity
 ORDER BY x.entity_seq, x.place

-- best_connected --
-- Ordered by the number of active relations; entities without any come last, oldest first.
SELECT e.seq, COALESCE(d.degree, 0) AS degree
  FROM entity e
  LEFT JOIN (SELECT x.seq, count(*) AS degree
               FROM (SELECT source_seq AS seq FROM relation
                      WHERE space_id = :space_id AND ended_at IS NULL AND strength >= :min_strength
                     UNION ALL
                     SELECT target_seq FROM relation
                      WHERE space_id = :space_id AND ended_at IS NULL AND strength >= :min_strength) x
              GROUP BY x.seq) d ON d.seq = e.seq
 WHERE e.space_id = :space_id
 ORDER BY COALESCE(d.degree, 0) DESC, e.seq LIMIT :limit
