-- From the tables of version 0.1 to those of 0.2. Times are milliseconds since 1970 UTC where nothing else is said.

-- The views of 0.1 are written again at the end.
DROP VIEW leaderboard;
DROP VIEW player_history;
DROP VIEW match_report;
DROP VIEW balance_report;
DROP VIEW decision_report;

-- Old matches, compressed. What was reported about their players is only in a chunk: their rows in participants,
-- presence, roles and score_events are gone, and those in performances. All other rows of such a match stay.
-- Up to 1,000 matches: lines of JSON as `evenkeel export` writes them, compressed with gzip.
CREATE TABLE archive_chunks (
    chunk     INTEGER PRIMARY KEY,
    matches   INTEGER NOT NULL CHECK (matches >= 0), -- how many lines have a match
    first_end INTEGER NOT NULL,     -- when the earliest of them ended
    last_end  INTEGER NOT NULL,     -- when the latest of them ended
    length    INTEGER NOT NULL,     -- in bytes, before compression
    sha256    BLOB    NOT NULL CHECK (length(sha256) = 32), -- of the content
    content   BLOB    NOT NULL
) STRICT;

-- Where an archived match is: the chunk, and the line in it, from 0. NULL for matches that are in the tables.
ALTER TABLE matches ADD COLUMN chunk INTEGER REFERENCES archive_chunks (chunk);
ALTER TABLE matches ADD COLUMN line INTEGER;
-- How many took part in an archived match.
ALTER TABLE matches ADD COLUMN humans INTEGER;
ALTER TABLE matches ADD COLUMN bots INTEGER;
-- The matches that are not archived, the earliest first.
CREATE INDEX matches_in_tables ON matches (ended_at, fingerprint) WHERE chunk IS NULL;

-- Why a player left before the end of the match; NULL where they stayed, or where nobody told. Of those who
-- left of their own accord, the rest of the match counts for them.
ALTER TABLE participants ADD COLUMN left_reason TEXT
    CHECK (left_reason IN ('left', 'kicked', 'timeout', 'moved', 'other'));

-- Which match a running game became: the number that the game had in its session and in the journal. An END that
-- is sent again, also after a crash, finds the match of its own game and of no other.
CREATE TABLE match_games (
    game     INTEGER NOT NULL PRIMARY KEY,
    match_id INTEGER NOT NULL UNIQUE REFERENCES matches (id) ON DELETE CASCADE
) STRICT;

-- Matches that an operator has declared void: they are kept, and not rated. By fingerprint, so that a match stays
-- void when its log is read again. Like the matches, never computed.
CREATE TABLE voided_fingerprints (
    fingerprint BLOB NOT NULL PRIMARY KEY CHECK (length(fingerprint) = 16)
) STRICT, WITHOUT ROWID;

-- The matches that this means: those with such a fingerprint, and those with such a half.
CREATE VIEW voided_matches AS
SELECT m.id AS match_id
FROM voided_fingerprints v JOIN matches m ON m.fingerprint = v.fingerprint
UNION
SELECT h.match_id
FROM voided_fingerprints v JOIN match_halves h ON h.fingerprint = v.fingerprint;

-- What was predicted of the teams of a match while it was played, for ever: as they were picked, as play started, and
-- after each change of who was on which team. The predictions are those of that time; a rebuild does not change them.
-- Players are named by their seats, so that this table contains nothing about them.
CREATE TABLE match_chances (
    match_id  INTEGER NOT NULL REFERENCES matches (id) ON DELETE CASCADE,
    step      INTEGER NOT NULL,     -- 0: as picked; 1: as started; then one for each change, in order
    cause     TEXT    NOT NULL CHECK (cause IN
                  ('picked', 'started', 'join', 'leave', 'place', 'move', 'auto-move', 'balance')),
    at_ms     INTEGER,              -- since the start of play; NULL as picked
    seat      INTEGER,              -- who changed; NULL for all, and for a player who is not in the record
    from_team INTEGER,              -- NULL for no team
    to_team   INTEGER,              -- NULL for no team
    chance    REAL CHECK (chance BETWEEN 0 AND 1), -- that team 0 wins; NULL if nothing was predicted
    chances   TEXT,                 -- with more than two teams: of each, as '0.5 v 0.3 v 0.2'
    humans    TEXT,                 -- on each team, as '7 v 6'; NULL for matches of older versions
    bots      TEXT,
    ruleset   TEXT,                 -- for which a queue has predicted; NULL otherwise
    PRIMARY KEY (match_id, step)
) STRICT, WITHOUT ROWID;

