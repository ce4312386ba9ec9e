-- Memories that rules took from conversations: they fade in days unless they prove useful.
ALTER TABLE memory ADD COLUMN captured_at TIMESTAMPTZ;
-- Where a memory holds: a project's remote or folder; NULL is everywhere.
ALTER TABLE memory ADD COLUMN project TEXT COLLATE "C";
CREATE INDEX memory_captured ON memory (space_id, captured_at) WHERE captured_at IS NOT NULL;

-- How far the transcript of a client's session was read, and what was injected into it.
CREATE TABLE session (
    space_id   BIGINT      NOT NULL REFERENCES space (seq),
    id         TEXT COLLATE "C" NOT NULL,
    client     TEXT COLLATE "C" NOT NULL,
    project    TEXT COLLATE "C" NOT NULL,
    state      JSONB       NOT NULL,
    started_at TIMESTAMPTZ NOT NULL,
    seen_at    TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (space_id, id)
);
