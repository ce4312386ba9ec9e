-- Who may come in over HTTP. Only a digest of the secret is kept.
CREATE TABLE token (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    name         TEXT        NOT NULL UNIQUE,
    digest       TEXT        NOT NULL UNIQUE,
    spaces       JSONB       NOT NULL,
    rights       TEXT        NOT NULL CHECK (rights IN ('read', 'write')),
    created_at   TIMESTAMPTZ NOT NULL
);

-- What was answered to a create that carried an idempotency key, so that a repeated one is answered the same.
CREATE TABLE answered (
    space_id INTEGER     NOT NULL,
    key      TEXT        NOT NULL,
    request  TEXT        NOT NULL,
    status   INTEGER     NOT NULL,
    body     JSONB       NOT NULL,
    at       TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (space_id, key)
) WITHOUT ROWID;
CREATE INDEX answered_at ON answered (at);
