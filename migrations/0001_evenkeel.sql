-- All tables and views of Evenkeel, for both databases: the room `store` makes the text of each from this one.
--
-- ID is a number that the database gives and never gives again, and TIME a time of day in UTC as text, such as
-- 2026-11-20 15:28:36 or 2026-11-20 15:28:36.250. A NAME is that of a ruleset or a game type: SQLite compares it without
-- case, and rulesets are in lower case. What follows a line --sqlite, --postgres or --both is for these only.
--
-- On PostgreSQL, text is compared byte by byte as in SQLite, so that all lists have the same order. The name of a ruleset
-- may be longer than what an index can hold there: rows are found by its hash.

--postgres
-- The functions of SQLite that the queries and views use.
CREATE FUNCTION instr(whole TEXT, part TEXT) RETURNS BIGINT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
$$ SELECT CAST(strpos(whole, part) AS BIGINT) $$;
CREATE FUNCTION json_array_length(list TEXT) RETURNS INT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
$$ SELECT json_array_length(CAST(list AS JSON)) $$;
CREATE FUNCTION round(number DOUBLE PRECISION, digits INT) RETURNS DOUBLE PRECISION
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
$$ SELECT CAST(round(CAST(number AS NUMERIC), digits) AS DOUBLE PRECISION) $$;
CREATE FUNCTION min(one DOUBLE PRECISION, other DOUBLE PRECISION) RETURNS DOUBLE PRECISION
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT least(one, other) $$;
CREATE FUNCTION max(one DOUBLE PRECISION, other DOUBLE PRECISION) RETURNS DOUBLE PRECISION
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT greatest(one, other) $$;
CREATE FUNCTION julianday(at TEXT) RETURNS DOUBLE PRECISION LANGUAGE sql STABLE STRICT PARALLEL SAFE AS
$$ SELECT CAST(extract(epoch FROM CASE at WHEN 'now' THEN now() ELSE CAST(at || '+00' AS TIMESTAMPTZ) END) / 86400
               AS DOUBLE PRECISION) + 2440587.5 $$;
-- The time on the clock of the server, plus so many milliseconds; and how many milliseconds after 1970 a time is.
CREATE FUNCTION clock(later BIGINT DEFAULT 0) RETURNS TEXT LANGUAGE sql VOLATILE AS
$$ SELECT replace(to_char((clock_timestamp() + later * INTERVAL '1 millisecond') AT TIME ZONE 'UTC',
                          'YYYY-MM-DD HH24:MI:SS.MS'), '.000', '') COLLATE "C" $$;
CREATE FUNCTION millis(at TEXT) RETURNS BIGINT LANGUAGE sql STABLE STRICT AS
$$ SELECT CAST(round(extract(epoch FROM CAST(at || '+00' AS TIMESTAMPTZ)) * 1000) AS BIGINT) $$;
-- Events of webhooks get their numbers in the order in which they can be read.
CREATE FUNCTION one_event_at_a_time() RETURNS void LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(1163283278) $$;
--both

-- The ground truth: finished matches. A match is one row with its record: a line of the interchange format, deflated
-- (`record` in the store). The other columns repeat what lists and people look for.
CREATE TABLE matches (
    id ID,
    fingerprint BLOB NOT NULL UNIQUE CHECK (length(fingerprint) = 16),
    started_at TIME NOT NULL,
    ended_at TIME NOT NULL CHECK (ended_at >= started_at),
    untimed BOOLEAN NOT NULL, -- its length is not known
    server TEXT NOT NULL,
    client TEXT NOT NULL, -- which has brought it: a game server, a client over HTTP, 'ingest', 'follow' or 'history'; or ''
    map TEXT NOT NULL,
    game_type NAME NOT NULL, -- as the game names it
    mutators TEXT NOT NULL, -- all of them, as the game names them, with spaces between them
    mode TEXT NOT NULL, -- league, region or playlist; empty if there is none
    outcome TEXT NOT NULL CHECK (outcome IN ('won', 'draw', 'undecided', 'abandoned')),
    winner INTEGER CHECK ((winner IS NOT NULL) = (outcome = 'won')), -- a team, counted from 0
    scores TEXT, -- of each team, as '3:1', or '-:-' if they are not known; NULL in a game without teams
    gap REAL, -- between the highest and the lowest score; NULL if they are not known
    humans INTEGER NOT NULL, -- how many took part
    bots INTEGER NOT NULL,
    record BLOB NOT NULL,
    too_many_new TEXT, -- whose share of new rulesets and players was used up, as 'client NAME' or 'address ADDRESS': not rated
    reported_at TIME, -- when its client has recorded it over HTTP; NULL otherwise
    game INTEGER, -- the number of the running game that it was; NULL if none was followed
--sqlite
    xid INTEGER -- for PostgreSQL
--postgres
    xid INTEGER DEFAULT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT) -- the transaction that wrote it
--both
);
CREATE INDEX matches_in_order ON matches (ended_at, fingerprint);
CREATE INDEX matches_by_map ON matches (map, ended_at);
CREATE INDEX matches_by_server ON matches (server, ended_at);
CREATE UNIQUE INDEX matches_by_game ON matches (game) WHERE game IS NOT NULL;
CREATE INDEX matches_too_many_new ON matches (too_many_new, ended_at, fingerprint) WHERE too_many_new IS NOT NULL;
--postgres
CREATE INDEX matches_by_xid ON matches (xid);
ALTER TABLE matches ALTER COLUMN record SET STORAGE EXTERNAL; -- it cannot be compressed again
--both

