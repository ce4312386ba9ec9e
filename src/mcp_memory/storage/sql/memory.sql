-- memory_by_id --
SELECT {columns} FROM memory o WHERE o.space_id = :space_id AND o.id = :id

-- living_memory_by_hash --
SELECT {columns} FROM memory o
 WHERE o.space_id = :space_id AND o.content_hash = :content_hash AND o.forgotten_at IS NULL

-- forgotten_memory_by_hash --
SELECT o.seq FROM memory o
 WHERE o.space_id = :space_id AND o.content_hash = :content_hash AND o.forgotten_at IS NOT NULL
   AND o.forgotten_reason = :reason
 LIMIT 1

-- memories_by_seq --
SELECT {columns} FROM memory o WHERE o.space_id = :space_id AND o.seq IN ({keys})

-- memories_by_id --
SELECT {columns} FROM memory o WHERE o.space_id = :space_id AND o.id IN ({keys})

-- living_hashes --
-- Mostly there are none: the index answers.
SELECT content_hash FROM memory
 WHERE space_id = :space_id AND content_hash IN ({keys}) AND forgotten_at IS NULL

-- living_memories_by_hash --
SELECT {columns} FROM memory o
 WHERE o.space_id = :space_id AND o.content_hash IN ({keys}) AND o.forgotten_at IS NULL

-- find_memories --
-- Sorts numbers, then reads the rows of one page: sorting whole rows takes five times as long at 100,000.
SELECT {columns} FROM memory o
 WHERE o.seq IN (SELECT o.seq FROM memory o WHERE {where} ORDER BY {order} LIMIT :limit OFFSET :offset)
 ORDER BY {order}

-- keys_of_memory --
-- The sort key of a memory, exactly as the database computes it.
SELECT {columns} FROM memory o WHERE o.space_id = :space_id AND o.seq = :seq

-- count_memories --
SELECT count(*) AS count FROM memory o WHERE {where}

-- reinforce_memories --
-- Reading reinforces a memory. Not journaled: usage is not a change of knowledge.
UPDATE memory
   SET access_count = access_count + 1, accessed_at = :at,
       confidence = CASE WHEN confidence > 1.0 - :added THEN 1.0 ELSE confidence + :added END
 WHERE space_id = :space_id AND seq IN ({keys})

-- confirm_captured --
-- Memories that were opened or changed are no longer on trial.
UPDATE memory SET captured_at = NULL WHERE space_id = :space_id AND captured_at IS NOT NULL AND seq IN ({keys})

-- put_memory_tag --
INSERT INTO memory_tag (space_id, tag, memory_seq) VALUES (:space_id, :tag, :memory_seq)

-- remove_memory_tags --
DELETE FROM memory_tag WHERE memory_seq IN ({keys})

-- versions_of_memory --
SELECT v.seq, v.number, v.content, v.state, v.reason, v.created_at
  FROM memory_version v WHERE v.space_id = :space_id AND v.memory_seq = :memory_seq ORDER BY v.seq

-- version_seqs_of_memory --
SELECT seq FROM memory_version WHERE space_id = :space_id AND memory_seq = :memory_seq ORDER BY seq

-- last_version_of_memory --
SELECT COALESCE(max(number), 0) AS count FROM memory_version
 WHERE space_id = :space_id AND memory_seq = :memory_seq

-- ranking_facts_of_memories --
-- The fields of candidates that ranking needs, without their texts.
SELECT o.seq, o.channel, o.created_at, o.importance, o.superseded_at, {effective} AS effective_confidence
  -- CROSS JOIN: by number first, then the conditions; SQLite would rather walk through the whole space.
  FROM memory k CROSS JOIN memory o WHERE k.seq IN ({keys}) AND o.seq = k.seq AND {where}