INSERT INTO match_chances (match_id, step, cause, chance)
SELECT match_id, 0, 'picked', chance FROM predictions;
DROP TABLE predictions;

-- Players, as an operator has set them. Like the matches, never computed.

-- When the last player was forgotten, in numbers of changes: copies of the database with fewer changes still
-- contain that player.
ALTER TABLE player_changes ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;

-- Whether the weight is on the scale of 0.1. It then keeps its strength: the program converts it when it reads it.
ALTER TABLE pinned_weights ADD COLUMN former INTEGER NOT NULL DEFAULT 1 CHECK (former IN (0, 1));

-- The weights that an operator expects of players before their matches.
CREATE TABLE start_weights (
    kind      TEXT    NOT NULL CHECK (kind IN ('human', 'bot')),
    player    TEXT    NOT NULL CHECK (player <> ''),
    weight    REAL    NOT NULL CHECK (weight BETWEEN 0 AND 100),
    uncertain INTEGER NOT NULL CHECK (uncertain IN (0, 1)),
    former    INTEGER NOT NULL DEFAULT 1 CHECK (former IN (0, 1)), -- as in pinned_weights
    PRIMARY KEY (kind, player)
) STRICT, WITHOUT ROWID;

-- Players whom an operator keeps off the pages.
CREATE TABLE hidden_players (
    kind   TEXT NOT NULL CHECK (kind IN ('human', 'bot')),
    player TEXT NOT NULL CHECK (player <> ''),
    PRIMARY KEY (kind, player)
) STRICT, WITHOUT ROWID;

-- Players who are forgotten, as long as chunks may still contain them. Whoever reads a chunk replaces them.
CREATE TABLE unfinished_forgets (
    kind    TEXT NOT NULL CHECK (kind IN ('human', 'bot')),
    player  TEXT NOT NULL CHECK (player <> ''),
    instead TEXT NOT NULL,          -- the identity that they have from now on
    PRIMARY KEY (kind, player)
) STRICT, WITHOUT ROWID;

-- Players who were forgotten in the last two days: games that were running then are recorded without them.
CREATE TABLE forgotten_lately (
    handle  TEXT    NOT NULL PRIMARY KEY, -- a keyed hash of kind and identity
    instead TEXT    NOT NULL,             -- the identity that they have in those games
    at      INTEGER NOT NULL              -- when they were forgotten
) STRICT, WITHOUT ROWID;

-- Derived: what is learned from the matches.

-- NULL while a player is calibrating, for bots, and without divisions.
ALTER TABLE weights ADD COLUMN division INTEGER CHECK (division >= 0);
ALTER TABLE weights ADD COLUMN progress REAL CHECK (progress BETWEEN 0 AND 1);
-- On each side and as commanders, where the rating system learns them apart. NULL for players who have not been in
-- such games, and for pinned weights.
ALTER TABLE weights ADD COLUMN side_0 REAL CHECK (side_0 BETWEEN 0 AND 100);
ALTER TABLE weights ADD COLUMN side_1 REAL CHECK (side_1 BETWEEN 0 AND 100);
ALTER TABLE weights ADD COLUMN commander REAL CHECK (commander BETWEEN 0 AND 100);
ALTER TABLE weights ADD COLUMN place INTEGER;           -- by weight in the ruleset and kind, from 1; NULL once forgotten
ALTER TABLE weights ADD COLUMN plain TEXT;              -- the name without colours in lower case, for searches
-- The number of the scale that the weight is on, so that a newer program can convert it. It serves those until it has
-- derived its own. 0 for weights of 0.1.
ALTER TABLE weights ADD COLUMN scale INTEGER NOT NULL DEFAULT 0;
CREATE INDEX weights_by_place ON weights (ruleset, kind, place, plain);
CREATE INDEX weights_by_player ON weights (player, kind);

CREATE TABLE divisions (
    division         INTEGER PRIMARY KEY,   -- 0 is the lowest
    name             TEXT    NOT NULL,
    decay_after_days INTEGER NOT NULL,      -- days without a match after which the displayed division falls
    decay_days       INTEGER NOT NULL       -- by one in so many days; 0: never
) STRICT;

