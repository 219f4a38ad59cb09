-- Pick-up matches over HTTP: people without a game server are divided into teams, play, and say who has won.
CREATE TABLE pickups (
    client     TEXT COLLATE "C" NOT NULL,
    pickup     TEXT COLLATE "C" NOT NULL,     -- the client's own name of it
    asked      BYTEA NOT NULL,     -- a hash of what was asked
    channel    TEXT COLLATE "C" NOT NULL,     -- where, as the client names it
    stage      TEXT COLLATE "C" NOT NULL CHECK (stage IN ('picked', 'playing', 'recorded', 'void')),
    content    TEXT COLLATE "C" NOT NULL,     -- teams, statements and result, as JSON
    made_at    BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (client, pickup)
);
CREATE INDEX pickups_by_time ON pickups (client, made_at);

-- Identities of which somebody says that they are those of a player who has played. Once that is confirmed, they are
-- in merged_players.
CREATE TABLE links (
    player       TEXT COLLATE "C" PRIMARY KEY,  -- the identity
    into_player  TEXT COLLATE "C" NOT NULL,     -- the identity of the player
    client       TEXT COLLATE "C" NOT NULL,     -- which has asked
    asked_at     BIGINT NOT NULL,
    confirmed_by TEXT COLLATE "C",              -- the organiser who has confirmed it, as the client names them
    confirmed_at BIGINT
);
