-- add_token --
INSERT INTO token (name, digest, spaces, rights, created_at, expires_at)
VALUES (:name, :digest, :spaces, :rights, :at, :expires_at)

-- tokens --
SELECT name, digest, spaces, rights, created_at, expires_at FROM token ORDER BY seq

-- token_by_digest --
SELECT name, digest, spaces, rights, created_at, expires_at FROM token WHERE digest = :digest

-- remove_token --
DELETE FROM token WHERE name = :name

-- answered_by_key --
SELECT request, status, body, at FROM answered WHERE space_id = :space_id AND key = :key

-- add_answered --
INSERT INTO answered (space_id, key, request, status, body, at)
VALUES (:space_id, :key, :request, :status, :body, :at)

-- put_answered --
INSERT INTO answered (space_id, key, request, status, body, at)
VALUES (:space_id, :key, :request, :status, :body, :at)
    ON CONFLICT (space_id, key) DO UPDATE
   SET request = excluded.request, status = excluded.status, body = excluded.body, at = excluded.at

-- remove_answered --
DELETE FROM answered WHERE space_id = :space_id AND key = :key

-- forget_answered --
DELETE FROM answered WHERE at < :before