-- The seasons of the configuration. A match belongs to the season in which it ended.
CREATE TABLE seasons (
    starts_at INTEGER PRIMARY KEY,  -- milliseconds since 1970
    season    TEXT    NOT NULL      -- its date, with the time of day unless that is midnight
) STRICT;

-- The chance that team 0 wins, as predicted from the matches before; NULL without two teams.
ALTER TABLE rulings ADD COLUMN chance REAL CHECK (chance BETWEEN 0 AND 1);
ALTER TABLE rulings ADD COLUMN ended_at INTEGER;
CREATE INDEX rulings_by_ruleset ON rulings (ruleset, ended_at);

-- A person is a player who is in a rated match, under the identity that all their matches count for. Pages show
-- the handle: a keyed hash, which does not reveal the identity.
CREATE TABLE persons (
    person INTEGER PRIMARY KEY,
    kind   TEXT NOT NULL CHECK (kind IN ('human', 'bot')),
    player TEXT NOT NULL CHECK (player <> ''),
    handle TEXT NOT NULL UNIQUE,
    UNIQUE (kind, player)
) STRICT;

-- The key of handles is not derived.
CREATE TABLE handle_key (
    id  INTEGER PRIMARY KEY CHECK (id = 1),
    key BLOB    NOT NULL CHECK (length(key) = 32)
) STRICT;
INSERT INTO handle_key VALUES (1, randomblob(32));

ALTER TABLE performances ADD COLUMN person INTEGER;
ALTER TABLE performances ADD COLUMN ended_at INTEGER;
ALTER TABLE performances ADD COLUMN team INTEGER;       -- the one that the player was on for longest
ALTER TABLE performances ADD COLUMN result REAL;        -- 1 won, 0.5 draw, 0 lost; NULL without a result
ALTER TABLE performances ADD COLUMN weight REAL;        -- after the match
ALTER TABLE performances ADD COLUMN deviation REAL;
CREATE INDEX performances_by_person ON performances (person, ended_at);

-- Several checkpoints instead of one: a match that comes late is folded from the one before it. The bytes carry a
-- version and a checksum of their own; a program that cannot read them uses an older one, or folds all matches again.
DROP TABLE derived_checkpoint;
CREATE TABLE derived_checkpoint (
    matches     INTEGER PRIMARY KEY CHECK (matches > 0), -- how many were folded
    last_match  INTEGER NOT NULL,                        -- the highest id among them
    ended_at    INTEGER NOT NULL,                        -- the last of them, in the order in which they are folded
    fingerprint BLOB NOT NULL,
    settings    TEXT NOT NULL,
    state       BLOB NOT NULL
) STRICT;

-- How close the rated matches were, by week, ruleset and map. A week begins on Monday and is counted from
-- 1969-12-29. All sums are computed again for the weeks of new matches, so that they are the same whether
-- matches come one by one or all at once.
CREATE TABLE balance_cells (
    week      INTEGER NOT NULL,
    ruleset   TEXT    NOT NULL,
    map       TEXT    NOT NULL,
    rated     INTEGER NOT NULL,     -- how many matches are rated
    matches   INTEGER NOT NULL,     -- how many of them had teams; the other columns count only these
    draws     INTEGER NOT NULL,
    gap       REAL    NOT NULL,     -- sum of the differences between the highest and the lowest score
    minutes   REAL    NOT NULL,     -- sum of the lengths of play
    first_won INTEGER NOT NULL,     -- how many team 0 won
    decided   INTEGER NOT NULL,     -- how many a team won
    predicted INTEGER NOT NULL,     -- how many two teams played to a result that was predicted
    favoured  INTEGER NOT NULL,     -- in how many of these the team with the higher chance won
    brier     REAL    NOT NULL,     -- sum of the squared differences between chance and result
    scored    INTEGER NOT NULL DEFAULT 0,     -- how many have scores; `gap` counts only these
    predicted_won INTEGER NOT NULL DEFAULT 0, -- how many of `predicted` a team won
    PRIMARY KEY (week, ruleset, map)
) STRICT, WITHOUT ROWID;

