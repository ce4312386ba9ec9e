-- entity_by_seq --
SELECT {columns} FROM entity o WHERE o.space_id = :space_id AND o.seq = :seq

-- entity_by_id --
SELECT {columns} FROM entity o WHERE o.space_id = :space_id AND o.id = :id

-- entities_by_seq --
SELECT {columns} FROM entity o WHERE o.space_id = :space_id AND o.seq IN ({keys}) ORDER BY o.seq

-- entities_by_name --
-- In no order: SQLite would walk the whole space to get one.
SELECT {columns} FROM entity o WHERE o.space_id = :space_id AND o.name IN ({keys})

-- entities_page --
SELECT {columns} FROM entity o WHERE o.space_id = :space_id AND o.seq > :after ORDER BY o.seq LIMIT :limit

-- find_entities --
SELECT {columns} FROM entity o WHERE {where} AND o.seq > :after ORDER BY o.seq LIMIT :limit OFFSET :offset

-- count_entities --
SELECT count(*) AS count FROM entity WHERE space_id = :space_id

-- count_found_entities --
SELECT count(*) AS count FROM entity o WHERE {where}

-- entities_holding --
-- One substring anywhere in the name, the type or a living observation. `{lower}` folds case: the engine's
-- own function when the needle is plain ASCII, ours (which knows all of Unicode) when it is not. A union, for
-- with OR every entity would be looked at. `{few}` is a plus where there are candidates: without it SQLite
-- walks an index of the whole space and asks of each memory whether it is one.
SELECT {columns} FROM entity o
 WHERE o.space_id = :space_id
   AND o.seq IN (SELECT o.seq FROM entity o
                  WHERE o.space_id = :space_id AND {entities}
                    AND ({lower}(o.name) LIKE :needle ESCAPE '\' OR {lower}(o.type) LIKE :needle ESCAPE '\')
                  UNION
                 SELECT em.entity_seq FROM memory o JOIN entity_memory em ON em.memory_seq = o.seq
                  WHERE {few}o.space_id = :space_id AND o.forgotten_at IS NULL AND o.superseded_at IS NULL
                    AND {memories} AND {lower}(o.content) LIKE :needle ESCAPE '\')
 ORDER BY o.seq

-- observations_of --
SELECT em.entity_seq, em.seq AS link_seq, {columns}
  FROM entity_memory em JOIN memory o ON o.seq = em.memory_seq
 WHERE em.entity_seq IN ({keys}) AND o.forgotten_at IS NULL
 ORDER BY em.seq

-- links_of_entity --
SELECT em.seq, em.memory_seq FROM entity_memory em
 WHERE em.space_id = :space_id AND em.entity_seq = :entity_seq ORDER BY em.seq

-- links_of_memory --
SELECT em.seq, em.entity_seq, em.relevance FROM entity_memory em
 WHERE em.space_id = :space_id AND em.memory_seq = :memory_seq ORDER BY em.seq

-- entities_of_memories --
SELECT em.memory_seq, em.entity_seq, em.relevance, e.name, e.type, e.id
  FROM entity_memory em JOIN entity e ON e.seq = em.entity_seq
 WHERE em.memory_seq IN ({keys}) ORDER BY em.seq

-- observation_counts --
SELECT em.entity_seq, count(*) AS count
  FROM entity_memory em JOIN memory m ON m.seq = em.memory_seq
 WHERE em.space_id = :space_id AND m.forgotten_at IS NULL AND m.superseded_at IS NULL
   AND em.entity_seq IN ({keys})
 GROUP BY em.entity_seq

-- entity_seqs_of_memories --
SELECT em.memory_seq, em.entity_seq FROM entity_memory em
 WHERE em.memory_seq IN ({keys}) ORDER BY em.seq

-- count_observations --
SELECT count(*) AS count FROM entity_memory em JOIN memory m ON m.seq = em.memory_seq
 WHERE em.space_id = :space_id AND m.forgotten_at IS NULL

-- names_beginning --
SELECT DISTINCT o.name FROM entity o
 WHERE o.space_id = :space_id AND {lower}(o.name) LIKE :beginning ESCAPE '\' ORDER BY o.name LIMIT :limit
