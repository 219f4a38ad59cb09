-- Derived: a row of a weight keeps what the weight is computed from, and what all weights of a ruleset have in common
-- is kept once. So a match changes the rows of few players. The view `weights` computes the weights.

DROP VIEW leaderboard;
DROP VIEW displayed_ranks;
ALTER TABLE weights RENAME TO former_weights;

CREATE TABLE weight_parts (
    ruleset    TEXT COLLATE "C" NOT NULL,
    kind       TEXT COLLATE "C" NOT NULL CHECK (kind IN ('human', 'bot')),
    player     TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    plain      TEXT COLLATE "C" NOT NULL, -- the name without colours in lower case, for searches
    deviation  DOUBLE PRECISION NOT NULL, -- a standard deviation of the weight; 0 where the system has none
    games      BIGINT NOT NULL,
    last_seen  BIGINT NOT NULL,
    division   BIGINT CHECK (division >= 0),
    progress   DOUBLE PRECISION CHECK (progress BETWEEN 0 AND 1), -- of a weight as it stands
    own        DOUBLE PRECISION NOT NULL, -- the player's own part of the strength; the weight, if it stands as it is
    side_0     DOUBLE PRECISION, -- the same on side 0
    side_1     DOUBLE PRECISION,
    commander  DOUBLE PRECISION,
    newness    DOUBLE PRECISION, -- factors on the effects of the ruleset; NULL if weights stand as they are
    experience DOUBLE PRECISION,
    record     DOUBLE PRECISION,
    scale      BIGINT NOT NULL -- the number of the scale that the weight is on, so that a newer program can convert it
) WITH (fillfactor = 70);           -- room for other numbers of a player, without new entries of indexes

CREATE TABLE weight_shares (
    ruleset    TEXT COLLATE "C" NOT NULL,
    newness    DOUBLE PRECISION NOT NULL, -- effects
    experience DOUBLE PRECISION NOT NULL,
    record     DOUBLE PRECISION NOT NULL,
    newcomer   DOUBLE PRECISION, -- a newcomer's strength, and the unit of strengths; NULL if strengths are weights
    unit       DOUBLE PRECISION,
    points     DOUBLE PRECISION NOT NULL -- points of weight in a unit
);

-- The weights at which the progress in a division is 0 and 1.
CREATE TABLE division_spans (
    ruleset  TEXT COLLATE "C" NOT NULL,
    division BIGINT NOT NULL,
    low      DOUBLE PRECISION NOT NULL,
    high     DOUBLE PRECISION NOT NULL
);

-- Places are counted now and then. Players who were forgotten have none.
CREATE TABLE weight_places (
    ruleset TEXT COLLATE "C" NOT NULL,
    kind    TEXT COLLATE "C" NOT NULL,
    player  TEXT COLLATE "C" NOT NULL,
    place   BIGINT NOT NULL,            -- by weight in the ruleset and kind, from 1
    plain   TEXT COLLATE "C" NOT NULL   -- as in weight_parts
);

INSERT INTO weight_parts (ruleset, kind, player, name, plain, deviation, games, last_seen, division, progress, own,
                          side_0, side_1, commander, scale)
SELECT ruleset, kind, player, name, coalesce(plain, lower(name)), deviation, games, last_seen, division, progress,
       weight, side_0, side_1, commander, scale
FROM former_weights;
INSERT INTO weight_places (ruleset, kind, player, place, plain)
SELECT ruleset, kind, player, place, coalesce(plain, lower(name)) FROM former_weights WHERE place IS NOT NULL;
DROP TABLE former_weights;
CREATE UNIQUE INDEX weight_parts_once ON weight_parts (player, kind, md5(ruleset));
CREATE INDEX weight_parts_by_ruleset ON weight_parts USING hash (ruleset);
CREATE UNIQUE INDEX weight_places_once ON weight_places (player, kind, md5(ruleset));
CREATE INDEX weight_places_by_place ON weight_places (place);
CREATE UNIQUE INDEX weight_shares_once ON weight_shares (md5(ruleset));
CREATE UNIQUE INDEX division_spans_once ON division_spans (md5(ruleset), division);

-- The number of matches from which places are counted. All weights are written once more, in their parts.
ALTER TABLE derived_from ADD COLUMN placed BIGINT NOT NULL DEFAULT 0;
UPDATE derived_from SET weighed = 0;

