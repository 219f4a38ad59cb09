-- The queue: tickets, and the matches that were formed of them. Times are milliseconds since 1970 UTC.
-- A ticket in a final state (matched, cancelled, expired) is removed a day after it got there, and a
-- match with its last ticket.

CREATE TABLE tickets (
    number       INTEGER PRIMARY KEY,  -- the order in which tickets were submitted
    owner        TEXT    NOT NULL,     -- the name that the client gave in HELLO
    ticket       TEXT    NOT NULL,     -- the client's own id
    queue        TEXT    NOT NULL,
    players      TEXT    NOT NULL,     -- a JSON array of identities
    content      TEXT    NOT NULL,     -- what was stated, as JSON
    submitted_at INTEGER NOT NULL,
    state        TEXT    NOT NULL CHECK (state IN ('queued', 'proposed', 'matched', 'cancelled', 'expired')),
    match_id     INTEGER CHECK ((match_id IS NOT NULL) = (state IN ('proposed', 'matched'))),
    reason       TEXT    NOT NULL,     -- why it has this state
    changed_at   INTEGER NOT NULL,
    told         INTEGER NOT NULL CHECK (told IN (0, 1)),  -- whether the client was sent this state
    UNIQUE (owner, ticket)
) STRICT;

-- Ids come from the sequence of `matches`, so that one id never means two matches.
CREATE TABLE formed_matches (
    match_id    INTEGER PRIMARY KEY,
    queue       TEXT    NOT NULL,
    size        INTEGER NOT NULL,      -- players that each team should have
    mode        TEXT,
    map         TEXT,
    penalty     REAL    NOT NULL,
    chance      REAL CHECK (chance BETWEEN 0 AND 1),  -- predicted, that team 0 wins
    seed        TEXT    NOT NULL,
    pool        TEXT    NOT NULL,      -- the tickets of the round, as in '3-7 9'; empty if too many
    searched_at INTEGER NOT NULL,      -- the time from which the waits of these tickets count
    formed_at   INTEGER NOT NULL,
    open_until  INTEGER                -- until when players can accept it; NULL once it is final
) STRICT;

CREATE TABLE formed_seats (
    match_id INTEGER NOT NULL REFERENCES formed_matches (match_id) ON DELETE CASCADE,
    seat     INTEGER NOT NULL,
    team     INTEGER NOT NULL,         -- counted from 0
    ticket   INTEGER NOT NULL,         -- number of the ticket
    player   TEXT    NOT NULL,
    accepted INTEGER NOT NULL CHECK (accepted IN (0, 1)),
    PRIMARY KEY (match_id, seat)
) STRICT, WITHOUT ROWID;
