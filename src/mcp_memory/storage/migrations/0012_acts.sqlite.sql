-- Listing changes sums up whole acts, and an import is an act of 100,000 events: both indexes answer it alone.
DROP INDEX event_space;
DROP INDEX event_act;
CREATE INDEX event_space ON event (space_id, seq, act);
CREATE INDEX event_act ON event (space_id, act, name, seq, undone_at);
