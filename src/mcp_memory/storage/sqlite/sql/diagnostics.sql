-- table_exists --
SELECT 1 FROM sqlite_schema WHERE name = :name

-- all_spaces --
SELECT seq FROM space ORDER BY seq

-- rows_to_index --
SELECT seq FROM {owner} WHERE space_id = :space_id {living}

-- indexed_rows --
-- FTS5 keeps the length of each indexed row in a table of its own.
SELECT id FROM {index}_docsize

-- triggers --
SELECT name FROM sqlite_schema WHERE type = 'trigger' ORDER BY name

-- schema_objects --
-- Made by migrations: not those of SQLite itself, and not the full-text indexes, which come and go.
SELECT name, sql FROM sqlite_schema
 WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%' AND name NOT GLOB '*_words_[0-9]*'
   AND name NOT GLOB '*_trigrams_[0-9]*'

-- contents --
SELECT seq, id, content, content_hash FROM memory

-- negative_counts --
SELECT count(*) FROM memory WHERE access_count < 0 OR version < 1

-- repair_counts --
UPDATE memory SET access_count = max(access_count, 0), version = max(version, 1)
 WHERE access_count < 0 OR version < 1

-- words_and_rows --
SELECT w.body AS kept_body, w.extra AS kept_extra, o.* FROM shared_words w JOIN {owner} o ON o.seq = w.seq
 WHERE w.owner = :owner

-- misshapen_vectors --
SELECT v.id FROM vector v JOIN embedding_model m ON m.seq = v.model_id
 WHERE length(v.embedding) NOT IN (m.dimensions, 4 * m.dimensions)

-- stray_vectors --
SELECT v.id FROM vector v
 WHERE v.owner = '{owner}' AND NOT EXISTS (SELECT 1 FROM {owner} o WHERE o.seq = v.seq AND {alive})

-- rows_without_vector --
SELECT o.seq FROM {owner} o
 WHERE {alive}
   AND NOT EXISTS (SELECT 1 FROM pending p WHERE p.owner = '{owner}' AND p.seq = o.seq)
   AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.owner = '{owner}' AND v.seq = o.seq)

-- wrong_sketches --
-- Segments whose size differs from their count: each entry has an id of eight bytes and one bit a dimension.
SELECT k.model_id, k.owner, k.space_id FROM vector_sketch k
  JOIN embedding_model m ON m.seq = k.model_id
  LEFT JOIN (SELECT model_id, owner, space_id, sum(length(ids)) / 8.0 AS ids, sum(length(codes)) AS codes
               FROM vector_segment GROUP BY model_id, owner, space_id) g
    ON g.model_id = k.model_id AND g.owner = k.owner AND g.space_id = k.space_id
 WHERE coalesce(g.ids, 0) <> k.entry_count OR coalesce(g.codes, 0) <> k.entry_count * ((m.dimensions + 7) / 8)

-- recover_spaces --
INSERT INTO space (seq, name, created_at)
SELECT DISTINCT t.space_id, 'recovered-' || t.space_id, 0 FROM {table} t
 WHERE NOT EXISTS (SELECT 1 FROM space s WHERE s.seq = t.space_id)

-- remove_stray_tags --
DELETE FROM memory_tag WHERE NOT EXISTS (SELECT 1 FROM memory m WHERE m.seq = memory_tag.memory_seq)

-- quarantine_changed --
UPDATE memory SET content_hash = :digest, quarantined_at = coalesce(quarantined_at, updated_at) WHERE seq = :seq

-- rebuild_tags --
INSERT OR IGNORE INTO memory_tag (space_id, tag, memory_seq)
SELECT o.space_id, t.value, o.seq FROM memory o JOIN json_each(o.tags) t ON t.type = 'text'
 WHERE o.forgotten_at IS NULL

-- remove_misshapen_vectors --
DELETE FROM vector WHERE id IN (
  SELECT v.id FROM vector v JOIN embedding_model m ON m.seq = v.model_id
   WHERE length(v.embedding) NOT IN (m.dimensions, 4 * m.dimensions))

-- remove_stray_vectors --
DELETE FROM vector
 WHERE owner = '{owner}' AND NOT EXISTS (SELECT 1 FROM {owner} o WHERE o.seq = vector.seq AND {alive})

-- remove_stray_pending --
DELETE FROM pending
 WHERE owner = '{owner}' AND NOT EXISTS (SELECT 1 FROM {owner} o WHERE o.seq = pending.seq AND {alive})

-- ask_for_vectors --
-- The stamp is beyond that of any earlier state of the text.
INSERT INTO pending (owner, seq, space_id, stamp)
SELECT '{owner}', o.seq, o.space_id, (SELECT coalesce(max(e.seq), 0) + 2 FROM event e) FROM {owner} o
 WHERE {alive}
   AND NOT EXISTS (SELECT 1 FROM pending p WHERE p.owner = '{owner}' AND p.seq = o.seq)
   AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.owner = '{owner}' AND v.seq = o.seq)

-- indexes_with_sql --
SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL

-- forget_indexes --
DELETE FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL

-- text_of_memory --
SELECT content, origin FROM memory WHERE seq = :seq

-- given_numbers --
SELECT name, seq FROM sqlite_sequence

-- indexed_tags --
SELECT memory_seq, tag FROM memory_tag

-- tags_of_memories --
SELECT seq, tags FROM memory WHERE forgotten_at IS NULL

-- remove_tags --
DELETE FROM memory_tag

-- quarantine_memory --
UPDATE memory SET quarantined_at = coalesce(quarantined_at, created_at) WHERE seq = :seq

-- declared_columns --
SELECT name, type FROM pragma_table_info(:table)

-- values_to_check --
SELECT {columns} FROM {table}

-- texts_among_numbers --
SELECT {columns} FROM {table} WHERE typeof({column}) IN ('text', 'blob')

-- remove_unreadable_row --
DELETE FROM {table} WHERE {where}

-- replace_unreadable_value --
UPDATE {table} SET {column} = :value WHERE {where}

-- highest_number --
SELECT max(seq) FROM {table}

-- remove_by_rowid --
DELETE FROM {table} WHERE rowid = :rowid

-- row_to_index --
SELECT * FROM {owner} WHERE seq = :seq
