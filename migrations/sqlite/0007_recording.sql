-- A match is fewer rows. The stays of its players and the changes of its score are one JSON value of its row, with numbers
-- only: {"stays": for each seat in order, a list of [team, from_ms, to_ms]; "events": a list of [at_ms, team, points, seat]}.
-- It is NULL for archived matches. Two views show the rows that were in tables before.
-- What is written once with a match has no foreign keys: who deletes a match deletes its parts, too.

ALTER TABLE matches ADD COLUMN xid INTEGER; -- PostgreSQL counts matches by it; NULL here
ALTER TABLE matches ADD COLUMN parts TEXT;
UPDATE matches SET parts =
    '{"stays":[' || (SELECT coalesce(group_concat('[' || stays || ']', ',' ORDER BY seat), '')
        FROM (SELECT p.seat, (SELECT coalesce(group_concat(printf('[%d,%d,%d]', s.team, s.from_ms, s.to_ms), ',' ORDER BY s.stay), '')
                                FROM presence s WHERE s.match_id = p.match_id AND s.seat = p.seat) AS stays
                FROM participants p WHERE p.match_id = matches.id)) ||
    '],"events":[' || (SELECT coalesce(group_concat(printf('[%d,%d,%s,%s]', e.at_ms, e.team,
            -- As many digits as it takes to read the same number.
            CASE WHEN e.points = CAST(e.points AS INTEGER) THEN printf('%d.0', e.points) ELSE printf('%!.20e', e.points) END,
            coalesce(e.seat, 'null')), ',' ORDER BY e.seq), '')
        FROM score_events e WHERE e.match_id = matches.id) || ']}'
WHERE chunk IS NULL;
DROP TABLE presence;
DROP TABLE score_events;

-- Now the other tables of parts. The views that read them stay as they are.
PRAGMA legacy_alter_table = ON;

CREATE TABLE new_performances (
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
    PRIMARY KEY (match_id, seat)
) STRICT, WITHOUT ROWID;
INSERT INTO new_performances
SELECT match_id, seat, points_for, points_against, person, ended_at, team, result, weight, deviation FROM performances;
DROP TABLE performances;
ALTER TABLE new_performances RENAME TO performances;
CREATE INDEX performances_by_person ON performances (person, ended_at);

CREATE TABLE new_roles (
    match_id INTEGER NOT NULL,
    seat     INTEGER NOT NULL,
    role     TEXT    NOT NULL,      -- commander, say
    team     INTEGER NOT NULL,
    share    REAL    NOT NULL CHECK (share BETWEEN 0 AND 1),
    PRIMARY KEY (match_id, seat, role, team)
) STRICT, WITHOUT ROWID;
INSERT INTO new_roles SELECT match_id, seat, role, team, share FROM roles;
DROP TABLE roles;
ALTER TABLE new_roles RENAME TO roles;

CREATE TABLE new_participants (
    match_id    INTEGER NOT NULL,
    seat        INTEGER NOT NULL,
    kind        TEXT    NOT NULL CHECK (kind IN ('human', 'bot')),
    player      TEXT    NOT NULL CHECK (player <> ''),
    name        TEXT    NOT NULL,
    points      REAL,
    kills       INTEGER NOT NULL,
    deaths      INTEGER NOT NULL,
    party       INTEGER,            -- the same number for those who came together
    left_reason TEXT CHECK (left_reason IN ('left', 'kicked', 'timeout', 'moved', 'other')),
    PRIMARY KEY (match_id, seat)
) STRICT, WITHOUT ROWID;
INSERT INTO new_participants
SELECT match_id, seat, kind, player, name, points, kills, deaths, party, left_reason FROM participants;
DROP TABLE participants;
ALTER TABLE new_participants RENAME TO participants;
CREATE INDEX participants_by_player ON participants (player, kind);

CREATE TABLE new_match_mutators (
    match_id INTEGER NOT NULL,
    mutator  TEXT    NOT NULL,      -- all of them, as the game names them
    PRIMARY KEY (match_id, mutator)
) STRICT, WITHOUT ROWID;
INSERT INTO new_match_mutators SELECT match_id, mutator FROM match_mutators;
DROP TABLE match_mutators;
ALTER TABLE new_match_mutators RENAME TO match_mutators;

CREATE TABLE new_match_teams (
    match_id INTEGER NOT NULL,
    team     INTEGER NOT NULL,      -- counted from 0; no rows in a game without teams
    score    REAL    NOT NULL,
    PRIMARY KEY (match_id, team)
) STRICT, WITHOUT ROWID;
INSERT INTO new_match_teams SELECT match_id, team, score FROM match_teams;
DROP TABLE match_teams;
ALTER TABLE new_match_teams RENAME TO match_teams;

CREATE TABLE new_match_chances (
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
    humans    TEXT,                 -- on each team, as '7 v 6'; NULL for matches of older versions
    bots      TEXT,
    ruleset   TEXT,                 -- for which a queue has predicted; NULL otherwise
    PRIMARY KEY (match_id, step)
) STRICT, WITHOUT ROWID;
INSERT INTO new_match_chances
SELECT match_id, step, cause, at_ms, seat, from_team, to_team, chance, chances, humans, bots, ruleset FROM match_chances;
DROP TABLE match_chances;
ALTER TABLE new_match_chances RENAME TO match_chances;

CREATE TABLE new_match_games (
    game     INTEGER NOT NULL PRIMARY KEY,
    match_id INTEGER NOT NULL UNIQUE
) STRICT;
INSERT INTO new_match_games SELECT game, match_id FROM match_games;
DROP TABLE match_games;
ALTER TABLE new_match_games RENAME TO match_games;

PRAGMA legacy_alter_table = OFF;

-- For people, and for the views that state players.

CREATE VIEW presence AS
SELECT m.id AS match_id, s.key AS seat, t.key AS stay, json_extract(t.value, '$[0]') AS team,
       json_extract(t.value, '$[1]') AS from_ms, json_extract(t.value, '$[2]') AS to_ms
FROM matches m, json_each(m.parts, '$.stays') s, json_each(s.value) t;

CREATE VIEW score_events AS
SELECT m.id AS match_id, e.key AS seq, json_extract(e.value, '$[0]') AS at_ms, json_extract(e.value, '$[1]') AS team,
       json_extract(e.value, '$[2]') AS points, json_extract(e.value, '$[3]') AS seat
FROM matches m, json_each(m.parts, '$.events') e;
