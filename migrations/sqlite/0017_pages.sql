-- What the statistics pages read. All of it is derived, except who is hidden and the key of handles.

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

CREATE TABLE handle_key (
    id  INTEGER PRIMARY KEY CHECK (id = 1),
    key BLOB    NOT NULL CHECK (length(key) = 32)
) STRICT;
INSERT INTO handle_key VALUES (1, randomblob(32));

-- Players whom an operator keeps off the pages. Like the matches, never computed.
CREATE TABLE hidden_players (
    kind   TEXT NOT NULL CHECK (kind IN ('human', 'bot')),
    player TEXT NOT NULL CHECK (player <> ''),
    PRIMARY KEY (kind, player)
) STRICT, WITHOUT ROWID;

ALTER TABLE performances ADD COLUMN person INTEGER;
ALTER TABLE performances ADD COLUMN ended_at INTEGER;
ALTER TABLE performances ADD COLUMN team INTEGER;       -- the one that the player was on for longest
ALTER TABLE performances ADD COLUMN result REAL;        -- 1 won, 0.5 draw, 0 lost; NULL without a result
ALTER TABLE performances ADD COLUMN weight REAL;        -- after the match
ALTER TABLE performances ADD COLUMN deviation REAL;
CREATE INDEX performances_by_person ON performances (person, ended_at);

ALTER TABLE weights ADD COLUMN place INTEGER;           -- by weight in the ruleset and kind, from 1; NULL once forgotten
ALTER TABLE weights ADD COLUMN plain TEXT;              -- the name without colours in lower case, for searches
CREATE INDEX weights_by_place ON weights (ruleset, kind, place, plain);
CREATE INDEX weights_by_player ON weights (player, kind);

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
