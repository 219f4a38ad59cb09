-- Pick-up matches over HTTP: people without a game server are divided into teams, play, and say who has won.
CREATE TABLE pickups (
    client     TEXT NOT NULL,
    pickup     TEXT NOT NULL,     -- the client's own name of it
    asked      BLOB NOT NULL,     -- a hash of what was asked
    channel    TEXT NOT NULL,     -- where, as the client names it
    stage      TEXT NOT NULL CHECK (stage IN ('picked', 'playing', 'recorded', 'void')),
    content    TEXT NOT NULL,     -- teams, statements and result, as JSON
    made_at    INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (client, pickup)
) STRICT, WITHOUT ROWID;
CREATE INDEX pickups_by_time ON pickups (client, made_at);

-- Identities of which somebody says that they are those of a player who has played. Once that is confirmed, they are
-- in merged_players.
CREATE TABLE links (
    player       TEXT PRIMARY KEY,  -- the identity
    into_player  TEXT NOT NULL,     -- the identity of the player
    client       TEXT NOT NULL,     -- which has asked
    asked_at     INTEGER NOT NULL,
    confirmed_by TEXT,              -- the organiser who has confirmed it, as the client names them
    confirmed_at INTEGER
) STRICT, WITHOUT ROWID;
