-- All tables of Evenkeel on SQLite. migrations/postgres has the same for PostgreSQL; a test compares the columns.
--
-- Times of day are milliseconds since 1970 UTC, times in play milliseconds since the start of play.

-- The ground truth: finished matches. A match is one row with its record: a line of the interchange format, deflated
-- (src/store/packed.rs). The other columns repeat what lists and people look for.
CREATE TABLE matches (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    fingerprint BLOB    NOT NULL UNIQUE CHECK (length(fingerprint) = 16),
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER NOT NULL CHECK (ended_at >= started_at),
    untimed     INTEGER NOT NULL CHECK (untimed IN (0, 1)), -- its length is not known
    server      TEXT    NOT NULL,
    client      TEXT    NOT NULL,   -- which has brought it: a game server, a client over HTTP, 'ingest' or 'follow'; or ''
    map         TEXT    NOT NULL,
    game_type   TEXT    NOT NULL,   -- as the game names it
    mutators    TEXT    NOT NULL,   -- all of them, as the game names them, with spaces between them
    mode        TEXT    NOT NULL,   -- league, region or playlist; empty if there is none
    outcome     TEXT    NOT NULL CHECK (outcome IN ('won', 'draw', 'undecided', 'abandoned')),
    winner      INTEGER CHECK ((winner IS NOT NULL) = (outcome = 'won')), -- a team, counted from 0
    scores      TEXT,               -- of each team, as '3:1', or '-:-' if they are not known; NULL in a game without teams
    gap         REAL,               -- between the highest and the lowest score; NULL if they are not known
    humans      INTEGER NOT NULL,   -- how many took part
    bots        INTEGER NOT NULL,
    record      BLOB    NOT NULL,
    reported_at INTEGER,            -- when its client has recorded it over HTTP; NULL otherwise
    xid         INTEGER             -- NULL; on PostgreSQL, the transaction that wrote the row
) STRICT;
CREATE INDEX matches_in_order ON matches (ended_at, fingerprint);
CREATE INDEX matches_by_map ON matches (map, ended_at);
CREATE INDEX matches_by_server ON matches (server, ended_at);

-- Who was in which match.
CREATE TABLE match_players (
    match_id INTEGER NOT NULL,
    seat     INTEGER NOT NULL,      -- the place in the record, from 0
    kind     TEXT    NOT NULL CHECK (kind IN ('human', 'bot')),
    player   TEXT    NOT NULL CHECK (player <> ''),
    name     TEXT    NOT NULL,
    team     INTEGER,               -- the one that the player was on for longest; NULL without teams
    share    REAL    NOT NULL,      -- of the match that the player was there, 0 to 1
    points   REAL,
    kills    INTEGER NOT NULL,
    deaths   INTEGER NOT NULL,
    PRIMARY KEY (match_id, seat)
) STRICT, WITHOUT ROWID;
CREATE INDEX match_players_by_player ON match_players (player, kind);

-- How many matches there are: to count them takes long.
CREATE TABLE match_count (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    matches INTEGER NOT NULL
) STRICT;
INSERT INTO match_count (id, matches) VALUES (1, 0);
CREATE TRIGGER match_counted AFTER INSERT ON matches BEGIN
    UPDATE match_count SET matches = matches + 1;
END;
CREATE TRIGGER match_deleted AFTER DELETE ON matches BEGIN
    UPDATE match_count SET matches = matches - 1;
END;

