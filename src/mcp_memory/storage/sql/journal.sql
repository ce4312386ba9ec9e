-- add_event --
INSERT INTO event (space_id, act, name, subject, payload, client, at, before)
VALUES (:space_id, :act, :name, :subject, :payload, :client, :at, :before)

-- events_after --
SELECT o.seq, o.act, o.name, o.subject, o.payload, o.client, o.at, o.undone_at FROM event o
 WHERE o.space_id = :space_id AND o.seq > :after ORDER BY o.seq LIMIT :limit

-- events_before --
SELECT o.seq, o.act, o.name, o.subject, o.payload, o.client, o.at, o.undone_at FROM event o
 WHERE o.space_id = :space_id AND o.seq < :before ORDER BY o.seq DESC LIMIT :limit

-- events_about --
SELECT o.seq, o.act, o.name, o.subject, o.payload, o.client, o.at, o.undone_at FROM event o
 WHERE o.space_id = :space_id AND o.subject = :subject ORDER BY o.seq

-- events_of_act --
SELECT o.seq, o.act, o.name, o.subject, o.payload, o.client, o.at, o.undone_at, o.before FROM event o
 WHERE o.space_id = :space_id AND o.act = :act ORDER BY o.seq

-- mark_act_undone --
UPDATE event SET undone_at = :at WHERE space_id = :space_id AND act = :act

-- last_event --
SELECT COALESCE(max(seq), 0) AS seq FROM event WHERE space_id = :space_id

-- forget_images --
-- After the time to change one's mind is over, what was deleted is deleted.
UPDATE event SET before = :nothing WHERE space_id = :space_id AND at < :before AND before <> :nothing
