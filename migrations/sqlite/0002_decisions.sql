-- Decisions taken in running games, each with all that it was made from, so that it can be taken
-- again. They are not ground truth: the oldest are deleted, as configured.

CREATE TABLE decisions (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    made_at  INTEGER NOT NULL,      -- milliseconds since 1970 UTC
    server   TEXT    NOT NULL,
    ruleset  TEXT    NOT NULL,
    game     INTEGER NOT NULL,      -- a number shared by all decisions of one game
    match_id INTEGER REFERENCES matches (id) ON DELETE SET NULL, -- what became of it, once known
    kind     TEXT    NOT NULL,      -- balance, place, advantage, rebalance, auto-balance
    seed     TEXT    NOT NULL,      -- 64 bits without a sign
    chance   REAL,                  -- the predicted chance that team 0 wins, where there is one
    decision TEXT    NOT NULL       -- JSON: the question, the seed and the answer
) STRICT;
CREATE INDEX decisions_by_game ON decisions (game);
CREATE INDEX decisions_by_match ON decisions (match_id) WHERE match_id IS NOT NULL;

-- What was predicted of the teams that were chosen last before a match, for ever.
CREATE TABLE predictions (
    match_id INTEGER PRIMARY KEY REFERENCES matches (id) ON DELETE CASCADE,
    chance   REAL NOT NULL CHECK (chance BETWEEN 0 AND 1) -- that team 0 wins
) STRICT;

-- For people with sqlite3.

CREATE VIEW decision_report AS
SELECT
    id AS decision_id,
    datetime(made_at / 1000, 'unixepoch') AS made,
    server,
    ruleset,
    kind,
    seed,
    round(chance, 3) AS chance,
    match_id
FROM decisions
ORDER BY id;

-- With what was predicted of our teams beside what happened. A draw is half a win, and a coin's brier
-- is 0.25 without draws.
DROP VIEW balance_report;
CREATE VIEW balance_report AS
SELECT
    ruleset,
    count(*) AS matches,
    round(avg(gap), 3) AS mean_gap,
    round(avg(gap = 0), 3) AS share_draws,
    round(avg(low = 0 AND gap >= 3), 3) AS share_shutouts,
    round(avg(winner = 0) / nullif(avg(winner IS NOT NULL), 0), 3) AS share_team_0_wins,
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
    LEFT JOIN predictions p ON p.match_id = m.id
    WHERE r.unrated IS NULL AND EXISTS (SELECT 1 FROM match_teams WHERE match_id = m.id)
)
GROUP BY ruleset
ORDER BY ruleset;
