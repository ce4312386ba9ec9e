-- outline_entities --
SELECT o.seq, o.name, o.type FROM entity o WHERE o.space_id = :space_id ORDER BY o.seq

-- outline_entities_of --
SELECT o.seq, o.name, o.type FROM entity o WHERE o.space_id = :space_id AND o.seq IN ({keys}) ORDER BY o.seq

-- outline_observations --
SELECT em.entity_seq, m.content FROM entity_memory em JOIN memory m ON m.seq = em.memory_seq
 WHERE em.space_id = :space_id AND m.forgotten_at IS NULL AND m.superseded_at IS NULL
 ORDER BY em.seq

-- outline_observations_of --
SELECT em.entity_seq, m.content FROM entity_memory em JOIN memory m ON m.seq = em.memory_seq
 WHERE em.entity_seq IN ({keys}) AND m.forgotten_at IS NULL AND m.superseded_at IS NULL
 ORDER BY em.seq

-- outlines_of --
-- An entity comes once for each of its texts, and at least once. `+ 0`: by its number, not the index of the space.
SELECT o.seq, o.name, o.type, m.content
  FROM entity o LEFT JOIN entity_memory em ON em.entity_seq = o.seq
       LEFT JOIN memory m ON m.seq = em.memory_seq AND m.forgotten_at IS NULL AND m.superseded_at IS NULL
 WHERE o.space_id + 0 = :space_id AND o.seq IN ({keys}) ORDER BY o.seq, em.seq

-- outline_relations --
SELECT o.seq, s.name AS source, t.name AS target, o.type
  FROM relation o JOIN entity s ON s.seq = o.source_seq JOIN entity t ON t.seq = o.target_seq
 WHERE o.space_id = :space_id AND o.ended_at IS NULL ORDER BY o.seq

-- outline_relations_of --
SELECT o.seq, s.name AS source, t.name AS target, o.type
  FROM relation o JOIN entity s ON s.seq = o.source_seq JOIN entity t ON t.seq = o.target_seq
 WHERE o.ended_at IS NULL AND (o.source_seq IN ({keys}) OR o.target_seq IN ({keys})) ORDER BY o.seq
