-- events_after --
SELECT o.seq, o.act, o.name, o.subject, o.payload, o.client, o.at, o.undone_at FROM event o
 WHERE o.space_id = :space_id AND o.seq > :after ORDER BY o.seq LIMIT :limit

-- events_before --
SELECT o.seq, o.act, o.name, o.subject, o.payload, o.client, o.at, o.undone_at FROM event o
 WHERE o.space_id = :space_id AND o.seq < :before ORDER BY o.seq DESC LIMIT :limit

-- events_about --
-- On PostgreSQL the index holds the last twelve digits of an id alone: they are random, and a third of it.
SELECT o.seq, o.act, o.name, o.subject, o.payload, o.client, o.at, o.undone_at FROM event o
 WHERE o.space_id = :space_id AND substr(o.subject, 25) = substr(:subject, 25) AND o.subject = :subject
 ORDER BY o.seq

-- events_of_act --
-- `+ 0`: without it SQLite walks the journal of the space in its order.
SELECT o.seq, o.act, o.name, o.subject, o.payload, o.client, o.at, o.undone_at, o.before FROM event o
 WHERE o.space_id = :space_id AND o.act = :act ORDER BY o.seq + 0

-- newest_events_of_act --
SELECT o.seq, o.act, o.name, o.subject, o.payload, o.client, o.at, o.undone_at, o.before FROM event o
 WHERE o.space_id = :space_id AND o.act = :act AND o.undone_at IS NULL ORDER BY o.seq + 0 DESC LIMIT :limit

-- events_by_seq --
SELECT o.seq, o.act, o.name, o.subject, o.payload, o.client, o.at, o.undone_at,
       CASE WHEN CAST(o.before AS TEXT) <> '[]' THEN 1 ELSE 0 END AS kept
  FROM event o WHERE o.space_id = :space_id AND o.seq IN ({keys})

-- acts_before --
-- The acts of so many events. An import is an act of 100,000: the index alone must answer this.
SELECT DISTINCT x.act
  FROM (SELECT o.act FROM event o
         WHERE o.space_id = :space_id AND o.seq < :before ORDER BY o.seq DESC LIMIT :limit) x

-- acts_summed_up --
-- By the index alone, too.
SELECT o.act, o.name, count(*) AS count, min(o.seq) AS first_seq, max(o.seq) AS last_seq,
       count(o.undone_at) AS undone
  FROM event o WHERE o.space_id = :space_id AND o.act IN ({keys}) GROUP BY o.act, o.name

-- acts_with_images --
SELECT DISTINCT o.act FROM event o
 WHERE o.space_id = :space_id AND o.act IN ({keys}) AND CAST(o.before AS TEXT) <> '[]'

-- mark_events_undone --
UPDATE event SET undone_at = :at WHERE space_id = :space_id AND seq IN ({keys})

-- mark_act_redone --
-- Undoing an undo repeats the change that it reverted.
UPDATE event SET undone_at = NULL WHERE space_id = :space_id AND act = :act AND undone_at = :at

-- last_event --
SELECT COALESCE(max(seq), 0) AS seq FROM event WHERE space_id = :space_id

-- events_with_images --
SELECT o.seq, o.name, o.payload FROM event o
 WHERE o.space_id = :space_id AND o.seq > :after AND o.at < :before AND CAST(o.before AS TEXT) <> '[]'
   AND o.act <> :unless
 ORDER BY o.seq LIMIT :limit

-- rewrite_event --
UPDATE event SET payload = :payload, before = :before WHERE space_id = :space_id AND seq = :seq

-- remove_events --
DELETE FROM event
 WHERE seq IN (SELECT o.seq FROM event o WHERE o.space_id = :space_id AND o.at < :before AND o.act <> :unless
                LIMIT :limit)

-- active_clients --
-- Reads only the newest changes: older ones do not make a client active.
SELECT x.client, count(DISTINCT x.act) AS change_count, max(x.at) AS last_at
  FROM (SELECT o.client, o.act, o.at FROM event o
         WHERE o.space_id = :space_id ORDER BY o.seq DESC LIMIT 10000) x
 GROUP BY x.client ORDER BY max(x.at) DESC LIMIT :limit

-- acts_like --
SELECT DISTINCT act FROM event
 WHERE space_id = :space_id AND (digits(act) LIKE :beginning OR digits(act) LIKE :ending) LIMIT 4

-- subjects_like --
SELECT DISTINCT subject FROM event
 WHERE space_id = :space_id AND (digits(subject) LIKE :beginning OR digits(subject) LIKE :ending) LIMIT 4