-- Who was in which match. There is no index of players: it would take as much room as the matches, and only commands look for
-- somebody in all of them.
CREATE TABLE match_players (
    match_id INTEGER NOT NULL,
    seat INTEGER NOT NULL, -- the place in the record, from 0
    kind TEXT NOT NULL CHECK (kind IN ('human', 'bot')),
    player TEXT NOT NULL CHECK (player <> ''),
    name TEXT NOT NULL,
    team INTEGER, -- the one that the player was on for longest; NULL without teams
    share REAL NOT NULL, -- of the match that the player was there, 0 to 1
    points REAL,
    kills INTEGER NOT NULL,
    deaths INTEGER NOT NULL,
    PRIMARY KEY (match_id, seat)
) WITHOUT ROWID;

-- Matches whose logs contain them in two halves, or twice: the fingerprints of the others.
CREATE TABLE match_halves (
    fingerprint BLOB NOT NULL PRIMARY KEY CHECK (length(fingerprint) = 16),
    match_id INTEGER NOT NULL REFERENCES matches (id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX match_halves_by_match ON match_halves (match_id);

-- Which archived log contains which match.
CREATE TABLE log_matches (
    log BLOB NOT NULL CHECK (length(log) = 16),
    match_id INTEGER NOT NULL REFERENCES matches (id) ON DELETE CASCADE,
    PRIMARY KEY (log, match_id)
) WITHOUT ROWID;
CREATE INDEX log_matches_by_match ON log_matches (match_id);

-- What was predicted of the teams of a match.
CREATE TABLE match_chances (
    match_id INTEGER NOT NULL,
    step INTEGER NOT NULL, -- 0: as picked; 1: as started; then one for each change, in order
    cause TEXT NOT NULL CHECK (cause IN
                  ('picked', 'started', 'join', 'leave', 'place', 'move', 'auto-move', 'balance')),
    at_ms INTEGER, -- since the start of play; NULL as picked
    seat INTEGER, -- who changed; NULL for all, and for a player who is not in the record
    from_team INTEGER, -- NULL for no team
    to_team INTEGER, -- NULL for no team
    chance REAL CHECK (chance BETWEEN 0 AND 1), -- that team 0 wins; NULL if nothing was predicted
    chances TEXT, -- with more than two teams: of each, as '0.5 v 0.3 v 0.2'
    humans TEXT, -- on each team, as '7 v 6'; NULL if it is not known
    bots TEXT,
    ruleset NAME, -- for which a queue has predicted; NULL otherwise
    PRIMARY KEY (match_id, step)
) WITHOUT ROWID;
CREATE INDEX match_chances_picked ON match_chances (match_id) WHERE cause = 'picked';

-- Under which keys clients have reported matches over HTTP, and what they were answered.
CREATE TABLE receipts (
    client TEXT NOT NULL,
    key TEXT NOT NULL,
    body BLOB NOT NULL, -- a hash of what was sent under the key
    match_id INTEGER NOT NULL,
    unrated TEXT, -- why the match was not rated, as the first answer stated it
    made_at TIME NOT NULL,
    PRIMARY KEY (client, key)
) WITHOUT ROWID;
CREATE INDEX receipts_by_time ON receipts (made_at);

-- What an operator has said. Like the matches, it is never computed.
CREATE TABLE voided_fingerprints (
    fingerprint BLOB NOT NULL PRIMARY KEY CHECK (length(fingerprint) = 16)
) WITHOUT ROWID;
CREATE TABLE merged_players (
    kind TEXT NOT NULL CHECK (kind IN ('human', 'bot')),
    player TEXT NOT NULL CHECK (player <> ''),
    into_player TEXT NOT NULL CHECK (into_player <> '' AND into_player <> player),
    automatic BOOLEAN NOT NULL DEFAULT FALSE, -- by the configuration, such as the tags of clans
    PRIMARY KEY (kind, player)
) WITHOUT ROWID;

-- A row stays as long as one of its columns says something.
CREATE TABLE player_settings (
    kind TEXT NOT NULL CHECK (kind IN ('human', 'bot')),
    player TEXT NOT NULL CHECK (player <> ''),
    pinned_weight REAL CHECK (pinned_weight BETWEEN 0 AND 100), -- the player's weight, whatever was learned
    start_weight REAL CHECK (start_weight BETWEEN 0 AND 100), -- before the first match
    start_uncertain BOOLEAN CHECK ((start_uncertain IS NULL) = (start_weight IS NULL)),
    hidden BOOLEAN NOT NULL DEFAULT FALSE, -- pages do not show the player
    PRIMARY KEY (kind, player)
) WITHOUT ROWID;

-- Players who were forgotten in the last two days: games that were running then are recorded without them.
CREATE TABLE forgotten_lately (
    handle TEXT NOT NULL PRIMARY KEY, -- a keyed hash of kind and identity
    instead TEXT NOT NULL, -- the identity that they have in their matches
    at TIME NOT NULL, -- when they were forgotten
    kind TEXT CHECK (kind IN ('human', 'bot')), -- who it is, as long as other rows contain the player; then NULL
    player TEXT CHECK (player <> ''),
    CHECK ((player IS NULL) = (kind IS NULL))
) WITHOUT ROWID;

-- What is kept once for the whole database, each under its name.
CREATE TABLE state (
    name TEXT PRIMARY KEY,
    number INTEGER,
    text TEXT
) WITHOUT ROWID;
INSERT INTO state (name, number, text) VALUES
    ('player_changes', 0, NULL), -- counts the changes of what an operator has said
    ('forgotten', 0, NULL), -- the number of the last change that forgot a player
    ('corrected', 0, ''), -- the number of the last change that corrected history, and what it was
    ('behaviour_changes', 0, NULL), -- counts the changes of reports about behaviour
--sqlite
    ('matches', 0, NULL), -- how many there are, which triggers count: to count the rows takes long
    ('handle_key', NULL, lower(hex(randomblob(32)))); -- the secret of the players' handles in addresses of pages
CREATE TRIGGER match_counted AFTER INSERT ON matches BEGIN
    UPDATE state SET number = number + 1 WHERE name = 'matches';
END;
CREATE TRIGGER match_deleted AFTER DELETE ON matches BEGIN
    UPDATE state SET number = number - 1 WHERE name = 'matches';
END;
--postgres
    ('handle_key', NULL, encode(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
                                       || uuid_send(gen_random_uuid())), 'hex'));
--both

-- Derived: a pure function of the tables above and the configuration; `evenkeel rebuild` makes it again.
CREATE TABLE rulings (
    match_id INTEGER PRIMARY KEY REFERENCES matches (id) ON DELETE CASCADE,
    ruleset NAME NOT NULL, -- game type and gameplay mutators
    unrated TEXT, -- why the match is not rated; NULL when it is
    chance REAL CHECK (chance BETWEEN 0 AND 1), -- predicted from earlier matches, that team 0 wins
    ended_at TIME,
    causes INTEGER -- what may have made it uneven: a bit for each
);
--sqlite
CREATE INDEX rulings_by_ruleset ON rulings (ruleset, ended_at);
CREATE INDEX rulings_caused ON rulings (ruleset, ended_at, causes, unrated, chance) WHERE causes > 0;
--postgres
CREATE INDEX rulings_by_end ON rulings (ended_at);
CREATE INDEX rulings_by_ruleset ON rulings USING hash (ruleset);
CREATE INDEX rulings_caused ON rulings (ended_at) WHERE causes > 0;
--both

-- What a rated match has entered into the account of a player.
CREATE TABLE performances (
    match_id INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    points_for REAL, -- NULL if the scores are not known
    points_against REAL,
    person INTEGER,
    ended_ms INTEGER, -- when the match ended, in milliseconds since 1970: the order of a person's matches
    team INTEGER, -- the one that the player was on for longest
    result REAL, -- 1 won, 0.5 draw, 0 lost; NULL without a result
    weight REAL, -- after the match
    deviation REAL,
    weight_before REAL,
    cause TEXT, -- why it is what it is
    PRIMARY KEY (match_id, seat)
) WITHOUT ROWID;
CREATE INDEX performances_by_person ON performances (person, ended_ms);

-- Players who are in rated matches, with the handles that pages show.
CREATE TABLE persons (
    person ID,
    kind TEXT NOT NULL CHECK (kind IN ('human', 'bot')),
    player TEXT NOT NULL CHECK (player <> ''),
    handle TEXT NOT NULL UNIQUE,
    UNIQUE (kind, player)
);

-- The weight of each player under each ruleset, after the player's last match there.
CREATE TABLE weights (
    ruleset NAME NOT NULL,
    game_type NAME NOT NULL,
    mutators TEXT NOT NULL, -- those that affect play, with spaces between them
    kind TEXT NOT NULL CHECK (kind IN ('human', 'bot')),
    player TEXT NOT NULL,
    name TEXT NOT NULL, -- in the latest match
    plain TEXT NOT NULL, -- the name without colours in lower case, for searches
    weight REAL NOT NULL,
    deviation REAL NOT NULL, -- a standard deviation; 0 where the system has none
    division INTEGER CHECK (division >= 0),
    games INTEGER NOT NULL, -- rated matches
    wins INTEGER NOT NULL, -- of these
    last_seen TIME NOT NULL, -- the end of the last of them
--sqlite
    pinned BOOLEAN NOT NULL, -- an operator has set the weight
    PRIMARY KEY (ruleset, kind, player)
) WITHOUT ROWID;
--postgres
    pinned BOOLEAN NOT NULL
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX weights_once ON weights (player, kind, md5(ruleset));
CREATE INDEX weights_by_ruleset ON weights USING hash (ruleset);
--sqlite
CREATE INDEX weights_by_player ON weights (player, kind);
--both

-- The divisions of each ruleset in which somebody has one.
CREATE TABLE divisions (
    ruleset NAME NOT NULL,
    division INTEGER NOT NULL, -- 0 is the lowest
    name TEXT NOT NULL,
    low REAL NOT NULL, -- the weights at which the progress is 0 and 1
    high REAL NOT NULL,
    decay_after_days INTEGER NOT NULL, -- days without a match after which the displayed division falls
--sqlite
    decay_days INTEGER NOT NULL, -- by one in so many days; 0: never
    PRIMARY KEY (ruleset, division)
) WITHOUT ROWID;
--postgres
    decay_days INTEGER NOT NULL
);
CREATE UNIQUE INDEX divisions_once ON divisions (md5(ruleset), division);
--both

