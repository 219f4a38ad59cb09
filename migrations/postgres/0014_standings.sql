-- Derived: who has a place. A few matches say little, and who does not play any more keeps nobody from a place. Places
-- are by the weight that a player has at least: the weight minus one deviation.

DROP VIEW leaderboard;
DROP VIEW displayed_ranks;
DROP VIEW weights;
ALTER TABLE weight_places RENAME COLUMN place TO position;  -- from 1: first those who have a place
ALTER TABLE weight_places ADD COLUMN standing BIGINT NOT NULL DEFAULT 0; -- as in ranked_weights
ALTER INDEX weight_places_by_place RENAME TO weight_places_by_position;
CREATE INDEX weight_places_by_standing ON weight_places (standing, position);

-- The daemon writes all weights once more, and counts the places.
UPDATE derived_from SET weighed = 0, placed = 0;

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