-- Their sums by week, and by map in blocks of 13 weeks: few rows to read for a page, and few to write for a match.
CREATE TABLE balance_weeks (
    ruleset   TEXT    NOT NULL,
    week      INTEGER NOT NULL,
    rated     INTEGER NOT NULL,
    matches   INTEGER NOT NULL,
    draws     INTEGER NOT NULL,
    gap       REAL    NOT NULL,
    minutes   REAL    NOT NULL,
    first_won INTEGER NOT NULL,
    decided   INTEGER NOT NULL,
    predicted INTEGER NOT NULL,
    favoured  INTEGER NOT NULL,
    brier     REAL    NOT NULL,
    scored    INTEGER NOT NULL DEFAULT 0,
    predicted_won INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (ruleset, week)
) STRICT, WITHOUT ROWID;

CREATE TABLE balance_maps (
    ruleset   TEXT    NOT NULL,
    block     INTEGER NOT NULL,     -- the number of the week, divided by 13 and rounded down
    map       TEXT    NOT NULL,
    rated     INTEGER NOT NULL,
    matches   INTEGER NOT NULL,
    draws     INTEGER NOT NULL,
    gap       REAL    NOT NULL,
    minutes   REAL    NOT NULL,
    first_won INTEGER NOT NULL,
    decided   INTEGER NOT NULL,
    predicted INTEGER NOT NULL,
    favoured  INTEGER NOT NULL,
    brier     REAL    NOT NULL,
    scored    INTEGER NOT NULL DEFAULT 0,
    predicted_won INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (ruleset, block, map)
) STRICT, WITHOUT ROWID;

CREATE TABLE balance_gaps (
    ruleset TEXT    NOT NULL,
    week    INTEGER NOT NULL,
    gap     INTEGER NOT NULL,       -- the difference of the scores, rounded
    matches INTEGER NOT NULL,
    PRIMARY KEY (ruleset, week, gap)
) STRICT, WITHOUT ROWID;

-- The predictions from the side of the favourite, in steps of 5 %.
CREATE TABLE balance_chances (
    ruleset TEXT    NOT NULL,
    week    INTEGER NOT NULL,
    step    INTEGER NOT NULL,       -- 0 for 50 to 55 %, 9 for 95 to 100 %
    matches INTEGER NOT NULL,
    chance  REAL    NOT NULL,       -- sum of the predicted chances
    won     REAL    NOT NULL,       -- how many the favourite won; a draw is half a win
    PRIMARY KEY (ruleset, week, step)
) STRICT, WITHOUT ROWID;

-- The last comparison of rating systems.
CREATE TABLE systems_report (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    settings    TEXT    NOT NULL,   -- the configuration that it was made with
    matches     INTEGER NOT NULL,   -- how many matches there were
    computed_at INTEGER NOT NULL,
    report      TEXT    NOT NULL    -- as JSON
) STRICT;

-- The queue. A ticket in a final state (matched, cancelled, expired) is removed a day after it got there, and a match
-- with its last ticket.
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
-- The first digits of a number are those of its partition, whose tickets one daemon knows.
CREATE UNIQUE INDEX tickets_once ON tickets (owner, ticket, number >> 40);

-- What a round searched among, so that its matches can be found again. A pool is removed with the last
-- of its matches, and at the latest once there are 1,000 newer ones.
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

-- The parts of the queues, each of which one daemon runs at a time. The numbers of their tickets are
-- (slot << 40) + 1 and so on.
CREATE TABLE partitions (
    name TEXT    PRIMARY KEY,          -- as the configuration names it
    slot INTEGER NOT NULL UNIQUE
) STRICT;
INSERT INTO partitions (name, slot) VALUES ('main', 0);

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
    draining INTEGER NOT NULL DEFAULT 0 CHECK (draining IN (0, 1)), -- set by an operator
    partition INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The matches for which an instance that is away must be sent CLOSE when it comes back.
CREATE TABLE owed_closes (
    instance TEXT    NOT NULL,
    match_id INTEGER NOT NULL,
    why      TEXT    NOT NULL,
    PRIMARY KEY (instance, match_id)
) STRICT, WITHOUT ROWID;

-- What game servers report about players' behaviour, and how often players did not come to a match.
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

-- Counts the changes of the table above, so that a daemon notices those of other processes.
CREATE TABLE behaviour_changes (changes INTEGER NOT NULL) STRICT;
INSERT INTO behaviour_changes VALUES (0);

-- Webhooks: the events that are to be sent. Triggers write them in the transaction of what they report,
-- whichever process commits it.

-- The webhooks of the daemon's configuration. Without one, no event is written.
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