CREATE TABLE seasons (
    starts_at TIME PRIMARY KEY,
    season TEXT NOT NULL -- its date, with the time of day unless that is midnight
);

-- Whose weight was counted again because history was corrected.
CREATE TABLE recounts (
    ruleset NAME NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('human', 'bot')),
    player TEXT NOT NULL,
    recounted_at TIME NOT NULL,
    cause TEXT NOT NULL, -- what was corrected
    weight_then REAL NOT NULL, -- after the same match, as it was counted before and as it is counted now
--sqlite
    weight_now REAL NOT NULL,
    PRIMARY KEY (player, kind, ruleset, recounted_at)
) WITHOUT ROWID;
--postgres
    weight_now REAL NOT NULL
);
CREATE UNIQUE INDEX recounts_once ON recounts (player, kind, md5(ruleset), recounted_at);
--both

-- The decisions of running games.
CREATE TABLE decisions (
    id ID,
    made_at TIME NOT NULL,
    server TEXT NOT NULL,
    ruleset NAME NOT NULL,
    game INTEGER NOT NULL, -- a number shared by all decisions of one game
    match_id INTEGER, -- what became of it, once known
    kind TEXT NOT NULL, -- balance, place, advantage, rebalance, auto-balance
    seed TEXT NOT NULL, -- 64 bits without a sign
    chance REAL, -- the predicted chance that team 0 wins, where there is one
    decision TEXT NOT NULL -- JSON: the question, the seed and the answer
);
CREATE INDEX decisions_by_game ON decisions (game);
CREATE INDEX decisions_by_match ON decisions (match_id) WHERE match_id IS NOT NULL;

