-- The learned state of a checkpoint is stored in pieces of bounded size, so that it may have any size, and checkpoints
-- share the pieces that are equal. Checkpoints are derived: those of older versions are dropped, and all matches are
-- folded again.
DROP TABLE derived_checkpoint;
CREATE TABLE derived_checkpoint (
    matches     BIGINT PRIMARY KEY CHECK (matches > 0), -- how many were folded
    last_match  BIGINT NOT NULL,                        -- the highest id among them
    ended_at    BIGINT NOT NULL,                        -- the last of them, in the order in which they are folded
    fingerprint BYTEA NOT NULL,
    settings    TEXT NOT NULL,
    bytes       BIGINT NOT NULL,                        -- of its pieces together
    head        BYTEA NOT NULL,                         -- what is not in pieces, with a version and a checksum
    pieces      BYTEA NOT NULL                          -- the hashes of its pieces in order, 32 bytes each
);

CREATE TABLE checkpoint_pieces (
    hash    BYTEA PRIMARY KEY, -- the SHA-256 of the content
    content BYTEA NOT NULL CHECK (length(content) <= 131072)
);
-- They hardly become smaller, and are written often.
ALTER TABLE checkpoint_pieces ALTER COLUMN content SET STORAGE EXTERNAL;
