-- images_after --
SELECT o.seq, o.at, o.before FROM event o
 WHERE o.space_id = :space_id AND o.at > :at AND o.seq > :after AND CAST(o.before AS TEXT) <> '[]'
 ORDER BY o.seq LIMIT :limit

-- first_version_after --
-- A version is the state until its time. Absorbed wordings are versions too, but of another memory.
SELECT v.memory_seq, v.state, v.created_at FROM memory_version v
 WHERE v.space_id = :space_id AND v.memory_seq IN ({keys}) AND v.created_at > :at AND v.reason <> 'absorbed'
 ORDER BY v.memory_seq, v.number

-- links_of_entities --
SELECT o.seq, o.entity_seq, o.memory_seq, o.relevance, o.created_at FROM entity_memory o
 WHERE o.space_id = :space_id AND o.entity_seq IN ({keys}) ORDER BY o.seq

-- links_of_memories --
SELECT o.seq, o.entity_seq, o.memory_seq, o.relevance, o.created_at FROM entity_memory o
 WHERE o.space_id = :space_id AND o.memory_seq IN ({keys}) ORDER BY o.seq

-- bare_relations_touching --
-- Without the names of the ends, which may have changed since.
SELECT {columns} FROM relation o
 WHERE o.space_id + 0 = :space_id AND (o.source_seq IN ({keys}) OR o.target_seq IN ({keys}))
 ORDER BY o.seq + 0

-- bare_relations_by_id --
SELECT {columns} FROM relation o WHERE o.space_id = :space_id AND o.id IN ({keys})

-- entities_by_id --
SELECT {columns} FROM entity o WHERE o.space_id = :space_id AND o.id IN ({keys})