-- Experiments: which of two policies has picked the teams of each game.
CREATE TABLE experiments (
    number ID,
    began_at TIME NOT NULL,
    ended_at TIME, -- NULL as long as it goes on
    why_ended TEXT,
    ruleset NAME NOT NULL,
    settings TEXT NOT NULL, -- the two policies with all that they inherit, the share and the outcome, as JSON
    one_sided REAL NOT NULL, -- a result is one-sided if the second score is at most this share of the first
    secret BLOB NOT NULL CHECK (length(secret) = 32) -- the key from which the arms follow
);

-- Each game of an experiment, and the arm that was drawn for it.
CREATE TABLE drawn_arms (
    experiment INTEGER NOT NULL,
    asker TEXT NOT NULL, -- 'server NAME', or 'client NAME' over HTTP
    people BLOB NOT NULL, -- a hash of those whom a client asks about; empty for the games of a server
    number INTEGER NOT NULL, -- counts the games of the server, or the recorded results of these people
    arm TEXT NOT NULL CHECK (arm IN ('a', 'b')),
    drawn_at TIME NOT NULL,
    known TEXT NOT NULL, -- what was known of the players before the arm was drawn: numbers, as JSON
    game INTEGER NOT NULL UNIQUE, -- the number that the decisions of the game have
    match_id INTEGER, -- of a result over HTTP; matches of servers have the number of the game
    changed BOOLEAN NOT NULL, -- whether play began with other teams than the policy had picked
    PRIMARY KEY (experiment, asker, people, number)
);
CREATE INDEX drawn_arms_by_match ON drawn_arms (match_id) WHERE match_id IS NOT NULL;

-- Queues, and what they host.
CREATE TABLE tickets (
    number INTEGER PRIMARY KEY, -- the order in which tickets were submitted
    owner TEXT NOT NULL, -- the name that the client gave in HELLO
    ticket TEXT NOT NULL, -- the client's own id
    queue TEXT NOT NULL,
    players TEXT NOT NULL, -- a JSON array of identities
    content TEXT NOT NULL, -- what was stated, as JSON
    submitted_at TIME NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'proposed', 'hosted', 'called', 'matched',
                                                   'cancelled', 'expired')),
    match_id INTEGER CHECK ((match_id IS NOT NULL) = (state IN ('proposed', 'hosted', 'called', 'matched'))),
    reason TEXT NOT NULL, -- why it has this state
    changed_at TIME NOT NULL,
    announced BOOLEAN NOT NULL -- whether the client was sent this state
);
CREATE UNIQUE INDEX tickets_once ON tickets (owner, ticket, (number >> 40));
CREATE INDEX tickets_unannounced ON tickets (owner, number) WHERE NOT announced;
CREATE INDEX tickets_waiting ON tickets (queue, submitted_at) WHERE state = 'queued';

CREATE TABLE ticket_players (
    player TEXT NOT NULL,
    queue_group TEXT NOT NULL, -- empty for the queues of the partition without a group
    partition INTEGER NOT NULL, -- the number that stands for it, as in the numbers of its tickets
    ticket INTEGER NOT NULL, -- its number
    PRIMARY KEY (player, queue_group, partition)
) WITHOUT ROWID;

