-- add_search --
INSERT INTO search_event (space_id, query, client, strategy, mode, k_limit, result_count, duration_ms, at)
VALUES (:space_id, :query, :client, :strategy, :mode, :k_limit, :result_count, :duration_ms, :at)
RETURNING seq

-- add_search_result --
-- `base` is the whole relevance, de-boosts included: what another weighing starts from.
INSERT INTO search_result (event_seq, entity_seq, rank, baseline_rank, base, limbic_score, cosine,
                           importance, temporal, cooc)
VALUES (:event_seq, :entity_seq, :rank, :baseline_rank, :relevance, :limbic_score, :cosine,
        :importance, :temporal, :cooc)

-- lately_shown --
-- Entities that the latest searches showed to a client, with each such search, the latest last.
SELECT r.entity_seq, e.seq
  FROM search_event e
  JOIN search_result r ON r.event_seq = e.seq AND r.rank <= e.result_count
 WHERE e.seq IN (SELECT l.seq FROM search_event l
                  WHERE l.space_id = :space_id AND l.client = :client AND l.at >= :since
                  ORDER BY l.at DESC, l.seq DESC LIMIT :searches)
 ORDER BY e.seq

-- names_of_entities --
-- `+ 0`: without it SQLite walks the whole space.
SELECT seq, name FROM entity WHERE space_id + 0 = :space_id AND seq IN ({keys})

-- add_feedback --
INSERT INTO feedback (event_seq, entity_seq, sign, at) VALUES (:event_seq, :entity_seq, :sign, :at)
ON CONFLICT (event_seq, entity_seq, sign) DO NOTHING

-- judged_searches --
SELECT e.seq, e.query, e.client, e.strategy, e.mode, e.k_limit, e.result_count, e.at
  FROM search_event e
 WHERE e.space_id = :space_id AND EXISTS (SELECT 1 FROM feedback f WHERE f.event_seq = e.seq)
 ORDER BY e.seq DESC LIMIT :limit

-- results_of_searches --
SELECT event_seq, entity_seq, rank, baseline_rank, base AS relevance, limbic_score, cosine,
       importance, temporal, cooc
  FROM search_result WHERE event_seq IN ({keys}) ORDER BY event_seq, rank

-- feedback_of_searches --
SELECT event_seq, entity_seq, sign FROM feedback WHERE event_seq IN ({keys}) ORDER BY event_seq, entity_seq, sign

-- search_log_extent --
SELECT count(*) AS count, min(at) AS first_at, max(at) AS last_at, avg(duration_ms) AS mean_ms
  FROM search_event WHERE space_id = :space_id

-- count_judged_searches --
SELECT count(*) AS count FROM search_event e
 WHERE e.space_id = :space_id AND EXISTS (SELECT 1 FROM feedback f WHERE f.event_seq = e.seq)

-- searches_by_strategy --
SELECT strategy AS name, count(*) AS count FROM search_event
 WHERE space_id = :space_id GROUP BY strategy ORDER BY strategy

-- feedback_by_sign --
SELECT f.sign AS name, count(*) AS count FROM feedback f JOIN search_event e ON e.seq = f.event_seq
 WHERE e.space_id = :space_id GROUP BY f.sign ORDER BY f.sign

-- forget_old_searches --
DELETE FROM search_event WHERE space_id = :space_id AND at < :before

-- forget_excess_searches --
DELETE FROM search_event
 WHERE space_id = :space_id
   AND seq <= (SELECT l.seq FROM search_event l WHERE l.space_id = :space_id
                ORDER BY l.seq DESC LIMIT 1 OFFSET :most)
