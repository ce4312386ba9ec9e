-- The digits of an id, which the other engine stores as bytes.
CREATE FUNCTION digits(id TEXT) RETURNS TEXT LANGUAGE SQL IMMUTABLE PARALLEL SAFE RETURN replace(id, '-', '');
