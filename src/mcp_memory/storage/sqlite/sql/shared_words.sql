-- put_shared_words --
INSERT OR REPLACE INTO shared_words (owner, space_id, seq, body, extra, length)
VALUES (:owner, :space_id, :seq, :body, :extra, :length)

-- remove_shared_words --
DELETE FROM shared_words WHERE owner = :owner AND space_id = :space_id AND seq = :seq

-- shared_row_count --
SELECT count(*) AS count FROM shared_words WHERE owner = :owner AND space_id = :space_id

-- shared_rows --
SELECT seq, body, extra, length FROM shared_words WHERE owner = :owner AND space_id = :space_id

-- allowed_rows --
SELECT o.seq FROM json_each(:words_found) f CROSS JOIN {owner} o ON o.seq = f.value WHERE {allowed}

-- move_to_own_index --
INSERT INTO {index} (rowid, body, extra)
SELECT seq, body, extra FROM shared_words WHERE owner = :owner AND space_id = :space_id

-- remove_shared_space --
DELETE FROM shared_words WHERE owner = :owner AND space_id = :space_id

-- own_word_indexes --
-- Spaces with an index of their own.
SELECT CAST(substr(name, length('{owner}_words_') + 1) AS INTEGER) AS space_id FROM sqlite_schema
 WHERE type = 'table' AND name GLOB '{owner}_words_[0-9]*' AND sql LIKE 'CREATE VIRTUAL TABLE%fts5%'

-- create_term_view --
CREATE VIRTUAL TABLE temp.indexed_terms USING fts5vocab (main, {index}, instance)

-- drop_term_view --
DROP TABLE temp.indexed_terms

-- move_to_shared --
INSERT INTO shared_words (owner, space_id, seq, body, extra, length)
SELECT '{owner}', :space_id, d.id,
       coalesce(group_concat(t.term, ' ') FILTER (WHERE t.col = 'body'), ''),
       coalesce(group_concat(t.term, ' ') FILTER (WHERE t.col = 'extra'), ''),
       count(t.term)
  FROM {index}_docsize d LEFT JOIN (SELECT doc, col, term FROM temp.indexed_terms) t ON t.doc = d.id
 GROUP BY d.id

-- drop_word_index --
DROP TABLE {index}
