-- People who are logged in on the page, and one-time codes that log somebody in. `credential` is the digest
-- of the token that was shown; empty for somebody who can open the database anyway.
CREATE TABLE page_session (
    digest     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    kind       TEXT COLLATE "C" NOT NULL CHECK (kind IN ('code', 'session')),
    credential TEXT COLLATE "C" NOT NULL,
    expires_at TIMESTAMPTZ      NOT NULL
);
