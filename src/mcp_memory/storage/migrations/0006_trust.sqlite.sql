-- Set, with forgotten_at, when a memory was put away because it had faded: out of sight, until it is restored.
ALTER TABLE memory ADD COLUMN archived_at TIMESTAMPTZ;
-- A person said that it is right: it is never archived by time.
ALTER TABLE memory ADD COLUMN confirmed_at TIMESTAMPTZ;
-- Kept apart because of where it came from: found on request only.
ALTER TABLE memory ADD COLUMN quarantined_at TIMESTAMPTZ;
-- Who wrote it and by which way, as the server saw it.
ALTER TABLE memory ADD COLUMN provenance JSONB NOT NULL DEFAULT '{}';
CREATE INDEX memory_archived ON memory (space_id, archived_at) WHERE archived_at IS NOT NULL;