-- whole_space --
-- All living memories with their ranking facts, in the order they were stored: neighbours are side by side.
-- The length of a text is known without reading it.
SELECT o.seq, CASE WHEN octet_length(o.content) <= :longest THEN o.content END AS content,
       CASE WHEN {where} THEN 1 ELSE 0 END AS passes,
       o.channel, o.created_at, o.importance, o.superseded_at, {effective} AS effective
  FROM memory o WHERE o.space_id = :space_id AND o.forgotten_at IS NULL
 ORDER BY o.created_at, o.seq LIMIT :most

-- neighbours_of_memories --
-- The neighbours of each memory: stored right before and right after it.
SELECT o.seq,
       -- Stored at the same time, as thousands of an import are, or earlier.
       COALESCE((SELECT max(p.seq) FROM memory p
                  WHERE p.space_id = :space_id AND p.forgotten_at IS NULL
                    AND p.created_at = o.created_at AND p.seq < o.seq),
                (SELECT p.seq FROM memory p
                  WHERE p.space_id = :space_id AND p.forgotten_at IS NULL AND p.created_at < o.created_at
                  ORDER BY p.created_at DESC, p.seq DESC LIMIT 1)) AS previous_seq,
       COALESCE((SELECT min(n.seq) FROM memory n
                  WHERE n.space_id = :space_id AND n.forgotten_at IS NULL
                    AND n.created_at = o.created_at AND n.seq > o.seq),
                (SELECT n.seq FROM memory n
                  WHERE n.space_id = :space_id AND n.forgotten_at IS NULL AND n.created_at > o.created_at
                  ORDER BY n.created_at, n.seq LIMIT 1)) AS next_seq
  FROM memory o WHERE o.seq IN ({keys})

-- contents_of_memories --
SELECT o.seq, o.content FROM memory o WHERE o.space_id = :space_id AND o.seq IN ({keys})

-- memories_about --
SELECT em.entity_seq, em.memory_seq, em.relevance
  FROM entity_memory em CROSS JOIN memory o
 WHERE em.entity_seq IN ({keys}) AND o.seq = em.memory_seq AND {where}

-- memory_ids_like --
SELECT o.id FROM memory o
 WHERE o.space_id = :space_id AND (o.id LIKE :beginning OR o.id LIKE :ending) LIMIT 4

-- count_memories_outside_graph --
-- Memories that a graph of current observations does not show.
SELECT count(*) AS count FROM memory o
 WHERE o.space_id = :space_id AND o.forgotten_at IS NULL
   AND (o.superseded_at IS NOT NULL
        OR NOT EXISTS (SELECT 1 FROM entity_memory em WHERE em.memory_seq = o.seq))

-- orphan_memory --
-- Checks only the newest: if all of them are about an entity, an older one seldom is not.
SELECT o.seq
  FROM (SELECT m.seq FROM memory m
         WHERE m.space_id = :space_id AND m.origin = 'memory' AND m.forgotten_at IS NULL
         ORDER BY m.seq DESC LIMIT :newest) o
 WHERE NOT EXISTS (SELECT 1 FROM entity_memory em WHERE em.memory_seq = o.seq)
 LIMIT 1

-- archived_memory_by_hash --
SELECT {columns} FROM memory o
 WHERE o.space_id = :space_id AND o.content_hash = :content_hash AND o.archived_at IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM memory l WHERE l.space_id = o.space_id AND l.content_hash = o.content_hash
                      AND l.forgotten_at IS NULL)
 ORDER BY o.seq DESC LIMIT 1

-- archived_texts --
-- The newest first: what is archived has no index, and is read through.
SELECT o.seq, o.content FROM memory o
 WHERE o.space_id = :space_id AND o.archived_at IS NOT NULL AND o.seq < :before
 ORDER BY o.seq DESC LIMIT :limit

-- remove_old_versions --
DELETE FROM memory_version
 WHERE space_id = :space_id AND created_at < :before
   AND number <= (SELECT max(newest.number) FROM memory_version newest
                   WHERE newest.memory_seq = memory_version.memory_seq) - :keep
