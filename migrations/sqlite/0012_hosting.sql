-- Hosted matches: instances, and the matches that they host. Times are milliseconds since 1970 UTC.

-- Tickets have two more states. SQLite cannot change a CHECK, so the table is written again.
CREATE TABLE tickets_new (
    number       INTEGER PRIMARY KEY,  -- the order in which tickets were submitted
    owner        TEXT    NOT NULL,     -- the name that the client gave in HELLO
    ticket       TEXT    NOT NULL,     -- the client's own id
    queue        TEXT    NOT NULL,
    players      TEXT    NOT NULL,     -- a JSON array of identities
    content      TEXT    NOT NULL,     -- what was stated, as JSON
    submitted_at INTEGER NOT NULL,
    state        TEXT    NOT NULL CHECK (state IN ('queued', 'proposed', 'hosted', 'called', 'matched',
                                                   'cancelled', 'expired')),
    match_id     INTEGER CHECK ((match_id IS NOT NULL) = (state IN ('proposed', 'hosted', 'called', 'matched'))),
    reason       TEXT    NOT NULL,     -- why it has this state
    changed_at   INTEGER NOT NULL,
    told         INTEGER NOT NULL CHECK (told IN (0, 1))  -- whether the client was sent this state
) STRICT;
INSERT INTO tickets_new SELECT * FROM tickets;
DROP TABLE tickets;
ALTER TABLE tickets_new RENAME TO tickets;
-- The first digits of a number are those of its partition, whose tickets one daemon knows.
CREATE UNIQUE INDEX tickets_once ON tickets (owner, ticket, number >> 40);

-- A match that needs an instance, until a day after it is over or has failed. It has the id of the
-- formed match, which END gives to the stored match, too.
CREATE TABLE hosted_matches (
    match_id     INTEGER PRIMARY KEY,
    queue        TEXT    NOT NULL,
    state        TEXT    NOT NULL CHECK (state IN ('reserved', 'opening', 'ready', 'joining', 'playing',
                                                   'over', 'failed')),
    since        INTEGER NOT NULL,     -- when it got this state
    wait_until   INTEGER NOT NULL,     -- until when it may wait for an instance
    instance     TEXT,
    address      TEXT,                 -- where its players connect
    game         INTEGER,              -- the number of the game in its session
    tries        INTEGER NOT NULL,     -- how many instances were asked
    why          TEXT    NOT NULL,     -- why it left its last instance, or has failed
    passes       TEXT    NOT NULL,     -- a JSON object, player to pass; empty once they are void
    passes_until INTEGER,
    parted       INTEGER               -- since when no connection has its game, in play
) STRICT;
CREATE INDEX hosted_matches_by_game ON hosted_matches (game);

-- The instances that are connected, or that were until a moment ago.
CREATE TABLE instances (
    name     TEXT    PRIMARY KEY,
    address  TEXT    NOT NULL,
    region   TEXT,
    slots    INTEGER NOT NULL,
    modes    TEXT    NOT NULL,         -- a JSON array; empty for all
    maps     TEXT    NOT NULL,         -- a JSON array; empty for all
    load     REAL    NOT NULL,         -- as it states it, 0 to 1
    used     INTEGER NOT NULL,         -- slots in use
    away     INTEGER,                  -- when its connection was lost
    heard_at INTEGER NOT NULL,         -- when it joined, or its load or its matches last changed
    draining INTEGER NOT NULL DEFAULT 0 CHECK (draining IN (0, 1))  -- set by an operator
) STRICT;

-- Each hosted match with its players, how long its oldest ticket waited, and its result.
CREATE VIEW hosted_report AS
SELECT h.match_id, h.queue, h.state, h.why, h.instance, h.address, h.tries, h.since,
       f.mode, f.map, f.size, f.chance, f.penalty, f.formed_at,
       (SELECT count(*) FROM formed_seats s WHERE s.match_id = h.match_id) AS players,
       (SELECT max(f.formed_at - t.submitted_at) FROM formed_seats s JOIN tickets t ON t.number = s.ticket
         WHERE s.match_id = h.match_id) AS longest_wait_ms,
       m.outcome, m.winner, m.ended_at
FROM hosted_matches h
LEFT JOIN formed_matches f ON f.match_id = h.match_id
LEFT JOIN matches m ON m.id = h.match_id;

-- Each queue of the last day: how many tickets are in each state, and how long they have waited.
CREATE VIEW queue_report AS
SELECT queue,
       sum(state = 'queued') AS queued,
       sum(state = 'proposed') AS proposed,
       sum(state IN ('hosted', 'called')) AS hosted,
       sum(state = 'matched') AS matched,
       sum(state = 'cancelled') AS cancelled,
       sum(state = 'expired') AS expired,
       sum(CASE WHEN state IN ('queued', 'proposed', 'hosted', 'called')
                THEN json_array_length(players) ELSE 0 END) AS players_waiting,
       min(CASE WHEN state = 'queued' THEN submitted_at END) AS oldest_submitted_at
FROM tickets GROUP BY queue;
