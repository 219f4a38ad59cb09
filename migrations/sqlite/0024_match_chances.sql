-- What was predicted of the teams of a match while it was played, for ever: as they were picked, as play started, and
-- after each change of who was on which team. The predictions are those of that time; a rebuild does not change them.
-- Players are named by their seats, so that this table contains nothing about them.

CREATE TABLE match_chances (
    match_id  INTEGER NOT NULL REFERENCES matches (id) ON DELETE CASCADE,
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

INSERT INTO match_chances (match_id, step, cause, chance, ruleset)
SELECT match_id, 0, 'picked', chance, ruleset FROM predictions;

-- For people with sqlite3. A draw is half a win, and a coin's brier is 0.25 without draws.

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
    count(picked * won) AS predicted,
    round(avg(picked + 0 * won), 3) AS predicted_team_0_wins,
    round(avg(won + 0 * picked), 3) AS happened_team_0_wins,
    round(avg((picked - won) * (picked - won)), 4) AS brier
FROM (
    SELECT
        r.ruleset,
        m.winner,
        (m.ended_at - m.started_at) / 60000.0 AS minutes,
        (SELECT max(score) - min(score) FROM match_teams WHERE match_id = m.id) AS gap,
        (SELECT min(score) FROM match_teams WHERE match_id = m.id) AS low,
        k.chance AS picked,
        CASE m.outcome WHEN 'won' THEN m.winner = 0 WHEN 'draw' THEN 0.5 END AS won
    FROM matches m
    JOIN rulings r ON r.match_id = m.id
    LEFT JOIN match_chances k ON k.match_id = m.id AND k.step = 0 AND (k.ruleset IS NULL OR k.ruleset = r.ruleset)
    WHERE r.unrated IS NULL AND EXISTS (SELECT 1 FROM match_teams WHERE match_id = m.id)
)
GROUP BY ruleset
ORDER BY ruleset;

DROP TABLE predictions;

DROP VIEW match_report;
CREATE VIEW match_report AS
SELECT
    m.id AS match_id,
    datetime(m.started_at / 1000, 'unixepoch') AS started,
    round((m.ended_at - m.started_at) / 60000.0, 2) AS minutes,
    m.server,
    m.map,
    m.mode,
    r.ruleset,
    (SELECT group_concat(mutator, ' ') FROM match_mutators WHERE match_id = m.id) AS mutators,
    (SELECT group_concat(CAST(t.score AS INTEGER), ':')
       FROM (SELECT score FROM match_teams WHERE match_id = m.id ORDER BY team) t) AS score,
    m.outcome,
    m.winner,
    coalesce(m.humans, (SELECT count(*) FROM participants WHERE match_id = m.id AND kind = 'human')) AS humans,
    coalesce(m.bots, (SELECT count(*) FROM participants WHERE match_id = m.id AND kind = 'bot')) AS bots,
    r.unrated,
    (SELECT s.season FROM seasons s WHERE s.starts_at <= m.ended_at ORDER BY s.starts_at DESC LIMIT 1) AS season,
    round(kp.chance, 3) AS chance_as_picked,
    round(ks.chance, 3) AS chance_as_started,
    round(r.chance, 3) AS forecast
FROM matches m
LEFT JOIN rulings r ON r.match_id = m.id
LEFT JOIN match_chances kp ON kp.match_id = m.id AND kp.step = 0
    AND (kp.ruleset IS NULL OR r.ruleset IS NULL OR kp.ruleset = r.ruleset)
LEFT JOIN match_chances ks ON ks.match_id = m.id AND ks.step = 1
ORDER BY m.ended_at, m.fingerprint;

-- The course of each match's chances.
CREATE VIEW chance_report AS
SELECT
    k.match_id,
    k.step,
    k.cause,
    round(k.at_ms / 1000.0, 1) AS seconds,
    p.kind,
    p.player,
    p.name,
    k.from_team,
    k.to_team,
    k.humans,
    k.bots,
    round(k.chance, 3) AS chance,
    k.chances
FROM match_chances k
LEFT JOIN rulings r ON r.match_id = k.match_id
LEFT JOIN participants p ON p.match_id = k.match_id AND p.seat = k.seat
WHERE k.ruleset IS NULL OR r.ruleset IS NULL OR k.ruleset = r.ruleset
ORDER BY k.match_id, k.step;

-- Once a match is recorded, it has its chance as picked here, too: the game server may have picked other teams.
DROP VIEW hosted_report;
CREATE VIEW hosted_report AS
SELECT h.match_id, h.queue, h.state, h.why, h.instance, h.address, h.tries, h.since,
       f.mode, f.map, f.size, coalesce(k.chance, f.chance) AS chance_as_picked, f.penalty, f.formed_at,
       (SELECT count(*) FROM formed_seats s WHERE s.match_id = h.match_id) AS players,
       (SELECT max(f.formed_at - t.submitted_at) FROM formed_seats s JOIN tickets t ON t.number = s.ticket
         WHERE s.match_id = h.match_id) AS longest_wait_ms,
       m.outcome, m.winner, m.ended_at
FROM hosted_matches h
LEFT JOIN formed_matches f ON f.match_id = h.match_id
LEFT JOIN matches m ON m.id = h.match_id
LEFT JOIN match_chances k ON k.match_id = h.match_id AND k.step = 0;