-- An event has no content: it is read from the rows that it names when it is sent.
CREATE TABLE webhook_events (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT    NOT NULL DEFAULT ('evt_' || lower(hex(randomblob(12)))),
    kind     TEXT    NOT NULL CHECK (kind IN ('formed', 'hosted', 'recorded')),
    match_id INTEGER NOT NULL,
    at       INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
    address  TEXT                           -- of the instance, if the match is hosted
) STRICT;

-- Bounds the table even if no daemon runs. The daemon notices the gap, and counts it as dropped.
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

-- A match is hosted once its players can connect. The row is replaced whenever it changes: before that, the
-- old one is still there.
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

-- Several daemons, and several databases.

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

-- Has a row once `evenkeel migrate-store` has moved the content of this database to another one. Nothing opens it then.
CREATE TABLE moved (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    place TEXT NOT NULL                -- the other database: a path, or an address without its password
) STRICT;

-- Views, for people with sqlite3. Times in them are dates in UTC.

-- The division as it is displayed now: lower than the one reached for players who have long been away.
CREATE VIEW displayed_ranks AS
SELECT ruleset, kind, player,
       min(division, CAST(position AS INTEGER)) AS division,
       position - min(division, CAST(position AS INTEGER)) AS progress
FROM (
    SELECT w.ruleset, w.kind, w.player, w.division,
           max(0, w.division + w.progress - CASE d.decay_days WHEN 0 THEN 0 ELSE max(0,
               (julianday('now') - 2440587.5 - w.last_seen / 86400000.0 - d.decay_after_days) / d.decay_days)
           END) AS position
    FROM weights w JOIN divisions d ON d.division = w.division
);

CREATE VIEW leaderboard AS
SELECT
    w.ruleset,
    w.kind,
    rank() OVER (PARTITION BY w.ruleset, w.kind ORDER BY w.weight DESC) AS place,
    w.name,
    w.player,
    round(w.weight, 3) AS weight,
    round(w.deviation, 3) AS deviation,
    w.games,
    datetime(w.last_seen / 1000, 'unixepoch') AS last_seen,
    d.name AS division,
    round(r.progress, 3) AS progress,
    round(w.side_0, 3) AS side_0,
    round(w.side_1, 3) AS side_1,
    round(w.commander, 3) AS commander,
    (SELECT s.season FROM seasons s WHERE s.starts_at <= w.last_seen ORDER BY s.starts_at DESC LIMIT 1) AS season
FROM weights w
LEFT JOIN displayed_ranks r ON r.ruleset = w.ruleset AND r.kind = w.kind AND r.player = w.player
LEFT JOIN divisions d ON d.division = r.division
ORDER BY w.ruleset, w.kind DESC, place, w.player;

-- The outcome is the player's own: in a match that a team has won, whether it was the team that the player was
-- on for longest. NULL for players who were on no team.
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
    (SELECT group_concat(team, ' ')
       FROM (SELECT DISTINCT s.team FROM presence s
              WHERE s.match_id = m.id AND s.seat = p.seat ORDER BY s.stay)) AS teams,
    round((SELECT total(s.to_ms - s.from_ms) FROM presence s
            WHERE s.match_id = m.id AND s.seat = p.seat) / 60000.0, 2) AS minutes,
    (SELECT group_concat(printf('%.15g', round(score, 1) + 0.0), ':')
       FROM (SELECT score FROM match_teams WHERE match_id = m.id ORDER BY team)) AS score,
    f.points_for,
    f.points_against,
    p.points,
    p.kills,
    p.deaths,
    CASE m.outcome WHEN 'won' THEN
        (SELECT CASE WHEN s.team = m.winner THEN 'won' ELSE 'lost' END FROM presence s
          WHERE s.match_id = m.id AND s.seat = p.seat
          GROUP BY s.team ORDER BY sum(s.to_ms - s.from_ms) DESC, max(s.to_ms) DESC LIMIT 1)
    ELSE m.outcome END AS outcome,
    m.winner,
    r.unrated,
    (SELECT s.season FROM seasons s WHERE s.starts_at <= m.ended_at ORDER BY s.starts_at DESC LIMIT 1) AS season
FROM participants p
JOIN matches m ON m.id = p.match_id
LEFT JOIN rulings r ON r.match_id = m.id
LEFT JOIN performances f ON f.match_id = p.match_id AND f.seat = p.seat
ORDER BY m.ended_at, m.fingerprint, p.seat;

