-- The words of small spaces, which share this table, separated by spaces. A space that has grown gets a
-- full-text index of its own.
CREATE TABLE shared_words (
  owner TEXT NOT NULL,
  space_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  body TEXT NOT NULL,
  extra TEXT NOT NULL,
  length INTEGER NOT NULL,
  PRIMARY KEY (owner, space_id, seq)
) WITHOUT ROWID;
