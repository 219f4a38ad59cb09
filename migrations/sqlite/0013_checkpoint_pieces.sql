-- The learned state of a checkpoint is stored in pieces of bounded size, so that it may have any size, and checkpoints
-- share the pieces that are equal. Checkpoints are derived: those of older versions are dropped, and all matches are
-- folded again.
DROP TABLE derived_checkpoint;
CREATE TABLE derived_checkpoint (
    matches     INTEGER PRIMARY KEY CHECK (matches > 0), -- how many were folded
    last_match  INTEGER NOT NULL,                        -- the highest id among them
    ended_at    INTEGER NOT NULL,                        -- the last of them, in the order in which they are folded
    fingerprint BLOB NOT NULL,
    settings    TEXT NOT NULL,
    bytes       INTEGER NOT NULL,                        -- of its pieces together
    head        BLOB NOT NULL,                           -- what is not in pieces, with a version and a checksum
    pieces      BLOB NOT NULL                            -- the hashes of its pieces in order, 32 bytes each
) STRICT;

CREATE TABLE checkpoint_pieces (
    hash    BLOB PRIMARY KEY, -- the SHA-256 of the content
    content BLOB NOT NULL CHECK (length(content) <= 131072)
) STRICT;