-- Matches whose logs contain them in two halves, or twice: the fingerprints of the others.
CREATE TABLE match_halves (
    fingerprint BLOB    NOT NULL PRIMARY KEY CHECK (length(fingerprint) = 16),
    match_id    INTEGER NOT NULL REFERENCES matches (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX match_halves_by_match ON match_halves (match_id);

-- Which archived log contains which match.
CREATE TABLE log_matches (
    log      BLOB    NOT NULL CHECK (length(log) = 16),
    match_id INTEGER NOT NULL REFERENCES matches (id) ON DELETE CASCADE,
    PRIMARY KEY (log, match_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX log_matches_by_match ON log_matches (match_id);

-- Which match a game of a game server has become.
CREATE TABLE match_games (
    game     INTEGER NOT NULL PRIMARY KEY,
    match_id INTEGER NOT NULL UNIQUE
) STRICT;

-- What was predicted of the teams of a match.
CREATE TABLE match_chances (
    match_id  INTEGER NOT NULL,
    step      INTEGER NOT NULL,     -- 0: as picked; 1: as started; then one for each change, in order
    cause     TEXT    NOT NULL CHECK (cause IN
                  ('picked', 'started', 'join', 'leave', 'place', 'move', 'auto-move', 'balance')),
    at_ms     INTEGER,              -- since the start of play; NULL as picked
    seat      INTEGER,              -- who changed; NULL for all, and for a player who is not in the record
    from_team INTEGER,              -- NULL for no team
    to_team   INTEGER,              -- NULL for no team
    chance    REAL CHECK (chance BETWEEN 0 AND 1), -- that team 0 wins; NULL if nothing was predicted
    chances   TEXT,                 -- with more than two teams: of each, as '0.5 v 0.3 v 0.2'
    humans    TEXT,                 -- on each team, as '7 v 6'; NULL if it is not known
    bots      TEXT,
    ruleset   TEXT,                 -- for which a queue has predicted; NULL otherwise
    PRIMARY KEY (match_id, step)
) STRICT, WITHOUT ROWID;
CREATE INDEX match_chances_picked ON match_chances (match_id) WHERE cause = 'picked';

-- Under which keys clients have reported matches over HTTP, and what they were answered.
CREATE TABLE receipts (
    client     TEXT NOT NULL,
    key        TEXT NOT NULL,
    body       BLOB NOT NULL,   -- a hash of what was sent under the key
    match_id   INTEGER NOT NULL,
    unrated    TEXT,            -- why the match was not rated, as the first answer stated it
    made_at    INTEGER NOT NULL,
    PRIMARY KEY (client, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX receipts_by_time ON receipts (made_at);

-- What an operator has said. Like the matches, it is never computed.
CREATE TABLE voided_fingerprints (
    fingerprint BLOB NOT NULL PRIMARY KEY CHECK (length(fingerprint) = 16)
) STRICT, WITHOUT ROWID;
CREATE VIEW voided_matches AS
SELECT m.id AS match_id
FROM voided_fingerprints v CROSS JOIN matches m ON m.fingerprint = v.fingerprint
UNION
SELECT h.match_id
FROM voided_fingerprints v CROSS JOIN match_halves h ON h.fingerprint = v.fingerprint;

CREATE TABLE merged_players (
    kind   TEXT NOT NULL CHECK (kind IN ('human', 'bot')),
    player TEXT NOT NULL CHECK (player <> ''),
    into_player TEXT NOT NULL CHECK (into_player <> '' AND into_player <> player),
    automatic INTEGER NOT NULL DEFAULT 0 CHECK (automatic IN (0, 1)), -- by the configuration, such as the tags of clans
    PRIMARY KEY (kind, player)
) STRICT, WITHOUT ROWID;

CREATE TABLE pinned_weights (
    kind   TEXT NOT NULL CHECK (kind IN ('human', 'bot')),
    player TEXT NOT NULL CHECK (player <> ''),
    weight REAL NOT NULL CHECK (weight BETWEEN 0 AND 100),
    PRIMARY KEY (kind, player)
) STRICT, WITHOUT ROWID;

CREATE TABLE start_weights (
    kind      TEXT    NOT NULL CHECK (kind IN ('human', 'bot')),
    player    TEXT    NOT NULL CHECK (player <> ''),
    weight    REAL    NOT NULL CHECK (weight BETWEEN 0 AND 100),
    uncertain INTEGER NOT NULL CHECK (uncertain IN (0, 1)),
    PRIMARY KEY (kind, player)
) STRICT, WITHOUT ROWID;

-- Players whom an operator keeps off the pages.
CREATE TABLE hidden_players (
    kind   TEXT NOT NULL CHECK (kind IN ('human', 'bot')),
    player TEXT NOT NULL CHECK (player <> ''),
    PRIMARY KEY (kind, player)
) STRICT, WITHOUT ROWID;

-- Players who were forgotten in the last two days: games that were running then are recorded without them.
CREATE TABLE forgotten_lately (
    handle  TEXT    NOT NULL PRIMARY KEY, -- a keyed hash of kind and identity
    instead TEXT    NOT NULL,             -- the identity that they have in those games
    at      INTEGER NOT NULL              -- when they were forgotten
) STRICT, WITHOUT ROWID;

-- Counts the changes of the tables above; `forgotten` is the number of the last one that forgot a player, `corrected`
-- that of the last one that corrected history, and `correction` says what it was.
CREATE TABLE player_changes (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    changes    INTEGER NOT NULL,
    forgotten  INTEGER NOT NULL DEFAULT 0,
    corrected  INTEGER NOT NULL DEFAULT 0,
    correction TEXT    NOT NULL DEFAULT ''
) STRICT;
INSERT INTO player_changes (id, changes) VALUES (1, 0);
-- The secret of the players' handles in addresses of pages.
CREATE TABLE handle_key (
    id  INTEGER PRIMARY KEY CHECK (id = 1),
    key BLOB    NOT NULL CHECK (length(key) = 32)
) STRICT;
INSERT INTO handle_key VALUES (1, randomblob(32));

-- Derived: a pure function of the tables above and the configuration; `evenkeel rebuild` makes it again.
CREATE TABLE rulings (
    match_id INTEGER PRIMARY KEY REFERENCES matches (id) ON DELETE CASCADE,
    ruleset  TEXT    NOT NULL,      -- game type and gameplay mutators
    unrated  TEXT,                  -- why the match is not rated; NULL when it is
    chance   REAL CHECK (chance BETWEEN 0 AND 1), -- predicted from earlier matches, that team 0 wins
    ended_at INTEGER,
    causes   INTEGER                -- what may have made it uneven: a bit for each
) STRICT;
CREATE INDEX rulings_by_ruleset ON rulings (ruleset, ended_at);
CREATE INDEX rulings_caused ON rulings (ruleset, ended_at, causes, unrated, chance) WHERE causes > 0;

-- What a rated match has entered into the account of a player.
CREATE TABLE performances (
    match_id       INTEGER NOT NULL,
    seat           INTEGER NOT NULL,
    points_for     REAL    NOT NULL,
    points_against REAL    NOT NULL,
    person         INTEGER,
    ended_at       INTEGER,
    team           INTEGER,         -- the one that the player was on for longest
    result         REAL,            -- 1 won, 0.5 draw, 0 lost; NULL without a result
    weight         REAL,            -- after the match
    deviation      REAL,
    weight_before  REAL,
    cause          TEXT,            -- why it is what it is
    PRIMARY KEY (match_id, seat)
) STRICT, WITHOUT ROWID;
CREATE INDEX performances_by_person ON performances (person, ended_at);

-- Players who are in rated matches, with the handles that pages show.
CREATE TABLE persons (
    person INTEGER PRIMARY KEY,
    kind   TEXT NOT NULL CHECK (kind IN ('human', 'bot')),
    player TEXT NOT NULL CHECK (player <> ''),
    handle TEXT NOT NULL UNIQUE,
    UNIQUE (kind, player)
) STRICT;

-- The weight of each player under each ruleset, after the player's last match there.
CREATE TABLE weights (
    ruleset   TEXT NOT NULL,
    game_type TEXT NOT NULL,
    mutators  TEXT NOT NULL, -- those that affect play, with spaces between them
    kind      TEXT NOT NULL CHECK (kind IN ('human', 'bot')),
    player    TEXT NOT NULL,
    name      TEXT NOT NULL, -- in the latest match
    plain     TEXT NOT NULL, -- the name without colours in lower case, for searches
    weight    REAL NOT NULL,
    deviation REAL NOT NULL, -- a standard deviation; 0 where the system has none
    division  INTEGER CHECK (division >= 0),
    games     INTEGER NOT NULL, -- rated matches
    last_seen INTEGER NOT NULL, -- the end of the last of them
    pinned    INTEGER NOT NULL CHECK (pinned IN (0, 1)), -- an operator has set the weight
    PRIMARY KEY (ruleset, kind, player)
) STRICT, WITHOUT ROWID;
CREATE INDEX weights_by_player ON weights (player, kind);

-- The divisions of each ruleset in which somebody has one.
CREATE TABLE divisions (
    ruleset  TEXT NOT NULL,
    division INTEGER NOT NULL, -- 0 is the lowest
    name     TEXT NOT NULL,
    low      REAL NOT NULL, -- the weights at which the progress is 0 and 1
    high     REAL NOT NULL,
    decay_after_days INTEGER NOT NULL, -- days without a match after which the displayed division falls
    decay_days       INTEGER NOT NULL, -- by one in so many days; 0: never
    PRIMARY KEY (ruleset, division)
) STRICT, WITHOUT ROWID;

CREATE TABLE seasons (
    starts_at INTEGER PRIMARY KEY,  -- milliseconds since 1970
    season    TEXT    NOT NULL      -- its date, with the time of day unless that is midnight
) STRICT;

-- Whose weight was counted again because history was corrected.
CREATE TABLE recounts (
    ruleset      TEXT NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('human', 'bot')),
    player       TEXT NOT NULL,
    recounted_at INTEGER NOT NULL,
    cause        TEXT NOT NULL,     -- what was corrected
    weight_then  REAL NOT NULL,     -- after the same match, as it was counted before and as it is counted now
    weight_now   REAL NOT NULL,
    PRIMARY KEY (player, kind, ruleset, recounted_at)
) STRICT, WITHOUT ROWID;

-- From which matches the derived tables were made.
CREATE TABLE derived_from (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    matches    INTEGER NOT NULL, -- how many matches the derived tables know
    last_match INTEGER NOT NULL, -- the highest of their ids
    settings   TEXT NOT NULL    -- the configuration that they were made with
) STRICT;

CREATE TABLE systems_report (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    settings    TEXT    NOT NULL,   -- the configuration that it was made with
    matches     INTEGER NOT NULL,   -- how many matches there were
    computed_at INTEGER NOT NULL,
    report      TEXT    NOT NULL    -- as JSON
) STRICT;

-- The decisions of running games.
CREATE TABLE decisions (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    made_at  INTEGER NOT NULL,      -- milliseconds since 1970 UTC
    server   TEXT    NOT NULL,
    ruleset  TEXT    NOT NULL,
    game     INTEGER NOT NULL,      -- a number shared by all decisions of one game
    match_id INTEGER REFERENCES matches (id) ON DELETE SET NULL, -- what became of it, once known
    kind     TEXT    NOT NULL,      -- balance, place, advantage, rebalance, auto-balance
    seed     TEXT    NOT NULL,      -- 64 bits without a sign
    chance   REAL,                  -- the predicted chance that team 0 wins, where there is one
    decision TEXT    NOT NULL       -- JSON: the question, the seed and the answer
) STRICT;
CREATE INDEX decisions_by_game ON decisions (game);
CREATE INDEX decisions_by_match ON decisions (match_id) WHERE match_id IS NOT NULL;

-- Queues, and what they host.
CREATE TABLE tickets (
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
CREATE UNIQUE INDEX tickets_once ON tickets (owner, ticket, number >> 40);
CREATE INDEX tickets_untold ON tickets (owner, number) WHERE NOT told;
CREATE INDEX tickets_waiting ON tickets (queue, submitted_at) WHERE state = 'queued';

CREATE TABLE ticket_players (
    player      TEXT    NOT NULL,
    queue_group TEXT    NOT NULL,  -- empty for the queues of the partition without a group
    partition   INTEGER NOT NULL,  -- the number that stands for it, as in the numbers of its tickets
    ticket      INTEGER NOT NULL,  -- its number
    PRIMARY KEY (player, queue_group, partition)
) STRICT, WITHOUT ROWID;

CREATE TABLE pools (
    pool_id     INTEGER PRIMARY KEY,   -- the id of the first match that could be formed of it
    queue       TEXT    NOT NULL,
    settings    TEXT    NOT NULL,      -- the configuration of the queue, as JSON
    seed        TEXT    NOT NULL,
    effort      INTEGER NOT NULL,
    version     TEXT    NOT NULL,      -- the version of Evenkeel that searched
    searched_at INTEGER NOT NULL,      -- the time until which the waits of the tickets count
    tickets     TEXT    NOT NULL,      -- their numbers, as in '3-7 9'
    known       TEXT    NOT NULL,      -- what was known of their players, as JSON
    outlook     TEXT                   -- how strengths become chances, as JSON
) STRICT;

CREATE TABLE formed_matches (
    match_id    INTEGER PRIMARY KEY,
    queue       TEXT    NOT NULL,
    size        INTEGER NOT NULL,      -- players that each team should have
    mode        TEXT,
    map         TEXT,
    penalty     REAL    NOT NULL,
    chance      REAL CHECK (chance BETWEEN 0 AND 1),  -- predicted, that team 0 wins
    seed        TEXT    NOT NULL,
    searched_at INTEGER NOT NULL,      -- the time from which the waits of these tickets count
    formed_at   INTEGER NOT NULL,
    open_until  INTEGER,               -- until when players can accept it; NULL once it is final
    pool_id     INTEGER,               -- NULL if it was too large to store
    why         TEXT    NOT NULL DEFAULT '[]', -- what each rule found, as a JSON array of lines
    ruleset     TEXT    NOT NULL DEFAULT '',   -- whose chance was predicted
    recorded    INTEGER,               -- the id of the stored match in which these teams played
    partition   INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX formed_matches_by_pool ON formed_matches (pool_id) WHERE pool_id IS NOT NULL;
CREATE INDEX formed_matches_by_queue ON formed_matches (queue, match_id);

CREATE TABLE formed_seats (
    match_id INTEGER NOT NULL REFERENCES formed_matches (match_id) ON DELETE CASCADE,
    seat     INTEGER NOT NULL,
    team     INTEGER NOT NULL,         -- counted from 0
    ticket   INTEGER NOT NULL,         -- number of the ticket
    player   TEXT    NOT NULL,
    accepted INTEGER NOT NULL CHECK (accepted IN (0, 1)),
    later    INTEGER NOT NULL DEFAULT 0 CHECK (later IN (0, 1)), -- a seat that was not there when the match was formed
    PRIMARY KEY (match_id, seat)
) STRICT, WITHOUT ROWID;
CREATE INDEX formed_seats_by_player ON formed_seats (player);

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
    unready    INTEGER NOT NULL DEFAULT 0, -- matches that not everybody has accepted
    PRIMARY KEY (queue, hour)
) STRICT, WITHOUT ROWID;

CREATE TABLE queue_waits (
    queue     TEXT PRIMARY KEY,
    median_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The parts of the queues, each of which one daemon runs at a time. The numbers of their tickets are
-- (slot << 40) + 1 and so on.
CREATE TABLE partitions (
    name TEXT    PRIMARY KEY,          -- as the configuration names it
    slot INTEGER NOT NULL UNIQUE
) STRICT;
INSERT INTO partitions (name, slot) VALUES ('main', 0);

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
    parted       INTEGER,              -- since when no connection has its game, in play
    asked        TEXT    NOT NULL DEFAULT '{}', -- a JSON object: the number of seats to fill on each team
    -- A JSON object: of each player on the way to the match in play, the team, until when the player may come, and
    -- the ticket, whose players come together.
    coming       TEXT    NOT NULL DEFAULT '{}',
    roster       TEXT,                 -- a JSON array of [player, team]; NULL before the game server has reported them
    sent_away    TEXT    NOT NULL DEFAULT '[]', -- a JSON array of players whom it has sent away while on the way
    partition    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX hosted_matches_by_game ON hosted_matches (game);

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
    draining INTEGER NOT NULL DEFAULT 0 CHECK (draining IN (0, 1)), -- set by an operator
    partition INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE owed_closes (
    instance TEXT    NOT NULL,
    match_id INTEGER NOT NULL,
    why      TEXT    NOT NULL,
    PRIMARY KEY (instance, match_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE behaviour (
    player   TEXT    NOT NULL,     -- the identity of a human
    reporter TEXT    NOT NULL,     -- the game server; '*' where clients prove no name; '' for the daemon itself
    day      INTEGER NOT NULL,     -- days since 1970 UTC
    at       INTEGER NOT NULL,     -- when the last of these reports came
    points   REAL    NOT NULL,     -- their sum, within the limit of a day
    reports  INTEGER NOT NULL,
    no_shows INTEGER NOT NULL,     -- how often the player was called to a match and did not come
    PRIMARY KEY (player, reporter, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX behaviour_by_day ON behaviour (day);

CREATE TABLE behaviour_changes (changes INTEGER NOT NULL) STRICT;
INSERT INTO behaviour_changes (changes) VALUES (0);

-- Pick-up games, links of players to accounts elsewhere, and browsers that are signed in.
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

CREATE TABLE links (
    player       TEXT PRIMARY KEY,  -- the identity
    into_player  TEXT NOT NULL,     -- the identity of the player
    client       TEXT NOT NULL,     -- which has asked
    asked_at     INTEGER NOT NULL,
    confirmed_by TEXT,              -- the organiser who has confirmed it, as the client names them
    confirmed_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE sign_ins (
    secret  BLOB PRIMARY KEY,  -- a hash of the secret in the browser's cookie
    client  TEXT NOT NULL,
    token   BLOB NOT NULL,     -- a hash of the hash of the token: with another token, the client has no sign-ins
    made_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Webhooks: the events that are to be sent. Triggers write them in the transaction of what they report.
CREATE TABLE webhooks (
    name      TEXT    PRIMARY KEY,
    kinds     TEXT    NOT NULL,             -- of the events that it is sent, as in 'formed hosted'
    position  INTEGER NOT NULL,             -- the number of the last event that was sent or dropped
    delivered INTEGER NOT NULL DEFAULT 0,   -- how many were sent
    dropped   INTEGER NOT NULL DEFAULT 0,   -- how many were not
    tries     INTEGER NOT NULL DEFAULT 0,   -- failed tries of the event that waits
    failed_at INTEGER,                      -- when the last try failed; NULL after one that did not
    failure   TEXT                          -- how
) STRICT;

CREATE TABLE webhook_events (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT    NOT NULL DEFAULT ('evt_' || lower(hex(randomblob(12)))),
    kind     TEXT    NOT NULL CHECK (kind IN ('formed', 'hosted', 'recorded')),
    match_id INTEGER NOT NULL,
    at       INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
    address  TEXT                           -- of the instance, if the match is hosted
) STRICT;

-- Bounds the table even if no daemon runs.
CREATE TRIGGER webhook_events_are_bounded AFTER INSERT ON webhook_events BEGIN
    DELETE FROM webhook_events WHERE number <= NEW.number - 20000;
END;
-- A match is formed once no player has to accept it any more.
CREATE TRIGGER webhook_formed AFTER INSERT ON formed_matches
WHEN NEW.open_until IS NULL AND EXISTS (SELECT 1 FROM webhooks WHERE instr(kinds, 'formed')) BEGIN
    INSERT INTO webhook_events (kind, match_id) VALUES ('formed', NEW.match_id);
END;
CREATE TRIGGER webhook_accepted AFTER UPDATE OF open_until ON formed_matches
WHEN NEW.open_until IS NULL AND OLD.open_until IS NOT NULL
     AND EXISTS (SELECT 1 FROM webhooks WHERE instr(kinds, 'formed')) BEGIN
    INSERT INTO webhook_events (kind, match_id) VALUES ('formed', NEW.match_id);
END;
-- A match is hosted once its players can connect.
CREATE TRIGGER webhook_hosted BEFORE INSERT ON hosted_matches
WHEN NEW.state IN ('ready', 'joining', 'playing') AND NEW.address IS NOT NULL
     AND EXISTS (SELECT 1 FROM webhooks WHERE instr(kinds, 'hosted'))
     AND NOT EXISTS (SELECT 1 FROM hosted_matches old
                      WHERE old.match_id = NEW.match_id AND old.state IN ('ready', 'joining', 'playing')
                        AND old.instance IS NEW.instance AND old.address IS NEW.address) BEGIN
    INSERT INTO webhook_events (kind, match_id, address) VALUES ('hosted', NEW.match_id, NEW.address);
END;
-- Matches of old logs are no news.
CREATE TRIGGER webhook_recorded AFTER INSERT ON matches
WHEN NEW.ended_at > (unixepoch() - 86400) * 1000
     AND EXISTS (SELECT 1 FROM webhooks WHERE instr(kinds, 'recorded')) BEGIN
    INSERT INTO webhook_events (kind, match_id) VALUES ('recorded', NEW.id);
END;

-- Several daemons: what only one may do at a time, who is alive, and what they ask each other.
CREATE TABLE leases (
    name    TEXT    PRIMARY KEY,       -- such as 'fold'
    holder  TEXT    NOT NULL,          -- the daemon that took it last
    epoch   INTEGER NOT NULL,
    ends_at INTEGER NOT NULL           -- in milliseconds since 1970 by the clock of the database; 0: free
) STRICT;

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

CREATE TABLE host_notices (
    number INTEGER PRIMARY KEY,
    daemon TEXT NOT NULL,
    link   INTEGER NOT NULL,     -- that daemon's number of the connection
    body   TEXT NOT NULL         -- JSON
) STRICT;
CREATE INDEX host_notices_by_daemon ON host_notices (daemon, number);

-- Has a row once this database was moved to another one, which is used instead.
CREATE TABLE moved (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    place TEXT NOT NULL                -- the other database: a path, or an address without its password
) STRICT;

-- For people with sqlite3.

-- Places and divisions as they are now: a division is lower than the one reached for players who have long been away.
CREATE VIEW leaderboard AS
SELECT
    w.ruleset,
    w.kind,
    CASE w.standing WHEN 'placed' THEN
        rank() OVER (PARTITION BY w.ruleset, w.kind, w.standing ORDER BY w.weight - w.deviation DESC)
    END AS place,
    w.name,
    w.player,
    round(w.weight, 3) AS weight,
    round(w.deviation, 3) AS deviation,
    w.games,
    datetime(w.last_seen / 1000, 'unixepoch') AS last_seen,
    d.name AS division,
    round(w.rung - d.division, 3) AS progress,
    (SELECT s.season FROM seasons s WHERE s.starts_at <= w.last_seen ORDER BY s.starts_at DESC LIMIT 1) AS season,
    w.standing
FROM (
    SELECT
        w.*,
        CASE WHEN w.last_seen < max(w.last_seen) OVER (PARTITION BY w.ruleset) - 5184000000 THEN 'away'
             WHEN w.games < 10 OR w.deviation > 15.0 THEN 'placing'
             ELSE 'placed' END AS standing,
        CASE WHEN w.division IS NOT NULL THEN max(0, w.division
            + CASE WHEN d.high > d.low THEN min(max((w.weight - d.low) / (d.high - d.low), 0.0), 1.0) ELSE 0.0 END
            - CASE d.decay_days WHEN 0 THEN 0 ELSE max(0,
                  (julianday('now') - 2440587.5 - w.last_seen / 86400000.0 - d.decay_after_days) / d.decay_days) END) END AS rung
    FROM weights w
    LEFT JOIN divisions d ON d.ruleset = w.ruleset AND d.division = w.division
) w
LEFT JOIN divisions d ON d.ruleset = w.ruleset AND d.division = min(w.division, CAST(w.rung AS INTEGER))
ORDER BY w.ruleset, w.kind DESC, CASE w.standing WHEN 'placed' THEN 0 WHEN 'placing' THEN 1 ELSE 2 END,
    w.weight - w.deviation DESC, w.player;

CREATE VIEW player_history AS
SELECT
    p.kind,
    p.player,
    p.name,
    m.id AS match_id,
    datetime(m.started_at / 1000, 'unixepoch') AS started,
    m.server,
    m.map,
    r.ruleset,
    p.team,
    CASE WHEN NOT m.untimed THEN round(p.share * (m.ended_at - m.started_at) / 60000.0, 2) END AS minutes,
    m.scores AS score,
    f.points_for,
    f.points_against,
    p.points,
    p.kills,
    p.deaths,
    CASE WHEN m.outcome <> 'won' THEN m.outcome WHEN p.team = m.winner THEN 'won'
         WHEN p.team IS NOT NULL THEN 'lost' END AS outcome,
    m.winner,
    r.unrated,
    (SELECT s.season FROM seasons s WHERE s.starts_at <= m.ended_at ORDER BY s.starts_at DESC LIMIT 1) AS season
FROM match_players p
JOIN matches m ON m.id = p.match_id
LEFT JOIN rulings r ON r.match_id = m.id
LEFT JOIN performances f ON f.match_id = p.match_id AND f.seat = p.seat
ORDER BY m.ended_at, m.fingerprint, p.seat;

CREATE VIEW match_report AS
SELECT
    m.id AS match_id,
    datetime(m.started_at / 1000, 'unixepoch') AS started,
    CASE WHEN NOT m.untimed THEN round((m.ended_at - m.started_at) / 60000.0, 2) END AS minutes,
    m.server,
    m.map,
    m.mode,
    r.ruleset,
    nullif(m.mutators, '') AS mutators,
    m.scores AS score,
    m.outcome,
    m.winner,
    m.humans,
    m.bots,
    r.unrated,
    (SELECT s.season FROM seasons s WHERE s.starts_at <= m.ended_at ORDER BY s.starts_at DESC LIMIT 1) AS season,
    round(kp.chance, 3) AS chance_as_picked,
    round(ks.chance, 3) AS chance_as_started,
    round(r.chance, 3) AS forecast,
    (SELECT CASE WHEN json_valid(d.decision) THEN round(json_extract(d.decision, '$.answer.ratio'), 3) END
       FROM decisions d
      WHERE d.match_id = m.id AND d.kind = 'balance' AND d.made_at <= m.started_at
      ORDER BY d.id DESC LIMIT 1) AS ratio,
    round(kp.chance, 3) AS chance,
    m.gap,
    CASE WHEN kp.match_id IS NULL THEN 0 ELSE 1 END AS picked
FROM matches m
LEFT JOIN rulings r ON r.match_id = m.id
LEFT JOIN match_chances kp ON kp.match_id = m.id AND kp.step = 0
    AND (kp.ruleset IS NULL OR r.ruleset IS NULL OR kp.ruleset = r.ruleset)
LEFT JOIN match_chances ks ON ks.match_id = m.id AND ks.step = 1
ORDER BY m.ended_at, m.fingerprint;

-- Who has moved between teams, and what was predicted then.
CREATE VIEW chance_report AS
SELECT
    k.match_id,
    k.step,
    k.cause,
    round(k.at_ms / 1000.0, 1) AS seconds,
    p.kind,
    p.player,
    p.name,
    k.from_team,
    k.to_team,
    k.humans,
    k.bots,
    round(k.chance, 3) AS chance,
    k.chances
FROM match_chances k
LEFT JOIN rulings r ON r.match_id = k.match_id
LEFT JOIN match_players p ON p.match_id = k.match_id AND p.seat = k.seat
WHERE k.ruleset IS NULL OR r.ruleset IS NULL OR k.ruleset = r.ruleset
ORDER BY k.match_id, k.step;

CREATE VIEW weight_history AS
SELECT
    r.ruleset,
    o.kind,
    o.player,
    p.name,
    f.match_id,
    datetime(f.ended_at / 1000, 'unixepoch') AS ended,
    round(f.weight, 3) AS weight,
    round(f.deviation, 3) AS deviation,
    round(f.weight_before, 3) AS weight_before,
    f.cause
FROM performances f
JOIN persons o ON o.person = f.person
JOIN rulings r ON r.match_id = f.match_id
JOIN match_players p ON p.match_id = f.match_id AND p.seat = f.seat
WHERE f.weight IS NOT NULL
ORDER BY f.ended_at, f.match_id, f.seat;

CREATE VIEW decision_report AS
SELECT
    d.id AS decision_id,
    datetime(d.made_at / 1000, 'unixepoch') AS made,
    d.server,
    d.ruleset,
    d.kind,
    d.seed,
    round(d.chance, 3) AS chance,
    d.match_id,
    CASE WHEN json_valid(d.decision) THEN
        round(coalesce(json_extract(d.decision, '$.answer.ratio'), json_extract(d.decision, '$.answer.after')), 3)
    END AS ratio,
    m.gap,
    CASE WHEN d.kind = 'balance'
          AND d.id = (SELECT max(b.id) FROM decisions b
                       WHERE b.match_id = m.id AND b.kind = 'balance' AND b.made_at <= m.started_at)
         THEN 1 ELSE 0 END AS picked
FROM decisions d
LEFT JOIN matches m ON m.id = d.match_id
ORDER BY d.id;

-- The rated matches between teams. A week begins on Monday.
CREATE VIEW rated_matches AS
SELECT
    r.match_id,
    r.ruleset,
    date(m.ended_at / 1000.0, 'unixepoch', 'weekday 0', '-6 days') AS week,
    m.map,
    m.outcome,
    m.winner,
    m.scores,
    m.gap,
    CASE WHEN NOT m.untimed THEN (m.ended_at - m.started_at) / 60000.0 END AS minutes,
    CASE m.outcome WHEN 'won' THEN CAST(m.winner = 0 AS REAL) WHEN 'draw' THEN 0.5 END AS won,
    r.chance AS forecast,
    k.chance AS chance_as_picked
FROM rulings r
JOIN matches m ON m.id = r.match_id
LEFT JOIN match_chances k ON k.match_id = m.id AND k.step = 0 AND (k.ruleset IS NULL OR k.ruleset = r.ruleset)
WHERE r.unrated IS NULL AND m.scores IS NOT NULL;

-- A shutout is a match with a gap of 3 or more in which a team has no points.
CREATE VIEW balance_report AS
SELECT
    ruleset,
    count(*) AS matches,
    CASE WHEN sum(gap) > 0 OR count(gap) = count(*) THEN round(avg(gap), 3) END AS mean_gap,
    round(avg(outcome = 'draw'), 3) AS share_draws,
    CASE WHEN sum(gap) > 0 OR count(gap) = count(*)
         THEN round(avg(CASE WHEN gap IS NOT NULL
                             THEN instr(':' || scores || ':', ':0:') > 0 AND instr(scores, '-') = 0 AND gap >= 3 END), 3)
         END AS share_shutouts,
    round(avg(winner = 0), 3) AS share_team_0_wins,
    round(avg(CASE WHEN won <> 0.5 THEN (forecast >= 0.5) = (won > 0.5) END), 3) AS share_favourite_wins,
    round(avg(minutes), 2) AS mean_minutes,
    count(chance_as_picked * won) AS predicted,
    round(avg(chance_as_picked + 0 * won), 3) AS predicted_team_0_wins,
    round(avg(won + 0 * chance_as_picked), 3) AS happened_team_0_wins,
    round(avg((chance_as_picked - won) * (chance_as_picked - won)), 4) AS brier
FROM rated_matches
GROUP BY ruleset
ORDER BY ruleset;

CREATE VIEW balance_by_week AS
SELECT
    ruleset,
    week,
    count(*) AS matches,
    CASE WHEN sum(gap) > 0 OR count(gap) = count(*) THEN round(avg(gap), 3) END AS mean_gap,
    round(avg(outcome = 'draw'), 3) AS share_draws,
    round(avg(winner = 0), 3) AS share_team_0_wins,
    count(forecast * won) AS predicted,
    round(avg(CASE WHEN won <> 0.5 THEN (forecast >= 0.5) = (won > 0.5) END), 3) AS share_favourite_wins,
    round(avg((forecast - won) * (forecast - won)), 4) AS brier,
    round(avg(minutes), 2) AS mean_minutes
FROM rated_matches
GROUP BY ruleset, week
ORDER BY ruleset, week;

CREATE VIEW balance_by_map AS
SELECT
    ruleset,
    map,
    count(*) AS matches,
    CASE WHEN sum(gap) > 0 OR count(gap) = count(*) THEN round(avg(gap), 3) END AS mean_gap,
    round(avg(outcome = 'draw'), 3) AS share_draws,
    round(avg(winner = 0), 3) AS share_team_0_wins,
    count(forecast * won) AS predicted,
    round(avg(CASE WHEN won <> 0.5 THEN (forecast >= 0.5) = (won > 0.5) END), 3) AS share_favourite_wins,
    round(avg((forecast - won) * (forecast - won)), 4) AS brier,
    round(avg(minutes), 2) AS mean_minutes
FROM rated_matches
GROUP BY ruleset, map
ORDER BY ruleset, count(*) DESC, map;

CREATE VIEW hosted_report AS
SELECT h.match_id, h.queue, h.state, h.why, h.instance, h.address, h.tries,
       datetime(h.since / 1000, 'unixepoch') AS since,
       f.mode, f.map, f.size, round(coalesce(k.chance, f.chance), 3) AS chance_as_picked, f.penalty,
       datetime(f.formed_at / 1000, 'unixepoch') AS formed,
       (SELECT count(*) FROM formed_seats s WHERE s.match_id = h.match_id) AS players,
       (SELECT round(max(f.formed_at - t.submitted_at) / 1000.0, 1)
          FROM formed_seats s JOIN tickets t ON t.number = s.ticket
         WHERE s.match_id = h.match_id) AS longest_wait_seconds,
       m.outcome, m.winner,
       datetime(m.ended_at / 1000, 'unixepoch') AS ended
FROM hosted_matches h
LEFT JOIN formed_matches f ON f.match_id = h.match_id
LEFT JOIN matches m ON m.id = h.match_id
LEFT JOIN match_chances k ON k.match_id = h.match_id AND k.step = 0
ORDER BY h.match_id;

CREATE VIEW queue_report AS
SELECT queue,
       sum(state = 'queued') AS queued,
       sum(state = 'proposed') AS proposed,
       sum(state IN ('hosted', 'called')) AS hosted,
       sum(state = 'matched') AS matched,
       sum(state = 'cancelled') AS cancelled,
       sum(state = 'expired') AS expired,
       sum(CASE WHEN state IN ('queued', 'proposed') THEN json_array_length(players) ELSE 0 END)
           AS players_waiting,
       datetime(min(CASE WHEN state = 'queued' THEN submitted_at END) / 1000, 'unixepoch') AS oldest_submitted
FROM tickets GROUP BY queue;
