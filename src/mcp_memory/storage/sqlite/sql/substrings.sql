-- create_trigrams --
-- Without positions: a match only says that a row holds all trigrams, and the row itself is then checked.
CREATE VIRTUAL TABLE IF NOT EXISTS {index}
 USING fts5 (body, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1')

-- put_trigrams --
INSERT OR REPLACE INTO {index} (rowid, body) VALUES (:seq, :body)

-- rows_with_trigrams --
-- Rows that the index may lack count too: newer ones, and those changed since.
SELECT rowid FROM {index} WHERE {index} MATCH :trigrams
UNION ALL
SELECT seq FROM {owner} WHERE space_id = :space_id AND seq > {last_seq}
UNION ALL
SELECT seq FROM stale_trigrams WHERE owner = '{owner}' AND space_id = :space_id

-- trigram_index --
SELECT last_seq FROM trigram_index WHERE owner = :owner AND space_id = :space_id

-- trigram_indexes --
SELECT owner, space_id FROM trigram_index

-- removed_rows_with_trigrams --
-- FTS5 keeps the length of each indexed row in a table of its own.
SELECT d.id AS seq FROM {index}_docsize d WHERE NOT EXISTS (SELECT 1 FROM {owner} o WHERE o.seq = d.id)

-- remove_trigrams --
DELETE FROM {index} WHERE rowid = :seq

-- put_trigram_index --
INSERT INTO trigram_index (owner, space_id, last_seq) VALUES (:owner, :space_id, :last_seq)
    ON CONFLICT (owner, space_id) DO UPDATE SET last_seq = excluded.last_seq

-- add_stale_trigrams --
INSERT INTO stale_trigrams (owner, space_id, seq)
SELECT :owner, :space_id, :seq
 WHERE EXISTS (SELECT 1 FROM trigram_index WHERE owner = :owner AND space_id = :space_id AND last_seq >= :seq)
    ON CONFLICT (owner, space_id, seq) DO NOTHING

-- remove_stale_trigrams --
DELETE FROM stale_trigrams WHERE owner = :owner AND space_id = :space_id AND seq = :seq

-- spaces_for_trigrams --
SELECT space_id FROM {owner} GROUP BY space_id HAVING count(*) >= :least

-- new_texts --
SELECT seq, {text} AS body FROM {owner} WHERE space_id = :space_id AND seq > :after ORDER BY seq LIMIT :batch

-- stale_texts --
SELECT k.seq, {text} AS body FROM stale_trigrams k LEFT JOIN {owner} o ON o.seq = k.seq
 WHERE k.owner = '{owner}' AND k.space_id = :space_id ORDER BY k.seq LIMIT :batch
