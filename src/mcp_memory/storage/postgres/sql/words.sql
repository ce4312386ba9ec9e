-- matching --
-- Rows with any of the required terms, scored by all terms as FTS5 does (BM25). Only as many of the best as
-- are wanted are checked against the filter; rounding makes equal scores equal.
WITH hit AS MATERIALIZED (
    SELECT seq, {weights},
           {k1} * ({one_minus_b} + {b} * (token_count / CAST(:words_mean AS DOUBLE PRECISION))) AS length_part
      FROM {owner}_words WHERE lexemes @@ CAST(:words_any AS tsquery)
), counted AS (
    SELECT {counts} FROM hit
), rarity AS MATERIALIZED (
    SELECT {rarities} FROM counted
), scored AS (
    SELECT seq, {worth} AS score FROM hit CROSS JOIN rarity ORDER BY score DESC, seq
), best AS MATERIALIZED (
    SELECT s.seq, s.score
      FROM scored s CROSS JOIN LATERAL (SELECT 1 FROM {owner} o WHERE o.seq = s.seq AND {allowed}) passed
     ORDER BY s.score DESC, s.seq LIMIT :words_limit
)
SELECT seq, score FROM best ORDER BY round(CAST(score AS NUMERIC), 13) DESC, seq

-- remove_words --
DELETE FROM {owner}_words
 WHERE seq IN (SELECT CAST(seq AS BIGINT) FROM json_array_elements_text(:seqs) AS given (seq))
RETURNING space_id, token_count

-- add_to_words_total --
INSERT INTO words_total (owner, space_id, row_count, token_count)
VALUES (:owner, :space_id, :row_count, :token_count)
    ON CONFLICT (owner, space_id) DO UPDATE
   SET row_count = words_total.row_count + excluded.row_count,
       token_count = words_total.token_count + excluded.token_count

-- words_total --
SELECT row_count, token_count FROM words_total
 WHERE owner = :owner AND space_id = :space_id AND row_count > 0

-- common_words --
SELECT word, share FROM common_word
 WHERE owner = :owner AND space_id = :space_id
   AND word IN (SELECT word FROM json_array_elements_text(:terms) AS given (word))

-- spaces_to_sample --
-- Spaces that have grown or shrunk too much since their common words were counted.
SELECT owner, space_id, row_count FROM words_total
 WHERE greatest(row_count, sampled_count) >= :large
   AND NOT row_count BETWEEN sampled_count / :growth AND sampled_count * :growth

-- remove_common_words --
DELETE FROM common_word WHERE owner = :owner AND space_id = :space_id

-- sampled_words --
-- Sampled by a hash of the number: evenly numbered rows need not be evenly filled.
SELECT lexemes FROM {owner}_words WHERE space_id = {space_id} AND hashint8(seq) % {part} = 0

-- add_common_words --
INSERT INTO common_word (owner, space_id, word, share)
WITH sampled AS (SELECT count(*) AS rows FROM ({sample}) AS drawn)
SELECT :owner, :space_id, word, CAST(ndoc AS DOUBLE PRECISION) / rows
  FROM ts_stat(:sample) CROSS JOIN sampled
 WHERE ndoc >= :common * rows AND word <> :space_lexeme
    ON CONFLICT (owner, space_id, word) DO UPDATE SET share = excluded.share

-- mark_sampled --
UPDATE words_total SET sampled_count = row_count WHERE owner = :owner AND space_id = :space_id

-- owns_word_tables --
SELECT bool_and(pg_has_role(relowner, 'USAGE')) AS owned FROM pg_class
 WHERE oid IN (to_regclass('memory_words'), to_regclass('entity_words'), to_regclass('reflection_words'))

-- alter_word_index --
ALTER INDEX {owner}_words_lexemes {change}

-- flush_pending_words --
SELECT gin_clean_pending_list('{owner}_words_lexemes')
