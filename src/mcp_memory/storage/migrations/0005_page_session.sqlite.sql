-- People who are logged in on the page, and one-time codes that log somebody in. `credential` is the digest
-- of the token that was shown; empty for somebody who can open the database anyway.
CREATE TABLE page_session (
    digest     TEXT        NOT NULL PRIMARY KEY,
    kind       TEXT        NOT NULL CHECK (kind IN ('code', 'session')),
    credential TEXT        NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
) WITHOUT ROWID;
