-- add_page_session --
INSERT INTO page_session (digest, kind, credential, expires_at)
VALUES (:digest, :kind, :credential, :expires_at)

-- page_session_by_digest --
SELECT digest, kind, credential, expires_at FROM page_session
 WHERE digest = :digest AND kind = :kind AND expires_at > :at

-- remove_page_session --
DELETE FROM page_session WHERE digest = :digest

-- remove_expired_page_sessions --
DELETE FROM page_session WHERE expires_at <= :at
