-- What only one daemon may do at a time: each lease with its holder. A write of the holder checks the epoch,
-- which grows with each new holder. On SQLite, ends_at is 0: the holder has a lock on a file beside the database.
CREATE TABLE leases (
    name    TEXT    PRIMARY KEY,       -- such as 'fold'
    holder  TEXT    NOT NULL,          -- the daemon that took it last
    epoch   INTEGER NOT NULL,
    ends_at INTEGER NOT NULL           -- in milliseconds since 1970 by the clock of the database; 0: free
) STRICT;

-- Has a row while `evenkeel migrate-store` copies another database into this one. Nothing else opens it then.
CREATE TABLE unfinished_transfer (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    source   TEXT NOT NULL,            -- a hash of the other database's handle_key
    next     TEXT,                     -- the table that is being copied; NULL once all are
    last_key TEXT                      -- the key of its last row that was copied, as JSON
) STRICT;

-- The parts of the queues, each of which one daemon runs at a time. The numbers of their tickets are
-- (slot << 40) + 1 and so on.
CREATE TABLE partitions (
    name TEXT    PRIMARY KEY,          -- as the configuration names it
    slot INTEGER NOT NULL UNIQUE
) STRICT;
INSERT INTO partitions (name, slot) VALUES ('main', 0);

ALTER TABLE formed_matches ADD COLUMN partition INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hosted_matches ADD COLUMN partition INTEGER NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN partition INTEGER NOT NULL DEFAULT 0;