CREATE TABLE pools (
    pool_id INTEGER PRIMARY KEY, -- the id of the first match that could be formed of it
    queue TEXT NOT NULL,
    settings TEXT NOT NULL, -- the configuration of the queue, as JSON
    seed TEXT NOT NULL,
    effort INTEGER NOT NULL,
    version TEXT NOT NULL, -- the version of Evenkeel that searched
    searched_at TIME NOT NULL, -- the time until which the waits of the tickets count
    tickets TEXT NOT NULL, -- their numbers, as in '3-7 9'
    known TEXT NOT NULL, -- what was known of their players, as JSON
    win_model TEXT -- how strengths become chances, as JSON
);

CREATE TABLE formed_matches (
    match_id INTEGER PRIMARY KEY,
    queue TEXT NOT NULL,
    size INTEGER NOT NULL, -- players that each team should have
    mode TEXT,
    map TEXT,
    penalty REAL NOT NULL,
    chance REAL CHECK (chance BETWEEN 0 AND 1), -- predicted, that team 0 wins
    seed TEXT NOT NULL,
    searched_at TIME NOT NULL, -- the time from which the waits of these tickets count
    formed_at TIME NOT NULL,
    open_until TIME, -- until when players can accept it; NULL once it is final
    pool_id INTEGER, -- NULL if it was too large to store
    why TEXT NOT NULL DEFAULT '[]', -- what each rule found, as a JSON array of lines
    ruleset NAME NOT NULL DEFAULT '', -- whose chance was predicted
    recorded INTEGER, -- the id of the stored match in which these teams played
    partition INTEGER NOT NULL DEFAULT 0
);
--postgres
CREATE INDEX formed_matches_expected ON formed_matches (formed_at) WHERE chance IS NOT NULL AND recorded IS NULL;
--both
CREATE INDEX formed_matches_by_pool ON formed_matches (pool_id) WHERE pool_id IS NOT NULL;
CREATE INDEX formed_matches_by_queue ON formed_matches (queue, match_id);

CREATE TABLE formed_seats (
    match_id INTEGER NOT NULL REFERENCES formed_matches (match_id) ON DELETE CASCADE,
    seat INTEGER NOT NULL,
    team INTEGER NOT NULL, -- counted from 0
    ticket INTEGER NOT NULL, -- number of the ticket
    player TEXT NOT NULL,
    accepted BOOLEAN NOT NULL,
    later BOOLEAN NOT NULL DEFAULT FALSE, -- a seat that was not there when the match was formed
    PRIMARY KEY (match_id, seat)
) WITHOUT ROWID;
CREATE INDEX formed_seats_by_player ON formed_seats (player);

CREATE TABLE queue_hours (
    queue TEXT NOT NULL,
    hour TIME NOT NULL, -- when it began
    matched INTEGER NOT NULL, -- tickets that were matched in this hour
    cancelled INTEGER NOT NULL,
    expired INTEGER NOT NULL,
    waited_ms INTEGER NOT NULL, -- how long the matched tickets waited for their matches, together
    longest_ms INTEGER NOT NULL, -- how long one of them waited at most
    matches INTEGER NOT NULL, -- matches that were formed, and accepted where that is asked
    penalty REAL NOT NULL, -- the sum of their penalties
    unready INTEGER NOT NULL DEFAULT 0, -- matches that not everybody has accepted
    PRIMARY KEY (queue, hour)
) WITHOUT ROWID;

-- The parts of the queues, each of which one daemon runs at a time. The numbers of their tickets are
-- (slot << 40) + 1 and so on.
CREATE TABLE partitions (
    name TEXT PRIMARY KEY, -- as the configuration names it
    slot INTEGER NOT NULL UNIQUE
);
INSERT INTO partitions (name, slot) VALUES ('main', 0);

CREATE TABLE hosted_matches (
    match_id INTEGER PRIMARY KEY,
    queue TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('reserved', 'opening', 'ready', 'joining', 'playing',
                                                   'over', 'failed')),
    since TIME NOT NULL, -- when it got this state
    wait_until TIME NOT NULL, -- until when it may wait for an instance
    instance TEXT,
    address TEXT, -- where its players connect
    game INTEGER, -- the number of the game in its session
    tries INTEGER NOT NULL, -- how many instances were asked
    why TEXT NOT NULL, -- why it left its last instance, or has failed
    passes TEXT NOT NULL, -- a JSON object, player to pass; empty once they are void
    passes_until TIME,
    parted TIME, -- since when no connection has its game, in play
    asked TEXT NOT NULL DEFAULT '{}', -- a JSON object: the number of seats to fill on each team
    -- A JSON object: of each player on the way to the match in play, the team, until when the player may come, and
    -- the ticket, whose players come together.
    coming TEXT NOT NULL DEFAULT '{}',
    roster TEXT, -- a JSON array of [player, team]; NULL before the game server has reported them
    sent_away TEXT NOT NULL DEFAULT '[]', -- a JSON array of players whom it has sent away while on the way
    partition INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX hosted_matches_by_game ON hosted_matches (game);

