-- space_by_name --
SELECT seq, name, created_at FROM space WHERE name = :name

-- spaces --
SELECT seq, name, created_at FROM space ORDER BY seq

-- add_space --
INSERT INTO space (name, created_at) VALUES (:name, :at) ON CONFLICT (name) DO NOTHING

-- setting_by_key --
SELECT value FROM setting WHERE key = :key

-- put_setting --
INSERT INTO setting (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value

-- remove_setting --
DELETE FROM setting WHERE key = :key

-- any_space --
SELECT seq FROM space LIMIT 1
