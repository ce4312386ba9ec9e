-- add_token --
INSERT INTO token (name, digest, spaces, rights, created_at) VALUES (:name, :digest, :spaces, :rights, :at)

-- tokens --
SELECT name, digest, spaces, rights, created_at FROM token ORDER BY seq

-- token_by_digest --
SELECT name, digest, spaces, rights, created_at FROM token WHERE digest = :digest

-- remove_token --
DELETE FROM token WHERE name = :name

-- answered_by_key --
SELECT request, status, body FROM answered WHERE space_id = :space_id AND key = :key

-- put_answered --
INSERT INTO answered (space_id, key, request, status, body, at)
VALUES (:space_id, :key, :request, :status, :body, :at)

-- forget_answered --
DELETE FROM answered WHERE at < :before
