-- Derived: the division that each player has reached, and the names of the divisions. NULL while a player is
-- calibrating, for bots, and without divisions.

ALTER TABLE weights ADD COLUMN division INTEGER CHECK (division >= 0);
ALTER TABLE weights ADD COLUMN progress REAL CHECK (progress BETWEEN 0 AND 1);

CREATE TABLE divisions (
    division         INTEGER PRIMARY KEY,   -- 0 is the lowest
    name             TEXT    NOT NULL,
    decay_after_days INTEGER NOT NULL,      -- days without a match after which the displayed division falls
    decay_days       INTEGER NOT NULL       -- by one in so many days; 0: never
) STRICT;

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

DROP VIEW leaderboard;
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
    round(r.progress, 3) AS progress
FROM weights w
LEFT JOIN displayed_ranks r ON r.ruleset = w.ruleset AND r.kind = w.kind AND r.player = w.player
LEFT JOIN divisions d ON d.division = r.division
ORDER BY w.ruleset, w.kind DESC, place, w.player;
