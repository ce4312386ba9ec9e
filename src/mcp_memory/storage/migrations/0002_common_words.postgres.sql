-- Words that many rows of a large space hold, and how many: searches begin with the others, and need not
-- read all these rows only to weigh them. Counted from a sample, again when the space has grown.
CREATE TABLE common_word (
    owner    TEXT COLLATE "C"  NOT NULL,
    space_id BIGINT            NOT NULL,
    word     TEXT COLLATE "C"  NOT NULL,
    share    DOUBLE PRECISION  NOT NULL CHECK (share BETWEEN 0 AND 1),
    PRIMARY KEY (owner, space_id, word)
);
-- How many rows there were when that was done.
ALTER TABLE words_total ADD COLUMN sampled_count BIGINT NOT NULL DEFAULT 0;

-- One search for a word shall tell how much it weighs in a row: a lexeme has two positions for each time
-- it stands in the body, and one for each time elsewhere. Before, those of the body had the label A.
CREATE FUNCTION weighed(given TSVECTOR) RETURNS TSVECTOR LANGUAGE sql IMMUTABLE
    RETURN (SELECT CAST(string_agg(
                       '''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || ''''
                       || COALESCE(':' || (SELECT string_agg(CAST(place AS TEXT), ',' ORDER BY place)
                                             FROM generate_series(1, LEAST(255, COALESCE(cardinality(positions)
                                                  + cardinality(array_positions(weights, 'A')), 0))) AS place), ''),
                       ' ') AS TSVECTOR)
              FROM unnest(given));
UPDATE memory_words SET lexemes = weighed(lexemes);
UPDATE entity_words SET lexemes = weighed(lexemes);
UPDATE reflection_words SET lexemes = weighed(lexemes);
DROP FUNCTION weighed(TSVECTOR);

-- How many positions a lexeme has, from the rank of a search for it alone: ts_rank sums 1/1 + 1/4 + 1/9 +
-- … up to 1/n², divides by the limit of that, 1.6449…, and takes a tenth; what is missing to the limit is
-- 1 / (n + 0.5) but for less than can be seen after rounding.
CREATE OR REPLACE FUNCTION occurrences(rank REAL) RETURNS DOUBLE PRECISION LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN round(1 / (1.6449340668482264 * (1 - 10 * CAST(rank AS DOUBLE PRECISION))) - 0.5);
