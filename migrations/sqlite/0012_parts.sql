-- Derived: a row of a weight keeps what the weight is computed from, and what all weights of a ruleset have in common
-- is kept once. So a match changes the rows of few players. The view `weights` computes the weights.

DROP VIEW leaderboard;
DROP VIEW displayed_ranks;
ALTER TABLE weights RENAME TO former_weights;

CREATE TABLE weight_parts (
    ruleset    TEXT    NOT NULL,
    kind       TEXT    NOT NULL CHECK (kind IN ('human', 'bot')),
    player     TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    plain      TEXT    NOT NULL,    -- the name without colours in lower case, for searches
    deviation  REAL    NOT NULL,    -- a standard deviation of the weight; 0 where the system has none
    games      INTEGER NOT NULL,
    last_seen  INTEGER NOT NULL,
    division   INTEGER CHECK (division >= 0),
    progress   REAL CHECK (progress BETWEEN 0 AND 1), -- of a weight as it stands
    own        REAL    NOT NULL,    -- the player's own part of the strength; the weight, if it stands as it is
    side_0     REAL,                -- the same on side 0
    side_1     REAL,
    commander  REAL,
    newness    REAL,                -- factors on the effects of the ruleset; NULL if weights stand as they are
    experience REAL,
    record     REAL,
    scale      INTEGER NOT NULL,    -- the number of the scale that the weight is on, so that a newer program can convert it
    PRIMARY KEY (ruleset, kind, player)
) STRICT, WITHOUT ROWID;

CREATE TABLE weight_shares (
    ruleset    TEXT NOT NULL PRIMARY KEY,
    newness    REAL NOT NULL,       -- effects
    experience REAL NOT NULL,
    record     REAL NOT NULL,
    newcomer   REAL,                -- a newcomer's strength, and the unit of strengths; NULL if strengths are weights
    unit       REAL,
    points     REAL NOT NULL        -- points of weight in a unit
) STRICT, WITHOUT ROWID;

-- The weights at which the progress in a division is 0 and 1.
CREATE TABLE division_spans (
    ruleset  TEXT    NOT NULL,
    division INTEGER NOT NULL,
    low      REAL    NOT NULL,
    high     REAL    NOT NULL,
    PRIMARY KEY (ruleset, division)
) STRICT, WITHOUT ROWID;

-- Places are counted now and then. Players who were forgotten have none.
CREATE TABLE weight_places (
    ruleset TEXT    NOT NULL,
    kind    TEXT    NOT NULL,
    player  TEXT    NOT NULL,
    place   INTEGER NOT NULL,       -- by weight in the ruleset and kind, from 1
    plain   TEXT    NOT NULL,       -- as in weight_parts
    PRIMARY KEY (ruleset, kind, player)
) STRICT, WITHOUT ROWID;

INSERT INTO weight_parts (ruleset, kind, player, name, plain, deviation, games, last_seen, division, progress, own,
                          side_0, side_1, commander, scale)
SELECT ruleset, kind, player, name, coalesce(plain, lower(name)), deviation, games, last_seen, division, progress,
       weight, side_0, side_1, commander, scale
FROM former_weights;
INSERT INTO weight_places (ruleset, kind, player, place, plain)
SELECT ruleset, kind, player, place, coalesce(plain, lower(name)) FROM former_weights WHERE place IS NOT NULL;
DROP TABLE former_weights;
CREATE INDEX weight_places_by_place ON weight_places (ruleset, kind, place, plain);
CREATE INDEX weight_parts_by_player ON weight_parts (player, kind);

-- The number of matches from which places are counted. All weights are written once more, in their parts.
ALTER TABLE derived_from ADD COLUMN placed INTEGER NOT NULL DEFAULT 0;
UPDATE derived_from SET weighed = 0;

-- The weights, with the bits that the daemon has, and without places.
CREATE VIEW computed_weights AS
SELECT ruleset, kind, player, name, weight, deviation, games, last_seen, division,
       CASE WHEN newness IS NULL OR division IS NULL THEN progress
            WHEN high > low THEN min(max((weight - low) / (high - low), 0.0), 1.0)
            ELSE 0.0 END AS progress,
       side_0, side_1, commander, plain, scale
FROM (
    SELECT ruleset, kind, player, name, deviation, games, last_seen, division, progress, plain, scale, newness, low,
           high,
           CASE WHEN newness IS NULL THEN own
                WHEN unit IS NULL THEN min(max(own + career, 0.0), 100.0)
                ELSE min(max(50.0 + points * (own + career - newcomer) / unit, 0.0), 100.0) END AS weight,
           CASE WHEN newness IS NULL OR side_0 IS NULL THEN side_0
                WHEN unit IS NULL THEN min(max(side_0 + career, 0.0), 100.0)
                ELSE min(max(50.0 + points * (side_0 + career - newcomer) / unit, 0.0), 100.0) END AS side_0,
           CASE WHEN newness IS NULL OR side_1 IS NULL THEN side_1
                WHEN unit IS NULL THEN min(max(side_1 + career, 0.0), 100.0)
                ELSE min(max(50.0 + points * (side_1 + career - newcomer) / unit, 0.0), 100.0) END AS side_1,
           CASE WHEN newness IS NULL OR commander IS NULL THEN commander
                WHEN unit IS NULL THEN min(max(commander + career, 0.0), 100.0)
                ELSE min(max(50.0 + points * (commander + career - newcomer) / unit, 0.0), 100.0) END AS commander
    FROM (
        SELECT p.*, s.newcomer, s.unit, s.points, d.low, d.high,
               s.newness * p.newness + s.experience * p.experience + s.record * p.record AS career
        FROM weight_parts p
        LEFT JOIN weight_shares s ON s.ruleset = p.ruleset
        LEFT JOIN division_spans d ON d.ruleset = p.ruleset AND d.division = p.division
    )
);

CREATE VIEW weights AS
SELECT c.ruleset, c.kind, c.player, c.name, c.weight, c.deviation, c.games, c.last_seen, c.division, c.progress, c.side_0,
       c.side_1, c.commander, o.place, c.plain, c.scale
FROM computed_weights c
LEFT JOIN weight_places o ON o.ruleset = c.ruleset AND o.kind = c.kind AND o.player = c.player;

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
