-- Ground truth: finished matches as they were told. Nothing in these tables is ever computed from
-- another match. Times of day are milliseconds since 1970 UTC, times in play milliseconds since the
-- start of play, `to_ms` excluded.

CREATE TABLE matches (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    fingerprint BLOB    NOT NULL UNIQUE CHECK (length(fingerprint) = 16),
    server      TEXT    NOT NULL,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER NOT NULL CHECK (ended_at >= started_at),
    log_clock   INTEGER,            -- the log's own clock at the start, where the log has no dates
    map         TEXT    NOT NULL,
    game_type   TEXT    NOT NULL,   -- as the game names it
    mode        TEXT    NOT NULL,   -- league, region or playlist; empty where there is none
    outcome     TEXT    NOT NULL CHECK (outcome IN ('won', 'draw', 'undecided', 'abandoned')),
    winner      INTEGER CHECK ((winner IS NOT NULL) = (outcome = 'won'))
) STRICT;
CREATE INDEX matches_in_order ON matches (ended_at, fingerprint);

CREATE TABLE match_mutators (
    match_id INTEGER NOT NULL REFERENCES matches (id) ON DELETE CASCADE,
    mutator  TEXT    NOT NULL,      -- all of them, as the game names them
    PRIMARY KEY (match_id, mutator)
) STRICT, WITHOUT ROWID;

CREATE TABLE match_teams (
    match_id INTEGER NOT NULL REFERENCES matches (id) ON DELETE CASCADE,
    team     INTEGER NOT NULL,      -- counted from 0; no rows in a game without teams
    score    REAL    NOT NULL,
    PRIMARY KEY (match_id, team)
) STRICT, WITHOUT ROWID;

CREATE TABLE participants (
    match_id INTEGER NOT NULL REFERENCES matches (id) ON DELETE CASCADE,
    seat     INTEGER NOT NULL,
    kind     TEXT    NOT NULL CHECK (kind IN ('human', 'bot')),
    player   TEXT    NOT NULL CHECK (player <> ''),
    name     TEXT    NOT NULL,
    points   REAL,
    kills    INTEGER NOT NULL,
    deaths   INTEGER NOT NULL,
    party    INTEGER,               -- the same number for those who came together
    PRIMARY KEY (match_id, seat),
    UNIQUE (match_id, kind, player)
) STRICT, WITHOUT ROWID;
CREATE INDEX participants_by_player ON participants (player, kind);

