-- associations_touching_seqs --
SELECT seq FROM association
 WHERE space_id = :space_id AND (source_seq = :memory_seq OR target_seq = :memory_seq) ORDER BY seq

-- associations_touching --
SELECT o.seq, o.id, o.source_seq, o.target_seq, o.type, o.weight, o.created_at,
       s.id AS source_id, t.id AS target_id
  FROM association o JOIN memory s ON s.seq = o.source_seq JOIN memory t ON t.seq = o.target_seq
 WHERE s.forgotten_at IS NULL AND t.forgotten_at IS NULL
   AND (o.source_seq IN ({keys}) OR o.target_seq IN ({keys}))
 ORDER BY o.seq

-- association_between --
SELECT seq, weight FROM association
 WHERE space_id = :space_id AND source_seq = :source_seq AND target_seq = :target_seq AND type = :type
