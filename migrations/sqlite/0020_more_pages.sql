-- What the pages on queues and on rating systems read.

-- What came of the tickets and the matches of a queue in each hour, the last 31 days. Unlike tickets, which are
-- removed after a day, these contain no player.
CREATE TABLE queue_hours (
    queue      TEXT    NOT NULL,
    hour       INTEGER NOT NULL,    -- hours since 1970 UTC
    matched    INTEGER NOT NULL,    -- tickets that were matched in this hour
    cancelled  INTEGER NOT NULL,
    expired    INTEGER NOT NULL,
    waited_ms  INTEGER NOT NULL,    -- how long the matched tickets waited for their matches, together
    longest_ms INTEGER NOT NULL,    -- how long one of them waited at most
    matches    INTEGER NOT NULL,    -- matches that were formed, and accepted where that is asked
    penalty    REAL    NOT NULL,    -- the sum of their penalties
    PRIMARY KEY (queue, hour)
) STRICT, WITHOUT ROWID;

CREATE INDEX formed_matches_by_queue ON formed_matches (queue, match_id);

-- The last comparison of rating systems.
CREATE TABLE systems_report (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    settings    TEXT    NOT NULL,   -- the configuration that it was made with
    matches     INTEGER NOT NULL,   -- how many matches there were
    computed_at INTEGER NOT NULL,
    report      TEXT    NOT NULL    -- as JSON
) STRICT;