CREATE TABLE presence (
    match_id INTEGER NOT NULL,
    seat     INTEGER NOT NULL,
    stay     INTEGER NOT NULL,
    team     INTEGER NOT NULL,
    from_ms  INTEGER NOT NULL,
    to_ms    INTEGER NOT NULL CHECK (to_ms >= from_ms),
    PRIMARY KEY (match_id, seat, stay),
    FOREIGN KEY (match_id, seat) REFERENCES participants (match_id, seat) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE roles (
    match_id INTEGER NOT NULL,
    seat     INTEGER NOT NULL,
    role     TEXT    NOT NULL,      -- commander, say
    team     INTEGER NOT NULL,
    share    REAL    NOT NULL CHECK (share BETWEEN 0 AND 1),
    PRIMARY KEY (match_id, seat, role, team),
    FOREIGN KEY (match_id, seat) REFERENCES participants (match_id, seat) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE score_events (
    match_id INTEGER NOT NULL REFERENCES matches (id) ON DELETE CASCADE,
    seq      INTEGER NOT NULL,
    at_ms    INTEGER NOT NULL,
    team     INTEGER NOT NULL,
    points   REAL    NOT NULL,
    seat     INTEGER,               -- whose doing it was, where the log says
    PRIMARY KEY (match_id, seq),
    FOREIGN KEY (match_id, seat) REFERENCES participants (match_id, seat) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- What an operator said about players. Like the matches, it is never computed.

CREATE TABLE merged_players (
    kind   TEXT NOT NULL CHECK (kind IN ('human', 'bot')),
    player TEXT NOT NULL CHECK (player <> ''),
    into_player TEXT NOT NULL CHECK (into_player <> '' AND into_player <> player),
    PRIMARY KEY (kind, player)
) STRICT, WITHOUT ROWID;

CREATE TABLE pinned_weights (
    kind   TEXT NOT NULL CHECK (kind IN ('human', 'bot')),
    player TEXT NOT NULL CHECK (player <> ''),
    weight REAL NOT NULL CHECK (weight BETWEEN 0 AND 100),
    PRIMARY KEY (kind, player)
) STRICT, WITHOUT ROWID;

-- Counts the changes above, so that what was derived before is known to be old.
CREATE TABLE player_changes (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    changes INTEGER NOT NULL
) STRICT;
INSERT INTO player_changes VALUES (1, 0);

-- Derived: a pure function of the tables above and the configuration; `evenkeel rebuild` makes it anew.

CREATE TABLE rulings (
    match_id INTEGER PRIMARY KEY REFERENCES matches (id) ON DELETE CASCADE,
    ruleset  TEXT    NOT NULL,      -- game type and gameplay mutators
    unrated  TEXT                   -- why the match is not rated; NULL when it is
) STRICT;

CREATE TABLE performances (
    match_id       INTEGER NOT NULL,
    seat           INTEGER NOT NULL,
    points_for     REAL    NOT NULL,
    points_against REAL    NOT NULL,
    PRIMARY KEY (match_id, seat),
    FOREIGN KEY (match_id, seat) REFERENCES participants (match_id, seat) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE weights (
    ruleset   TEXT    NOT NULL,
    kind      TEXT    NOT NULL CHECK (kind IN ('human', 'bot')),
    player    TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    weight    REAL    NOT NULL,
    deviation REAL    NOT NULL,     -- how sure it is: a standard deviation; 0 where the system tells none
    games     INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    PRIMARY KEY (ruleset, kind, player)
) STRICT, WITHOUT ROWID;

CREATE TABLE derived_from (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    matches    INTEGER NOT NULL,    -- how many matches the derived tables know
    last_match INTEGER NOT NULL,    -- the highest of their ids
    settings   TEXT    NOT NULL     -- the configuration they were made with
) STRICT;

-- For people with sqlite3.

CREATE VIEW leaderboard AS
SELECT
    ruleset,
    kind,
    rank() OVER (PARTITION BY ruleset, kind ORDER BY weight DESC) AS place,
    name,
    player,
    round(weight, 3) AS weight,
    round(deviation, 3) AS deviation,
    games,
    datetime(last_seen / 1000, 'unixepoch') AS last_seen
FROM weights
ORDER BY ruleset, kind DESC, place, player;

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
    (SELECT group_concat(CAST(t.score AS INTEGER), ':')
       FROM (SELECT score FROM match_teams WHERE match_id = m.id ORDER BY team) t) AS score,
    f.points_for,
    f.points_against,
    p.points,
    p.kills,
    p.deaths,
    m.outcome,
    m.winner,
    r.unrated
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
    (SELECT group_concat(mutator, ' ') FROM match_mutators WHERE match_id = m.id) AS mutators,
    (SELECT group_concat(CAST(t.score AS INTEGER), ':')
       FROM (SELECT score FROM match_teams WHERE match_id = m.id ORDER BY team) t) AS score,
    m.outcome,
    m.winner,
    (SELECT count(*) FROM participants WHERE match_id = m.id AND kind = 'human') AS humans,
    (SELECT count(*) FROM participants WHERE match_id = m.id AND kind = 'bot') AS bots,
    r.unrated
FROM matches m
LEFT JOIN rulings r ON r.match_id = m.id
ORDER BY m.ended_at, m.fingerprint;

CREATE VIEW balance_report AS
SELECT
    ruleset,
    count(*) AS matches,
    round(avg(gap), 3) AS mean_gap,
    round(avg(gap = 0), 3) AS share_draws,
    round(avg(low = 0 AND gap >= 3), 3) AS share_shutouts,
    round(avg(winner = 0) / nullif(avg(winner IS NOT NULL), 0), 3) AS share_team_0_wins,
    round(avg(minutes), 2) AS mean_minutes
FROM (
    SELECT
        r.ruleset,
        m.winner,
        (m.ended_at - m.started_at) / 60000.0 AS minutes,
        (SELECT max(score) - min(score) FROM match_teams WHERE match_id = m.id) AS gap,
        (SELECT min(score) FROM match_teams WHERE match_id = m.id) AS low
    FROM matches m
    JOIN rulings r ON r.match_id = m.id
    WHERE r.unrated IS NULL AND EXISTS (SELECT 1 FROM match_teams WHERE match_id = m.id)
)
GROUP BY ruleset
ORDER BY ruleset;