-- The weights, with the bits that the daemon has, and without places.
CREATE VIEW computed_weights AS
SELECT ruleset, kind, player, name, weight, deviation, games, last_seen, division,
       CASE WHEN newness IS NULL OR division IS NULL THEN progress
            WHEN high > low THEN least(greatest((weight - low) / (high - low), 0.0), 1.0)
            ELSE 0.0 END AS progress,
       side_0, side_1, commander, plain, scale
FROM (
    SELECT ruleset, kind, player, name, deviation, games, last_seen, division, progress, plain, scale, newness, low,
           high,
           CASE WHEN newness IS NULL THEN own
                WHEN unit IS NULL THEN least(greatest(own + career, 0.0), 100.0)
                ELSE least(greatest(50.0 + points * (own + career - newcomer) / unit, 0.0), 100.0) END AS weight,
           CASE WHEN newness IS NULL OR side_0 IS NULL THEN side_0
                WHEN unit IS NULL THEN least(greatest(side_0 + career, 0.0), 100.0)
                ELSE least(greatest(50.0 + points * (side_0 + career - newcomer) / unit, 0.0), 100.0) END AS side_0,
           CASE WHEN newness IS NULL OR side_1 IS NULL THEN side_1
                WHEN unit IS NULL THEN least(greatest(side_1 + career, 0.0), 100.0)
                ELSE least(greatest(50.0 + points * (side_1 + career - newcomer) / unit, 0.0), 100.0) END AS side_1,
           CASE WHEN newness IS NULL OR commander IS NULL THEN commander
                WHEN unit IS NULL THEN least(greatest(commander + career, 0.0), 100.0)
                ELSE least(greatest(50.0 + points * (commander + career - newcomer) / unit, 0.0), 100.0) END AS commander
    FROM (
        SELECT p.*, s.newcomer, s.unit, s.points, d.low, d.high,
               s.newness * p.newness + s.experience * p.experience + s.record * p.record AS career
        FROM weight_parts p
        LEFT JOIN weight_shares s ON s.ruleset = p.ruleset
        LEFT JOIN division_spans d ON d.ruleset = p.ruleset AND d.division = p.division
    ) AS joined
) AS computed;

CREATE VIEW weights AS
SELECT c.ruleset, c.kind, c.player, c.name, c.weight, c.deviation, c.games, c.last_seen, c.division, c.progress, c.side_0,
       c.side_1, c.commander, o.place, c.plain, c.scale
FROM computed_weights c
LEFT JOIN weight_places o ON o.ruleset = c.ruleset AND o.kind = c.kind AND o.player = c.player;

-- The division as it is displayed now: lower than the one reached for players who have long been away.
CREATE VIEW displayed_ranks AS
SELECT ruleset, kind, player,
       least(division, CAST(trunc(position) AS BIGINT)) AS division,
       position - least(division, CAST(trunc(position) AS BIGINT)) AS progress
FROM (
    SELECT w.ruleset, w.kind, w.player, w.division,
           greatest(0, w.division + w.progress - CASE d.decay_days WHEN 0 THEN 0 ELSE greatest(0,
               (extract(epoch FROM now()) / 86400 - w.last_seen / 86400000.0 - d.decay_after_days) / d.decay_days)
           END) AS position
    FROM weights w JOIN divisions d ON d.division = w.division
) AS positions;

CREATE VIEW leaderboard AS
SELECT
    w.ruleset,
    w.kind,
    rank() OVER (PARTITION BY w.ruleset, w.kind ORDER BY w.weight DESC) AS place,
    w.name,
    w.player,
    rounded(w.weight, 3) AS weight,
    rounded(w.deviation, 3) AS deviation,
    w.games,
    utc(w.last_seen) AS last_seen,
    d.name AS division,
    rounded(r.progress, 3) AS progress,
    rounded(w.side_0, 3) AS side_0,
    rounded(w.side_1, 3) AS side_1,
    rounded(w.commander, 3) AS commander,
    (SELECT s.season FROM seasons s WHERE s.starts_at <= w.last_seen ORDER BY s.starts_at DESC LIMIT 1) AS season
FROM weights w
LEFT JOIN displayed_ranks r ON r.ruleset = w.ruleset AND r.kind = w.kind AND r.player = w.player
LEFT JOIN divisions d ON d.division = r.division
ORDER BY w.ruleset, w.kind DESC, place, w.player;
