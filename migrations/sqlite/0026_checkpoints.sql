-- Several checkpoints instead of one: a match that comes late is folded from the one before it. The bytes carry a
-- version and a checksum of their own; a program that cannot read them uses an older one, or folds all matches again.

DROP TABLE derived_checkpoint;
CREATE TABLE derived_checkpoint (
    matches     INTEGER PRIMARY KEY CHECK (matches > 0), -- how many were folded
    last_match  INTEGER NOT NULL,                        -- the highest id among them
    ended_at    INTEGER NOT NULL,                        -- the last of them, in the order in which they are folded
    fingerprint BLOB NOT NULL,
    settings    TEXT NOT NULL,
    state       BLOB NOT NULL
) STRICT;
