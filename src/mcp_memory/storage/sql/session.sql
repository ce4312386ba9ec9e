-- session_by_id --
SELECT id, client, project, state, started_at, seen_at FROM session WHERE space_id = :space_id AND id = :id

-- put_session --
INSERT INTO session (space_id, id, client, project, state, started_at, seen_at)
VALUES (:space_id, :id, :client, :project, :state, :at, :at)
    ON CONFLICT (space_id, id) DO UPDATE
   SET client = excluded.client, project = excluded.project, state = excluded.state, seen_at = excluded.seen_at

-- last_seen_clients --
SELECT s.client, s.seen_at FROM session s
 WHERE s.space_id = :space_id
   AND NOT EXISTS (SELECT 1 FROM session later WHERE later.space_id = s.space_id AND later.client = s.client
                                                 AND later.seen_at > s.seen_at)

-- drop_sessions --
DELETE FROM session WHERE space_id = :space_id AND seen_at < :before
