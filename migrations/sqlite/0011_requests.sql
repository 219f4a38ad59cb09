-- The daemons of a database work together by rows. What clients and instances of one daemon ask for, and another one
-- decides, is a request. The daemon that holds the lease of the partition writes the answer in the transaction of what
-- it has decided; the daemon that asked removes the row.

-- The daemons that are alive.
CREATE TABLE daemons (
    name    TEXT PRIMARY KEY,
    ends_at INTEGER NOT NULL     -- by the clock of the machine, unless the daemon gives another sign of life
) STRICT, WITHOUT ROWID;

CREATE TABLE requests (
    number    INTEGER PRIMARY KEY, -- the order in which a daemon has asked
    partition TEXT NOT NULL,       -- the name of the partition whose daemon decides
    daemon    TEXT NOT NULL,       -- which asks
    key       INTEGER NOT NULL,    -- its own number of the request
    body      TEXT NOT NULL,       -- JSON
    answer    TEXT,                -- JSON; NULL until it is decided
    UNIQUE (daemon, key)
) STRICT;
CREATE INDEX requests_open ON requests (partition, number) WHERE answer IS NULL;
CREATE INDEX requests_answered ON requests (daemon, number) WHERE answer IS NOT NULL;

-- What instances are to be sent that are connected to another daemon than the one that decides about their matches.
CREATE TABLE host_notices (
    number INTEGER PRIMARY KEY,
    daemon TEXT NOT NULL,
    link   INTEGER NOT NULL,     -- that daemon's number of the connection
    body   TEXT NOT NULL         -- JSON
) STRICT;
CREATE INDEX host_notices_by_daemon ON host_notices (daemon, number);

-- How long the tickets of the last matches of a queue waited, as the daemon that runs it has published.
CREATE TABLE queue_waits (
    queue     TEXT PRIMARY KEY,
    median_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The tickets whose client was not sent the present state.
CREATE INDEX tickets_untold ON tickets (owner, number) WHERE NOT told;
