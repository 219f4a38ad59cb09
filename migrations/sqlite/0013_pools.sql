-- What a round searched among, so that its matches can be found again. A pool is removed with the last
-- of its matches, and at the latest once there are 1,000 newer ones.

CREATE TABLE pools (
    pool_id     INTEGER PRIMARY KEY,   -- the id of the first match that could be formed of it
    queue       TEXT    NOT NULL,
    settings    TEXT    NOT NULL,      -- the configuration of the queue, as JSON
    seed        TEXT    NOT NULL,
    effort      INTEGER NOT NULL,
    version     TEXT    NOT NULL,      -- the version of Evenkeel that searched
    searched_at INTEGER NOT NULL,      -- the time until which the waits of the tickets count
    tickets     TEXT    NOT NULL,      -- their numbers, as in '3-7 9'
    known       TEXT    NOT NULL,      -- what was known of their players, as JSON
    outlook     TEXT                   -- how strengths become chances, as JSON
) STRICT;

ALTER TABLE formed_matches DROP COLUMN pool;
ALTER TABLE formed_matches ADD COLUMN pool_id INTEGER;                    -- NULL if it was too large to store
ALTER TABLE formed_matches ADD COLUMN why TEXT NOT NULL DEFAULT '[]';     -- what each rule found, as a JSON array of lines
ALTER TABLE formed_matches ADD COLUMN ruleset TEXT NOT NULL DEFAULT '';   -- whose chance was predicted
ALTER TABLE formed_matches ADD COLUMN recorded INTEGER;                   -- the id of the stored match in which these teams played
CREATE INDEX formed_matches_by_pool ON formed_matches (pool_id) WHERE pool_id IS NOT NULL;
CREATE INDEX formed_seats_by_player ON formed_seats (player);

-- The predictions of the queue count only for the ruleset that they were made for.
ALTER TABLE predictions ADD COLUMN ruleset TEXT;                          -- NULL for teams that BALANCE picked

DROP VIEW balance_report;
CREATE VIEW balance_report AS
SELECT
    ruleset,
    count(*) AS matches,
    round(avg(gap), 3) AS mean_gap,
    round(avg(gap = 0), 3) AS share_draws,
    round(avg(low = 0 AND gap >= 3), 3) AS share_shutouts,
    round(avg(winner = 0), 3) AS share_team_0_wins,
    round(avg(minutes), 2) AS mean_minutes,
    count(chance * won) AS predicted,
    round(avg(chance + 0 * won), 3) AS predicted_team_0_wins,
    round(avg(won + 0 * chance), 3) AS happened_team_0_wins,
    round(avg((chance - won) * (chance - won)), 4) AS brier
FROM (
    SELECT
        r.ruleset,
        m.winner,
        (m.ended_at - m.started_at) / 60000.0 AS minutes,
        (SELECT max(score) - min(score) FROM match_teams WHERE match_id = m.id) AS gap,
        (SELECT min(score) FROM match_teams WHERE match_id = m.id) AS low,
        p.chance,
        CASE m.outcome WHEN 'won' THEN m.winner = 0 WHEN 'draw' THEN 0.5 END AS won
    FROM matches m
    JOIN rulings r ON r.match_id = m.id
    LEFT JOIN predictions p ON p.match_id = m.id AND (p.ruleset IS NULL OR p.ruleset = r.ruleset)
    WHERE r.unrated IS NULL AND EXISTS (SELECT 1 FROM match_teams WHERE match_id = m.id)
)
GROUP BY ruleset
ORDER BY ruleset;
