-- events_mentioning --
-- Scans the journal of a space; all but the newest events are scanned before others have to wait.
SELECT o.seq, o.act, o.subject, o.payload, o.before FROM event o
 WHERE o.space_id = :space_id AND o.seq > :after
   AND (o.subject = :id OR CAST(o.payload AS TEXT) LIKE :needle OR CAST(o.before AS TEXT) LIKE :needle)
 ORDER BY o.seq

-- events_numbered --
SELECT o.seq, o.act, o.subject, o.payload, o.before FROM event o
 WHERE o.space_id = :space_id AND o.seq IN ({keys})

-- entity_deletions --
SELECT o.act, o.subject, o.payload FROM event o
 WHERE o.space_id = :space_id AND o.name = 'entity_deleted' ORDER BY o.seq

-- versions_mentioning --
SELECT v.seq, v.state FROM memory_version v
 WHERE v.space_id = :space_id AND v.seq > :after AND CAST(v.state AS TEXT) LIKE :needle

-- versions_numbered --
SELECT v.seq, v.state FROM memory_version v WHERE v.space_id = :space_id AND v.seq IN ({keys})

-- last_version --
SELECT COALESCE(max(seq), 0) AS seq FROM memory_version WHERE space_id = :space_id

-- remove_access --
DELETE FROM entity_access WHERE entity_seq = :entity_seq

-- remove_access_days --
DELETE FROM entity_access_day WHERE entity_seq = :entity_seq

-- remove_co_occurrences --
DELETE FROM co_occurrence WHERE a_seq = :entity_seq OR b_seq = :entity_seq

-- remove_searches_for --
DELETE FROM search_event WHERE space_id = :space_id AND lower(query) LIKE :needle ESCAPE '\'

-- remove_searches_that_found --
-- Such searches often contain the words of a purged text, and only serve tuning.
DELETE FROM search_event WHERE space_id = :space_id
   AND seq IN (SELECT r.event_seq FROM search_result r WHERE r.entity_seq = :entity_seq)

-- remove_searches_that_found_by --
DELETE FROM search_event WHERE space_id = :space_id
   AND seq IN (SELECT r.event_seq FROM search_result r JOIN entity_memory l ON l.entity_seq = r.entity_seq
                WHERE l.memory_seq = :memory_seq)

-- remove_stray_access --
DELETE FROM entity_access
 WHERE last_at < :before AND NOT EXISTS (SELECT 1 FROM entity e WHERE e.seq = entity_access.entity_seq)

-- remove_stray_access_days --
DELETE FROM entity_access_day
 WHERE NOT EXISTS (SELECT 1 FROM entity_access a WHERE a.entity_seq = entity_access_day.entity_seq)

-- remove_stray_co_occurrences --
DELETE FROM co_occurrence
 WHERE last_at < :before
   AND (NOT EXISTS (SELECT 1 FROM entity e WHERE e.seq = co_occurrence.a_seq)
        OR NOT EXISTS (SELECT 1 FROM entity e WHERE e.seq = co_occurrence.b_seq))

-- remove_answers_mentioning --
DELETE FROM answered WHERE space_id = :space_id AND CAST(body AS TEXT) LIKE :needle
