-- A weight is the account of its player's own results, which each match enters into it. Strengths are computed as before.

DROP VIEW leaderboard;
DROP VIEW displayed_ranks;
DROP VIEW weights;
DROP VIEW ranked_weights;
DROP VIEW weight_history;

ALTER TABLE weight_parts ADD COLUMN weight DOUBLE PRECISION NOT NULL DEFAULT 50;    -- the account; or the weight as it stands
ALTER TABLE weight_parts ADD COLUMN doubt DOUBLE PRECISION NOT NULL DEFAULT 0;      -- a standard deviation of the strength, in its unit
ALTER TABLE weight_shares ADD COLUMN average DOUBLE PRECISION;                      -- the strength of the average seat, which is 50 points
ALTER TABLE performances ADD COLUMN weight_before DOUBLE PRECISION;
ALTER TABLE performances ADD COLUMN cause TEXT;                        -- why the match has moved the weight, or has not

-- Weights in the database are served until the daemon has derived its own.
UPDATE weight_parts SET weight = (SELECT c.weight FROM computed_weights c
    WHERE c.ruleset = weight_parts.ruleset AND c.kind = weight_parts.kind AND c.player = weight_parts.player);
UPDATE weight_shares SET average = newcomer;
UPDATE derived_from SET weighed = 0, placed = 0;
DROP VIEW computed_weights;

-- Not derived: notices that a correction of history has moved a weight without a match of its player.
CREATE TABLE recounts (
    ruleset      TEXT COLLATE "C" NOT NULL,
    kind         TEXT COLLATE "C" NOT NULL CHECK (kind IN ('human', 'bot')),
    player       TEXT COLLATE "C" NOT NULL,
    recounted_at BIGINT NOT NULL,
    cause        TEXT NOT NULL,     -- what was corrected
    weight_then  DOUBLE PRECISION NOT NULL,     -- after the same match, as it was counted before and as it is counted now
    weight_now   DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (player, kind, ruleset, recounted_at)
);

-- The last change that corrected history: its number, and what it was.
ALTER TABLE player_changes ADD COLUMN corrected BIGINT NOT NULL DEFAULT 0;
ALTER TABLE player_changes ADD COLUMN correction TEXT NOT NULL DEFAULT '';
-- What was corrected, as long as the weights do not show it yet.
ALTER TABLE derived_from ADD COLUMN recount TEXT;

-- The weights, and the strengths by role in points with the bits that the daemon has; without places.
CREATE VIEW computed_weights AS
SELECT ruleset, kind, player, name, weight, deviation, games, last_seen, division,
       CASE WHEN newness IS NULL OR division IS NULL THEN progress
            WHEN high > low THEN least(greatest((weight - low) / (high - low), 0.0), 1.0)
            ELSE 0.0 END AS progress,
       CASE WHEN newness IS NULL OR side_0 IS NULL THEN side_0
            WHEN unit IS NULL THEN side_0 + career
            ELSE 50.0 + points * (side_0 + career - average) / unit END AS side_0,
       CASE WHEN newness IS NULL OR side_1 IS NULL THEN side_1
            WHEN unit IS NULL THEN side_1 + career
            ELSE 50.0 + points * (side_1 + career - average) / unit END AS side_1,
       CASE WHEN newness IS NULL OR commander IS NULL THEN commander
            WHEN unit IS NULL THEN commander + career
            ELSE 50.0 + points * (commander + career - average) / unit END AS commander,
       plain, scale
FROM (
    SELECT p.*, s.average, s.unit, s.points, d.low, d.high,
           s.newness * p.newness + s.experience * p.experience + s.record * p.record AS career
    FROM weight_parts p
    LEFT JOIN weight_shares s ON s.ruleset = p.ruleset
    LEFT JOIN division_spans d ON d.ruleset = p.ruleset AND d.division = p.division
) AS joined;

-- The order of all leaderboards: by standing, then by `at_least`.
-- standing 0: has a place; 1: is being placed, after fewer than 10 matches or with a deviation above 15; 2: is away, and has
-- not played for 60 days when the latest match of the ruleset was played.
CREATE VIEW ranked_weights AS
SELECT c.*,
       c.weight - c.deviation AS at_least,
       CAST(CASE WHEN c.last_seen < max(c.last_seen) OVER (PARTITION BY c.ruleset) - 5184000000 THEN 2
            WHEN c.games < 10 OR c.deviation > 15.0 THEN 1
            ELSE 0 END AS BIGINT) AS standing
FROM computed_weights c;

CREATE VIEW weights AS
SELECT c.ruleset, c.kind, c.player, c.name, c.weight, c.deviation, c.games, c.last_seen, c.division, c.progress, c.side_0,
       c.side_1, c.commander, CASE o.standing WHEN 0 THEN o.position END AS place, c.plain, c.scale, o.position, o.standing
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
    CASE w.standing WHEN 0 THEN
        rank() OVER (PARTITION BY w.ruleset, w.kind, w.standing ORDER BY w.at_least DESC)
    END AS place,
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
    (SELECT s.season FROM seasons s WHERE s.starts_at <= w.last_seen ORDER BY s.starts_at DESC LIMIT 1) AS season,
    CASE w.standing WHEN 0 THEN 'placed' WHEN 1 THEN 'placing' ELSE 'away' END AS standing
FROM ranked_weights w
LEFT JOIN displayed_ranks r ON r.ruleset = w.ruleset AND r.kind = w.kind AND r.player = w.player
LEFT JOIN divisions d ON d.division = r.division
ORDER BY w.ruleset, w.kind DESC, w.standing, w.at_least DESC, w.player;

CREATE VIEW weight_history AS
SELECT
    r.ruleset,
    o.kind,
    o.player,
    p.name,
    f.match_id,
    utc(f.ended_at) AS ended,
    rounded(f.weight, 3) AS weight,
    rounded(f.deviation, 3) AS deviation,
    rounded(f.weight_before, 3) AS weight_before,
    f.cause
FROM performances f
JOIN persons o ON o.person = f.person
JOIN rulings r ON r.match_id = f.match_id
JOIN participants p ON p.match_id = f.match_id AND p.seat = f.seat
WHERE f.weight IS NOT NULL
ORDER BY f.ended_at, f.match_id, f.seat;
