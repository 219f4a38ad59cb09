-- A weight is the account of its player's own results, which each match enters into it. Strengths are computed as before.

DROP VIEW leaderboard;
DROP VIEW displayed_ranks;
DROP VIEW weights;
DROP VIEW ranked_weights;
DROP VIEW weight_history;

ALTER TABLE weight_parts ADD COLUMN weight REAL NOT NULL DEFAULT 50;    -- the account; or the weight as it stands
ALTER TABLE weight_parts ADD COLUMN doubt REAL NOT NULL DEFAULT 0;      -- a standard deviation of the strength, in its unit
ALTER TABLE weight_shares ADD COLUMN average REAL;                      -- the strength of the average seat, which is 50 points
ALTER TABLE performances ADD COLUMN weight_before REAL;
ALTER TABLE performances ADD COLUMN cause TEXT;                        -- why the match has moved the weight, or has not

-- Weights in the database are served until the daemon has derived its own.
UPDATE weight_parts SET weight = (SELECT c.weight FROM computed_weights c
    WHERE c.ruleset = weight_parts.ruleset AND c.kind = weight_parts.kind AND c.player = weight_parts.player);
UPDATE weight_shares SET average = newcomer;
UPDATE derived_from SET weighed = 0, placed = 0;
DROP VIEW computed_weights;

-- Not derived: notices that a correction of history has moved a weight without a match of its player.
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

-- The last change that corrected history: its number, and what it was.
ALTER TABLE player_changes ADD COLUMN corrected INTEGER NOT NULL DEFAULT 0;
ALTER TABLE player_changes ADD COLUMN correction TEXT NOT NULL DEFAULT '';
-- What was corrected, as long as the weights do not show it yet.
ALTER TABLE derived_from ADD COLUMN recount TEXT;

-- The weights, and the strengths by role in points with the bits that the daemon has; without places.
CREATE VIEW computed_weights AS
SELECT ruleset, kind, player, name, weight, deviation, games, last_seen, division,
       CASE WHEN newness IS NULL OR division IS NULL THEN progress
            WHEN high > low THEN min(max((weight - low) / (high - low), 0.0), 1.0)
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
);

-- The order of all leaderboards: by standing, then by `at_least`.
-- standing 0: has a place; 1: is being placed, after fewer than 10 matches or with a deviation above 15; 2: is away, and has
-- not played for 60 days when the latest match of the ruleset was played.
CREATE VIEW ranked_weights AS
SELECT c.*,
       c.weight - c.deviation AS at_least,
       CASE WHEN c.last_seen < max(c.last_seen) OVER (PARTITION BY c.ruleset) - 5184000000 THEN 2
            WHEN c.games < 10 OR c.deviation > 15.0 THEN 1
            ELSE 0 END AS standing
FROM computed_weights c;

CREATE VIEW weights AS
SELECT c.ruleset, c.kind, c.player, c.name, c.weight, c.deviation, c.games, c.last_seen, c.division, c.progress, c.side_0,
       c.side_1, c.commander, CASE o.standing WHEN 0 THEN o.position END AS place, c.plain, c.scale, o.position, o.standing
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
    CASE w.standing WHEN 0 THEN
        rank() OVER (PARTITION BY w.ruleset, w.kind, w.standing ORDER BY w.at_least DESC)
    END AS place,
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
    datetime(f.ended_at / 1000, 'unixepoch') AS ended,
    round(f.weight, 3) AS weight,
    round(f.deviation, 3) AS deviation,
    round(f.weight_before, 3) AS weight_before,
    f.cause
FROM performances f
JOIN persons o ON o.person = f.person
JOIN rulings r ON r.match_id = f.match_id
JOIN participants p ON p.match_id = f.match_id AND p.seat = f.seat
WHERE f.weight IS NOT NULL
ORDER BY f.ended_at, f.match_id, f.seat;
