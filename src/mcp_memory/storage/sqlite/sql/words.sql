-- create_word_index --
CREATE VIRTUAL TABLE IF NOT EXISTS {index}
 USING fts5 (body, extra, content = '', contentless_delete = 1, tokenize = 'ascii')

-- remove_words --
DELETE FROM {index} WHERE rowid = :seq

-- score_words --
-- bm25 is negative in FTS5: lower is better.
SELECT rowid AS seq, -bm25({index}, 1, {extra_weight}) AS score FROM {index} WHERE {index} MATCH :any

-- score_words_and_others --
-- FTS5 has no optional terms. So it matches once without the other terms, and once with at least one of
-- them; a row found both ways scores higher the second time.
SELECT seq, max(score) AS score
  FROM (SELECT rowid AS seq, -bm25({index}, 1, {extra_weight}) AS score FROM {index} WHERE {index} MATCH :any
        UNION ALL
        SELECT rowid AS seq, -bm25({index}, 1, {extra_weight}) AS score FROM {index}
         WHERE {index} MATCH :any_with_others)
 GROUP BY seq

-- matching --
-- The best matches, and whether each passes the filter: most filters pass most rows, and looking up every
-- row with a common word costs more than ranking it.
WITH best AS MATERIALIZED ({scored} ORDER BY score DESC, seq LIMIT :reach)
SELECT b.seq, b.score, CASE WHEN {allowed} THEN 1 ELSE 0 END AS passes
  FROM best b CROSS JOIN {owner} o WHERE o.seq = b.seq ORDER BY b.score DESC, b.seq

-- matching_all --
SELECT s.seq, s.score FROM ({scored}) s JOIN {owner} o ON o.seq = s.seq
 WHERE {allowed} ORDER BY s.score DESC, s.seq LIMIT :limit

-- word_index_exists --
SELECT 1 FROM pragma_table_info(:index) LIMIT 1

-- word_index_has_row --
-- FTS5 keeps the length of each indexed row in a table of its own.
SELECT 1 FROM {index}_docsize LIMIT 1 OFFSET :offset

-- count_matches --
SELECT count(*) AS count FROM (SELECT 1 FROM {index} WHERE {index} MATCH :match LIMIT :most)