CREATE TABLE instances (
    name TEXT PRIMARY KEY,
    address TEXT NOT NULL,
    region TEXT,
    slots INTEGER NOT NULL,
    modes TEXT NOT NULL, -- a JSON array; empty for all
    maps TEXT NOT NULL, -- a JSON array; empty for all
    load REAL NOT NULL, -- as it states it, 0 to 1
    used INTEGER NOT NULL, -- slots in use
    away TIME, -- when its connection was lost
    heard_at TIME NOT NULL, -- when it joined, or its load or its matches last changed
    draining BOOLEAN NOT NULL DEFAULT FALSE, -- set by an operator
    partition INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE owed_closes (
    instance TEXT NOT NULL,
    match_id INTEGER NOT NULL,
    why TEXT NOT NULL,
    PRIMARY KEY (instance, match_id)
) WITHOUT ROWID;

CREATE TABLE behaviour (
    player TEXT NOT NULL, -- the identity of a human
    reporter TEXT NOT NULL, -- the game server; '*' where clients prove no name; '' for the daemon itself
    day INTEGER NOT NULL, -- days since 1970 UTC
    at TIME NOT NULL, -- when the last of these reports came
    points REAL NOT NULL, -- their sum, within the limit of a day
    reports INTEGER NOT NULL,
    no_shows INTEGER NOT NULL, -- how often the player was called to a match and did not come
    PRIMARY KEY (player, reporter, day)
) WITHOUT ROWID;
CREATE INDEX behaviour_by_day ON behaviour (day);

-- Pick-up games, links of players to accounts elsewhere, and browsers that are signed in.
CREATE TABLE pickups (
    client TEXT NOT NULL,
    pickup TEXT NOT NULL, -- the client's own name of it
    asked BLOB NOT NULL, -- a hash of what was asked
    channel TEXT NOT NULL, -- where, as the client names it
    stage TEXT NOT NULL CHECK (stage IN ('picked', 'playing', 'recorded', 'void')),
    content TEXT NOT NULL, -- teams, statements and result, as JSON
    made_at TIME NOT NULL,
    changed_at TIME NOT NULL,
    PRIMARY KEY (client, pickup)
) WITHOUT ROWID;
CREATE INDEX pickups_by_time ON pickups (client, made_at);

CREATE TABLE links (
    player TEXT PRIMARY KEY, -- the identity
    into_player TEXT NOT NULL, -- the identity of the player
    client TEXT NOT NULL, -- which has asked
    asked_at TIME NOT NULL,
    confirmed_by TEXT, -- the organiser who has confirmed it, as the client names them
    confirmed_at TIME
) WITHOUT ROWID;

CREATE TABLE sign_ins (
    secret BLOB PRIMARY KEY, -- a hash of the secret in the browser's cookie
    client TEXT NOT NULL,
    token BLOB NOT NULL, -- a hash of the hash of the token: with another token, the client has no sign-ins
    made_at TIME NOT NULL
) WITHOUT ROWID;

-- Webhooks: the events that are to be sent. Triggers write them in the transaction of what they report.
CREATE TABLE webhooks (
    name TEXT PRIMARY KEY,
    kinds TEXT NOT NULL, -- of the events that it is sent, as in 'formed hosted'
    position INTEGER NOT NULL, -- the number of the last event that was sent or dropped
    delivered INTEGER NOT NULL DEFAULT 0, -- how many were sent
    dropped INTEGER NOT NULL DEFAULT 0, -- how many were not
    tries INTEGER NOT NULL DEFAULT 0, -- failed tries of the event that waits
    failed_at TIME, -- when the last try failed; NULL after one that did not
    failure TEXT -- how
);

CREATE TABLE webhook_events (
    number ID,
    kind TEXT NOT NULL CHECK (kind IN ('formed', 'hosted', 'recorded')),
    match_id INTEGER NOT NULL,
    address TEXT, -- of the instance, if the match is hosted
--sqlite
    event_id TEXT NOT NULL DEFAULT ('evt_' || lower(hex(randomblob(12)))),
    at TIME NOT NULL DEFAULT (replace(strftime('%Y-%m-%d %H:%M:%f', 'now'), '.000', ''))
--postgres
    event_id TEXT NOT NULL DEFAULT 'evt_' || substr(encode(sha256(uuid_send(gen_random_uuid())), 'hex'), 1, 24),
    at TIME NOT NULL DEFAULT clock()
--both
);

-- The triggers bound the table even if no daemon runs. A match is formed once no player has to accept it any more, and hosted
-- once its players can connect. Matches of old logs are no news.
--sqlite
CREATE TRIGGER webhook_events_are_bounded AFTER INSERT ON webhook_events BEGIN
    DELETE FROM webhook_events WHERE number <= NEW.number - 20000;
END;
CREATE TRIGGER webhook_formed AFTER INSERT ON formed_matches
WHEN NEW.open_until IS NULL AND EXISTS (SELECT 1 FROM webhooks WHERE instr(kinds, 'formed')) BEGIN
    INSERT INTO webhook_events (kind, match_id) VALUES ('formed', NEW.match_id);
END;
CREATE TRIGGER webhook_accepted AFTER UPDATE OF open_until ON formed_matches
WHEN NEW.open_until IS NULL AND OLD.open_until IS NOT NULL
     AND EXISTS (SELECT 1 FROM webhooks WHERE instr(kinds, 'formed')) BEGIN
    INSERT INTO webhook_events (kind, match_id) VALUES ('formed', NEW.match_id);
END;
CREATE TRIGGER webhook_hosted BEFORE INSERT ON hosted_matches
WHEN NEW.state IN ('ready', 'joining', 'playing') AND NEW.address IS NOT NULL
     AND EXISTS (SELECT 1 FROM webhooks WHERE instr(kinds, 'hosted'))
     AND NOT EXISTS (SELECT 1 FROM hosted_matches old
                      WHERE old.match_id = NEW.match_id AND old.state IN ('ready', 'joining', 'playing')
                        AND old.instance IS NEW.instance AND old.address IS NEW.address) BEGIN
    INSERT INTO webhook_events (kind, match_id, address) VALUES ('hosted', NEW.match_id, NEW.address);
END;
CREATE TRIGGER webhook_recorded AFTER INSERT ON matches
WHEN NEW.ended_at > datetime('now', '-1 day') AND EXISTS (SELECT 1 FROM webhooks WHERE instr(kinds, 'recorded')) BEGIN
    INSERT INTO webhook_events (kind, match_id) VALUES ('recorded', NEW.id);
END;
--postgres
CREATE FUNCTION webhook_events_are_bounded() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM webhook_events WHERE number <= NEW.number - 20000;
    RETURN NEW;
END $$;
CREATE TRIGGER webhook_events_are_bounded AFTER INSERT ON webhook_events
FOR EACH ROW EXECUTE FUNCTION webhook_events_are_bounded();
CREATE FUNCTION webhook_formed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (SELECT 1 FROM webhooks WHERE strpos(kinds, 'formed') > 0) THEN
        PERFORM one_event_at_a_time();
        INSERT INTO webhook_events (kind, match_id) VALUES ('formed', NEW.match_id);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER webhook_formed AFTER INSERT ON formed_matches
FOR EACH ROW WHEN (NEW.open_until IS NULL) EXECUTE FUNCTION webhook_formed();
CREATE TRIGGER webhook_accepted AFTER UPDATE OF open_until ON formed_matches
FOR EACH ROW WHEN (NEW.open_until IS NULL AND OLD.open_until IS NOT NULL) EXECUTE FUNCTION webhook_formed();
CREATE FUNCTION webhook_hosted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (SELECT 1 FROM webhooks WHERE strpos(kinds, 'hosted') > 0)
       AND NOT EXISTS (SELECT 1 FROM hosted_matches known
                        WHERE known.match_id = NEW.match_id AND known.state IN ('ready', 'joining', 'playing')
                          AND known.instance IS NOT DISTINCT FROM NEW.instance
                          AND known.address IS NOT DISTINCT FROM NEW.address) THEN
        PERFORM one_event_at_a_time();
        INSERT INTO webhook_events (kind, match_id, address) VALUES ('hosted', NEW.match_id, NEW.address);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER webhook_hosted BEFORE INSERT ON hosted_matches
FOR EACH ROW WHEN (NEW.state IN ('ready', 'joining', 'playing') AND NEW.address IS NOT NULL)
EXECUTE FUNCTION webhook_hosted();
CREATE FUNCTION webhook_recorded() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.ended_at > clock(-86400000) AND EXISTS (SELECT 1 FROM webhooks WHERE strpos(kinds, 'recorded') > 0) THEN
        PERFORM one_event_at_a_time();
        INSERT INTO webhook_events (kind, match_id) VALUES ('recorded', NEW.id);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER webhook_recorded AFTER INSERT ON matches FOR EACH ROW EXECUTE FUNCTION webhook_recorded();
--both

-- What only one daemon, or one command, may do at a time.
CREATE TABLE leases (
    name TEXT PRIMARY KEY, -- such as 'fold'
    holder TEXT NOT NULL, -- who took it last
    epoch INTEGER NOT NULL,
    ends_at TIME, -- by the clock of the database; NULL: it was given back
    given_back_at TIME,
    settings TEXT -- those of the holder: hashes of the values by key, as JSON
);

--postgres
-- Several daemons: who is alive, and what they ask each other.
CREATE TABLE daemons (
    name TEXT PRIMARY KEY,
    ends_at TIME NOT NULL -- by the clock of the database, unless the daemon gives another sign of life
);

CREATE TABLE requests (
    number ID, -- the order in which a daemon has asked
    partition TEXT NOT NULL, -- the name of the partition whose daemon decides
    daemon TEXT NOT NULL, -- which asks
    key INTEGER NOT NULL, -- its own number of the request
    body TEXT NOT NULL, -- JSON
    answer TEXT, -- JSON; NULL until it is decided
    UNIQUE (daemon, key)
);
CREATE INDEX requests_open ON requests (partition, number) WHERE answer IS NULL;
CREATE INDEX requests_answered ON requests (daemon, number) WHERE answer IS NOT NULL;

CREATE TABLE host_notices (
    number ID,
    daemon TEXT NOT NULL,
    link INTEGER NOT NULL, -- that daemon's number of the connection
    body TEXT NOT NULL -- JSON
);
CREATE INDEX host_notices_by_daemon ON host_notices (daemon, number);

-- How long the tickets of the last matches of a queue have waited.
CREATE TABLE queue_waits (
    queue TEXT PRIMARY KEY,
    median_ms INTEGER NOT NULL
);
--both

-- For people with sqlite3 or psql.

-- Places and divisions as they are now: a division is lower than the one reached for players who have long been away.
CREATE VIEW leaderboard AS
SELECT
    w.ruleset,
    w.kind,
    CASE WHEN w.standing = 'placed' AND NOT w.is_hidden THEN
        rank() OVER (PARTITION BY w.ruleset, w.kind, w.standing, w.is_hidden ORDER BY w.weight - w.deviation DESC)
    END AS place,
    w.name,
    w.player,
    round(w.weight, 3) AS weight,
    round(w.deviation, 3) AS deviation,
    w.games,
    w.wins,
    w.last_seen,
    d.name AS division,
    round(w.rung - d.division, 3) AS progress,
    (SELECT s.season FROM seasons s WHERE s.starts_at <= w.last_seen ORDER BY s.starts_at DESC LIMIT 1) AS season,
    w.standing
FROM (
    SELECT
        w.*,
        CASE WHEN julianday(w.last_seen) < julianday(max(w.last_seen) OVER (PARTITION BY w.ruleset)) - 60 THEN 'away'
             WHEN w.games < 10 OR w.deviation > 15.0 THEN 'placing'
             ELSE 'placed' END AS standing,
        -- Nobody sees who is hidden or was forgotten, and they leave no gap in the places.
        (w.name = '' AND w.player LIKE 'forgotten-%') OR EXISTS (
            SELECT 1 FROM player_settings h WHERE h.kind = w.kind AND h.player = w.player AND h.hidden) AS is_hidden,
        CASE WHEN w.division IS NOT NULL THEN max(0, w.division
            + CASE WHEN d.high > d.low THEN min(max((w.weight - d.low) / (d.high - d.low), 0.0), 1.0) ELSE 0.0 END
            - CASE d.decay_days WHEN 0 THEN 0 ELSE max(0,
                  (julianday('now') - julianday(w.last_seen) - d.decay_after_days) / d.decay_days) END) END AS rung
    FROM weights w
    LEFT JOIN divisions d ON d.ruleset = w.ruleset AND d.division = w.division
) w
LEFT JOIN divisions d ON d.ruleset = w.ruleset AND d.division <= w.division AND d.division <= w.rung
    AND (d.division = w.division OR d.division + 1 > w.rung)
ORDER BY w.ruleset, w.kind DESC, CASE w.standing WHEN 'placed' THEN 0 WHEN 'placing' THEN 1 ELSE 2 END,
    w.weight - w.deviation DESC, w.player;

-- The matches of each player, and what each has done to the weight. A merged player stands under the identity that counts.
CREATE VIEW player_history AS
SELECT
    p.kind,
    coalesce(g.into_player, p.player) AS player,
    p.name,
    m.id AS match_id,
    m.started_at,
    m.ended_at,
    m.server,
    m.map,
    r.ruleset,
    p.team,
    CASE WHEN NOT m.untimed THEN round(p.share * (julianday(m.ended_at) - julianday(m.started_at)) * 1440, 2) END AS minutes,
    m.scores,
    f.points_for,
    f.points_against,
    p.points,
    p.kills,
    p.deaths,
    CASE WHEN m.outcome <> 'won' THEN m.outcome WHEN p.team = m.winner THEN 'won'
         WHEN p.team IS NOT NULL THEN 'lost' END AS outcome,
    r.unrated,
    round(f.weight_before, 3) AS weight_before,
    round(f.weight, 3) AS weight,
    round(f.deviation, 3) AS deviation,
    f.cause,
    (SELECT s.season FROM seasons s WHERE s.starts_at <= m.ended_at ORDER BY s.starts_at DESC LIMIT 1) AS season
FROM match_players p
JOIN matches m ON m.id = p.match_id
LEFT JOIN merged_players g ON g.kind = p.kind AND g.player = p.player
LEFT JOIN rulings r ON r.match_id = m.id
LEFT JOIN performances f ON f.match_id = p.match_id AND f.seat = p.seat
ORDER BY m.ended_at, m.fingerprint, p.seat;

-- The matches with all that is known of how even they were. All chances are that team 0 wins.
CREATE VIEW match_report AS
SELECT
    m.id AS match_id,
    m.started_at,
    m.ended_at,
    CASE WHEN NOT m.untimed THEN round((julianday(m.ended_at) - julianday(m.started_at)) * 1440, 2) END AS minutes,
    m.server,
    m.map,
    m.mode,
    r.ruleset,
    m.mutators,
    m.scores,
    m.gap,
    m.outcome,
    m.winner,
    m.humans,
    m.bots,
    r.unrated,
    CASE WHEN kp.match_id IS NULL THEN 0 ELSE 1 END AS picked, -- by BALANCE or a queue
    round(kp.chance, 3) AS chance_as_picked,
    round(ks.chance, 3) AS chance_as_started,
    round(r.chance, 3) AS forecast,
    (SELECT s.season FROM seasons s WHERE s.starts_at <= m.ended_at ORDER BY s.starts_at DESC LIMIT 1) AS season,
    coalesce((SELECT a.arm FROM drawn_arms a WHERE a.game = m.game),
             (SELECT a.arm FROM drawn_arms a WHERE a.match_id = m.id)) AS arm -- of an experiment
FROM matches m
LEFT JOIN rulings r ON r.match_id = m.id
LEFT JOIN match_chances kp ON kp.match_id = m.id AND kp.step = 0
    AND (kp.ruleset IS NULL OR r.ruleset IS NULL OR kp.ruleset = r.ruleset)
LEFT JOIN match_chances ks ON ks.match_id = m.id AND ks.step = 1
ORDER BY m.ended_at, m.fingerprint;
