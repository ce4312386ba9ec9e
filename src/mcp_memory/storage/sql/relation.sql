-- relation_by_seq --
SELECT {columns} FROM relation o JOIN entity s ON s.seq = o.source_seq JOIN entity t ON t.seq = o.target_seq
 WHERE o.space_id = :space_id AND o.seq = :seq

-- relation_by_id --
SELECT {columns} FROM relation o JOIN entity s ON s.seq = o.source_seq JOIN entity t ON t.seq = o.target_seq
 WHERE o.space_id = :space_id AND o.id = :id

-- relations_by_seq --
SELECT {columns} FROM relation o JOIN entity s ON s.seq = o.source_seq JOIN entity t ON t.seq = o.target_seq
 WHERE o.space_id = :space_id AND o.seq IN ({keys})

-- active_relation --
SELECT {columns} FROM relation o JOIN entity s ON s.seq = o.source_seq JOIN entity t ON t.seq = o.target_seq
 WHERE o.source_seq = :source_seq AND o.target_seq = :target_seq AND o.type = :type
   AND o.space_id = :space_id AND o.ended_at IS NULL

-- relations_touching --
SELECT {columns} FROM relation o JOIN entity s ON s.seq = o.source_seq JOIN entity t ON t.seq = o.target_seq
 WHERE o.source_seq IN ({keys}) OR o.target_seq IN ({keys})
 ORDER BY o.seq

-- first_relations_touching --
-- Looks up the ends only of relations that are shown: a hub has thousands. `+ 0`: without it SQLite
-- walks all relations in their order.
SELECT {columns}
  FROM (SELECT * FROM relation
         WHERE (source_seq IN ({keys}) OR target_seq IN ({keys})) AND (:ended = 1 OR ended_at IS NULL)
         ORDER BY seq + 0 LIMIT :limit) o
  JOIN entity s ON s.seq = o.source_seq JOIN entity t ON t.seq = o.target_seq
 ORDER BY o.seq

-- count_relations_touching --
SELECT count(*) AS count FROM relation
 WHERE (source_seq IN ({keys}) OR target_seq IN ({keys})) AND (:ended = 1 OR ended_at IS NULL)

-- relations_page --
SELECT {columns} FROM relation o JOIN entity s ON s.seq = o.source_seq JOIN entity t ON t.seq = o.target_seq
 WHERE o.space_id = :space_id AND o.ended_at IS NULL AND o.seq > :after ORDER BY o.seq LIMIT :limit

-- find_relations --
SELECT {columns} FROM relation o JOIN entity s ON s.seq = o.source_seq JOIN entity t ON t.seq = o.target_seq
 WHERE {where} AND o.seq > :after ORDER BY o.seq LIMIT :limit OFFSET :offset

-- count_found_relations --
SELECT count(*) AS count FROM relation o WHERE {where}

-- count_relations --
SELECT count(*) AS count FROM relation WHERE space_id = :space_id AND ended_at IS NULL

-- relation_seqs_touching --
-- `+ 0`: without it SQLite walks all relations of the space in their order.
SELECT seq FROM relation
 WHERE space_id + 0 = :space_id AND (source_seq = :entity_seq OR target_seq = :entity_seq) ORDER BY seq + 0
