-- Several checkpoints instead of one: a match that comes late is folded from the one before it. The bytes carry a
-- version and a checksum of their own; a program that cannot read them uses an older one, or folds all matches again.

DROP TABLE derived_checkpoint;
CREATE TABLE derived_checkpoint (
    matches     BIGINT PRIMARY KEY CHECK (matches > 0), -- how many were folded
    last_match  BIGINT NOT NULL,                        -- the highest id among them
    ended_at    BIGINT NOT NULL,                        -- the last of them, in the order in which they are folded
    fingerprint BYTEA NOT NULL,
    settings    TEXT NOT NULL,
    state       BYTEA NOT NULL
);
