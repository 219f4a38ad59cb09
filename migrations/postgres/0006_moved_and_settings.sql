-- Has a row once `evenkeel migrate-store` has moved the content of this database to another one. Nothing opens it then.
CREATE TABLE moved (
    id    BIGINT PRIMARY KEY CHECK (id = 1),
    place TEXT COLLATE "C" NOT NULL    -- the other database: a path, or an address without its password
);

-- The settings of the last holder of each lease: daemons with others leave the lease alone for a while. SQLite has no
-- such table.
CREATE TABLE lease_settings (
    name          TEXT COLLATE "C" PRIMARY KEY,
    settings      TEXT COLLATE "C" NOT NULL, -- hashes of the values by key, as JSON
    given_back_at BIGINT                     -- by now_millis(); NULL while it is held, and if it has ended by itself
);