CREATE VIEW match_report AS
SELECT
    m.id AS match_id,
    datetime(m.started_at / 1000, 'unixepoch') AS started,
    round((m.ended_at - m.started_at) / 60000.0, 2) AS minutes,
    m.server,
    m.map,
    m.mode,
    r.ruleset,
    (SELECT group_concat(mutator, ' ')
       FROM (SELECT mutator FROM match_mutators WHERE match_id = m.id ORDER BY mutator)) AS mutators,
    (SELECT group_concat(printf('%.15g', round(score, 1) + 0.0), ':')
       FROM (SELECT score FROM match_teams WHERE match_id = m.id ORDER BY team)) AS score,
    m.outcome,
    m.winner,
    coalesce(m.humans, (SELECT count(*) FROM participants WHERE match_id = m.id AND kind = 'human')) AS humans,
    coalesce(m.bots, (SELECT count(*) FROM participants WHERE match_id = m.id AND kind = 'bot')) AS bots,
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
    (SELECT CASE WHEN m.outcome <> 'won' OR max(score) > min(score) THEN max(score) - min(score) END
       FROM match_teams WHERE match_id = m.id) AS gap,
    CASE WHEN kp.match_id IS NULL THEN 0 ELSE 1 END AS picked
FROM matches m
LEFT JOIN rulings r ON r.match_id = m.id
LEFT JOIN match_chances kp ON kp.match_id = m.id AND kp.step = 0
    AND (kp.ruleset IS NULL OR r.ruleset IS NULL OR kp.ruleset = r.ruleset)
LEFT JOIN match_chances ks ON ks.match_id = m.id AND ks.step = 1
ORDER BY m.ended_at, m.fingerprint;

-- Each player of a match, on each team that the player was on.
CREATE VIEW match_players AS
SELECT
    s.match_id,
    s.team,
    t.score,
    CASE WHEN m.outcome <> 'won' THEN m.outcome WHEN s.team = m.winner THEN 'won' ELSE 'lost' END AS outcome,
    p.kind,
    p.player,
    p.name,
    round((SELECT total(o.to_ms - o.from_ms) FROM presence o
            WHERE o.match_id = s.match_id AND o.seat = s.seat AND o.team = s.team) / 60000.0, 2) AS minutes,
    p.points,
    p.kills,
    p.deaths
FROM presence s
JOIN participants p ON p.match_id = s.match_id AND p.seat = s.seat
JOIN matches m ON m.id = s.match_id
LEFT JOIN match_teams t ON t.match_id = s.match_id AND t.team = s.team
WHERE NOT EXISTS (SELECT 1 FROM presence e
                   WHERE e.match_id = s.match_id AND e.seat = s.seat AND e.team = s.team AND e.stay < s.stay)
ORDER BY s.match_id, s.team, s.seat;

-- The weight of each player after each rated match.
CREATE VIEW weight_history AS
SELECT
    r.ruleset,
    o.kind,
    o.player,
    p.name,
    f.match_id,
    datetime(f.ended_at / 1000, 'unixepoch') AS ended,
    round(f.weight, 3) AS weight,
    round(f.deviation, 3) AS deviation
FROM performances f
JOIN persons o ON o.person = f.person
JOIN rulings r ON r.match_id = f.match_id
JOIN participants p ON p.match_id = f.match_id AND p.seat = f.seat
WHERE f.weight IS NOT NULL
ORDER BY f.ended_at, f.match_id, f.seat;

-- The course of each match's chances.
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
LEFT JOIN participants p ON p.match_id = k.match_id AND p.seat = k.seat
WHERE k.ruleset IS NULL OR r.ruleset IS NULL OR k.ruleset = r.ruleset
ORDER BY k.match_id, k.step;

