-- The digest of a memory's content as 16 bytes instead of 64 characters, in its row and in the index. One that is no
-- digest stays as it is, for the diagnosis to find. Times are eight bytes here already.
ALTER TABLE memory ALTER COLUMN content_hash TYPE BYTEA USING
  CASE WHEN content_hash ~ '^[0-9a-f]{64}$' THEN substring(decode(content_hash, 'hex') FROM 1 FOR 16)
       ELSE convert_to(content_hash, 'UTF8') END;
-- An earlier program that still runs would write the 64 characters: this refuses its changes.
ALTER TABLE memory ADD CONSTRAINT memory_hash_is_short CHECK (octet_length(content_hash) <> 64) NOT VALID;
