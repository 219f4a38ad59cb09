-- Derived: the learned state of the rating systems as of one match, so that a restart folds only what
-- is newer. The bytes carry a version and a checksum of their own; a program that cannot read them folds
-- all matches again.

CREATE TABLE derived_checkpoint (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    state BLOB NOT NULL
) STRICT;