-- How close matches were is counted by their outcomes, and by their scores only where they have some: a match that a
-- team has won with the same score as all others has none. A draw is half a win in the predictions, and a coin's brier
-- is 0.25 without draws.
CREATE VIEW balance_report AS
SELECT
    ruleset,
    count(*) AS matches,
    CASE WHEN sum(gap) > 0 OR count(gap) = count(*) THEN round(avg(gap), 3) END AS mean_gap,
    round(avg(outcome = 'draw'), 3) AS share_draws,
    CASE WHEN sum(gap) > 0 OR count(gap) = count(*)
         THEN round(avg(CASE WHEN gap IS NOT NULL THEN low = 0 AND gap >= 3 END), 3) END AS share_shutouts,
    round(avg(winner = 0), 3) AS share_team_0_wins,
    round(avg(CASE WHEN won <> 0.5 THEN (forecast >= 0.5) = (won > 0.5) END), 3) AS share_favourite_wins,
    round(avg(minutes), 2) AS mean_minutes,
    count(picked * won) AS predicted,
    round(avg(picked + 0 * won), 3) AS predicted_team_0_wins,
    round(avg(won + 0 * picked), 3) AS happened_team_0_wins,
    round(avg((picked - won) * (picked - won)), 4) AS brier
FROM (
    SELECT
        r.ruleset,
        m.outcome,
        m.winner,
        r.chance AS forecast,
        (m.ended_at - m.started_at) / 60000.0 AS minutes,
        (SELECT CASE WHEN m.outcome <> 'won' OR max(score) > min(score) THEN max(score) - min(score) END
           FROM match_teams WHERE match_id = m.id) AS gap,
        (SELECT min(score) FROM match_teams WHERE match_id = m.id) AS low,
        k.chance AS picked,
        CASE m.outcome WHEN 'won' THEN m.winner = 0 WHEN 'draw' THEN 0.5 END AS won
    FROM matches m
    JOIN rulings r ON r.match_id = m.id
    LEFT JOIN match_chances k ON k.match_id = m.id AND k.step = 0 AND (k.ruleset IS NULL OR k.ruleset = r.ruleset)
    WHERE r.unrated IS NULL AND EXISTS (SELECT 1 FROM match_teams WHERE match_id = m.id)
)
GROUP BY ruleset
ORDER BY ruleset;

-- The same by week, and by map: of the rated matches with teams. The predictions are forecasts.
CREATE VIEW balance_by_week AS
SELECT
    ruleset,
    date(week * 604800 - 259200, 'unixepoch') AS week,
    matches,
    CASE WHEN gap > 0 OR scored = matches THEN round(gap / nullif(scored, 0), 3) END AS mean_gap,
    round(1.0 * draws / matches, 3) AS share_draws,
    round(1.0 * first_won / nullif(decided, 0), 3) AS share_team_0_wins,
    predicted,
    round(1.0 * favoured / nullif(predicted_won, 0), 3) AS share_favourite_wins,
    round(brier / nullif(predicted, 0), 4) AS brier,
    round(minutes / matches, 2) AS mean_minutes
FROM balance_weeks
WHERE matches > 0
ORDER BY ruleset, balance_weeks.week;

CREATE VIEW balance_by_map AS
SELECT
    ruleset,
    map,
    sum(matches) AS matches,
    CASE WHEN sum(gap) > 0 OR sum(scored) = sum(matches) THEN round(sum(gap) / nullif(sum(scored), 0), 3) END AS mean_gap,
    round(1.0 * sum(draws) / sum(matches), 3) AS share_draws,
    round(1.0 * sum(first_won) / nullif(sum(decided), 0), 3) AS share_team_0_wins,
    sum(predicted) AS predicted,
    round(1.0 * sum(favoured) / nullif(sum(predicted_won), 0), 3) AS share_favourite_wins,
    round(sum(brier) / nullif(sum(predicted), 0), 4) AS brier,
    round(sum(minutes) / sum(matches), 2) AS mean_minutes
FROM balance_maps
WHERE matches > 0
GROUP BY ruleset, map
ORDER BY ruleset, sum(balance_maps.matches) DESC, map;

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
    (SELECT CASE WHEN m.outcome <> 'won' OR max(score) > min(score) THEN max(score) - min(score) END
       FROM match_teams WHERE match_id = m.id) AS gap,
    CASE WHEN d.kind = 'balance'
          AND d.id = (SELECT max(b.id) FROM decisions b
                       WHERE b.match_id = m.id AND b.kind = 'balance' AND b.made_at <= m.started_at)
         THEN 1 ELSE 0 END AS picked
FROM decisions d
LEFT JOIN matches m ON m.id = d.match_id
ORDER BY d.id;

-- Each hosted match with its players, how long its oldest ticket waited, and its result. Once a match is recorded, it
-- has its chance as picked here, too: the game server may have picked other teams.
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

-- Each queue of the last day: how many tickets are in each state, and how long they have waited. Players who are in a
-- hosted match do not wait any more.
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
