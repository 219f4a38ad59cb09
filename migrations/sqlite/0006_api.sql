-- Matches that clients record over HTTP. A match whose length is not known has one instant as its start and its end;
-- its stays are then stated on the scale of a match of 20 minutes.

ALTER TABLE matches ADD COLUMN untimed INTEGER NOT NULL DEFAULT 0 CHECK (untimed IN (0, 1));
ALTER TABLE balance_cells ADD COLUMN untimed INTEGER NOT NULL DEFAULT 0; -- how many have no known length; `minutes` has only the others
ALTER TABLE balance_weeks ADD COLUMN untimed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE balance_maps ADD COLUMN untimed INTEGER NOT NULL DEFAULT 0;

-- Who has recorded a match over HTTP, and when.
CREATE TABLE client_matches (
    match_id    INTEGER PRIMARY KEY REFERENCES matches (id) ON DELETE CASCADE,
    client      TEXT NOT NULL,
    recorded_at INTEGER NOT NULL
) STRICT;

-- The keys under which clients have recorded matches, so that a repetition gets the first answer.
CREATE TABLE receipts (
    client     TEXT NOT NULL,
    key        TEXT NOT NULL,
    body       BLOB NOT NULL,   -- a hash of what was sent under the key
    match_id   INTEGER NOT NULL,
    unrated    TEXT,            -- why the match was not rated, as the first answer stated it
    made_at    INTEGER NOT NULL,
    PRIMARY KEY (client, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX receipts_by_time ON receipts (made_at);

-- The browsers in which somebody has shown a client's token on the page /teams.
CREATE TABLE sign_ins (
    secret  BLOB PRIMARY KEY,  -- a hash of the secret in the browser's cookie
    client  TEXT NOT NULL,
    token   BLOB NOT NULL,     -- a hash of the hash of the token: with another token, the client has no sign-ins
    made_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- For people. The minutes of a match whose length is not known are NULL.

DROP VIEW player_history;
CREATE VIEW player_history AS
SELECT
    p.kind,
    p.player,
    p.name,
    m.id AS match_id,
    datetime(m.started_at / 1000, 'unixepoch') AS started,
    m.server,
    m.map,
    r.ruleset,
    (SELECT group_concat(team, ' ')
       FROM (SELECT DISTINCT s.team FROM presence s
              WHERE s.match_id = m.id AND s.seat = p.seat ORDER BY s.stay)) AS teams,
    CASE WHEN NOT m.untimed THEN round((SELECT total(s.to_ms - s.from_ms) FROM presence s
            WHERE s.match_id = m.id AND s.seat = p.seat) / 60000.0, 2) END AS minutes,
    (SELECT group_concat(printf('%.15g', round(score, 1) + 0.0), ':')
       FROM (SELECT score FROM match_teams WHERE match_id = m.id ORDER BY team)) AS score,
    f.points_for,
    f.points_against,
    p.points,
    p.kills,
    p.deaths,
    CASE m.outcome WHEN 'won' THEN
        (SELECT CASE WHEN s.team = m.winner THEN 'won' ELSE 'lost' END FROM presence s
          WHERE s.match_id = m.id AND s.seat = p.seat
          GROUP BY s.team ORDER BY sum(s.to_ms - s.from_ms) DESC, max(s.to_ms) DESC LIMIT 1)
    ELSE m.outcome END AS outcome,
    m.winner,
    r.unrated,
    (SELECT s.season FROM seasons s WHERE s.starts_at <= m.ended_at ORDER BY s.starts_at DESC LIMIT 1) AS season
FROM participants p
JOIN matches m ON m.id = p.match_id
LEFT JOIN rulings r ON r.match_id = m.id
LEFT JOIN performances f ON f.match_id = p.match_id AND f.seat = p.seat
ORDER BY m.ended_at, m.fingerprint, p.seat;

DROP VIEW match_report;
CREATE VIEW match_report AS
SELECT
    m.id AS match_id,
    datetime(m.started_at / 1000, 'unixepoch') AS started,
    CASE WHEN NOT m.untimed THEN round((m.ended_at - m.started_at) / 60000.0, 2) END AS minutes,
    m.server,
    m.map,
    m.mode,
    r.ruleset,
    (SELECT group_concat(mutator, ' ')
       FROM (SELECT mutator FROM match_mutators WHERE match_id = m.id ORDER BY mutator)) AS mutators,
    (SELECT group_concat(printf('%.15g', round(score, 1) + 0.0), ':')
       FROM (SELECT score FROM match_teams WHERE match_id = m.id ORDER BY team)) AS score,
    m.outcome,
    m.winner,
    coalesce(m.humans, (SELECT count(*) FROM participants WHERE match_id = m.id AND kind = 'human')) AS humans,
    coalesce(m.bots, (SELECT count(*) FROM participants WHERE match_id = m.id AND kind = 'bot')) AS bots,
    r.unrated,
    (SELECT s.season FROM seasons s WHERE s.starts_at <= m.ended_at ORDER BY s.starts_at DESC LIMIT 1) AS season,
    round(kp.chance, 3) AS chance_as_picked,
    round(ks.chance, 3) AS chance_as_started,
    round(r.chance, 3) AS forecast,
    (SELECT CASE WHEN json_valid(d.decision) THEN round(json_extract(d.decision, '$.answer.ratio'), 3) END
       FROM decisions d
      WHERE d.match_id = m.id AND d.kind = 'balance' AND d.made_at <= m.started_at
      ORDER BY d.id DESC LIMIT 1) AS ratio,
    round(kp.chance, 3) AS chance,
    (SELECT CASE WHEN m.outcome <> 'won' OR max(score) > min(score) THEN max(score) - min(score) END
       FROM match_teams WHERE match_id = m.id) AS gap,
    CASE WHEN kp.match_id IS NULL THEN 0 ELSE 1 END AS picked
FROM matches m
LEFT JOIN rulings r ON r.match_id = m.id
LEFT JOIN match_chances kp ON kp.match_id = m.id AND kp.step = 0
    AND (kp.ruleset IS NULL OR r.ruleset IS NULL OR kp.ruleset = r.ruleset)
LEFT JOIN match_chances ks ON ks.match_id = m.id AND ks.step = 1
ORDER BY m.ended_at, m.fingerprint;

DROP VIEW match_players;
CREATE VIEW match_players AS
SELECT
    s.match_id,
    s.team,
    t.score,
    CASE WHEN m.outcome <> 'won' THEN m.outcome WHEN s.team = m.winner THEN 'won' ELSE 'lost' END AS outcome,
    p.kind,
    p.player,
    p.name,
    CASE WHEN NOT m.untimed THEN round((SELECT total(o.to_ms - o.from_ms) FROM presence o
            WHERE o.match_id = s.match_id AND o.seat = s.seat AND o.team = s.team) / 60000.0, 2) END AS minutes,
    p.points,
    p.kills,
    p.deaths
FROM presence s
JOIN participants p ON p.match_id = s.match_id AND p.seat = s.seat
JOIN matches m ON m.id = s.match_id
LEFT JOIN match_teams t ON t.match_id = s.match_id AND t.team = s.team
WHERE NOT EXISTS (SELECT 1 FROM presence e
                   WHERE e.match_id = s.match_id AND e.seat = s.seat AND e.team = s.team AND e.stay < s.stay)
ORDER BY s.match_id, s.team, s.seat;

DROP VIEW balance_report;
CREATE VIEW balance_report AS
SELECT
    ruleset,
    count(*) AS matches,
    CASE WHEN sum(gap) > 0 OR count(gap) = count(*) THEN round(avg(gap), 3) END AS mean_gap,
    round(avg(outcome = 'draw'), 3) AS share_draws,
    CASE WHEN sum(gap) > 0 OR count(gap) = count(*)
         THEN round(avg(CASE WHEN gap IS NOT NULL THEN low = 0 AND gap >= 3 END), 3) END AS share_shutouts,
    round(avg(winner = 0), 3) AS share_team_0_wins,
    round(avg(CASE WHEN won <> 0.5 THEN (forecast >= 0.5) = (won > 0.5) END), 3) AS share_favourite_wins,
    round(avg(minutes), 2) AS mean_minutes,
    count(picked * won) AS predicted,
    round(avg(picked + 0 * won), 3) AS predicted_team_0_wins,
    round(avg(won + 0 * picked), 3) AS happened_team_0_wins,
    round(avg((picked - won) * (picked - won)), 4) AS brier
FROM (
    SELECT
        r.ruleset,
        m.outcome,
        m.winner,
        r.chance AS forecast,
        CASE WHEN NOT m.untimed THEN (m.ended_at - m.started_at) / 60000.0 END AS minutes,
        (SELECT CASE WHEN m.outcome <> 'won' OR max(score) > min(score) THEN max(score) - min(score) END
           FROM match_teams WHERE match_id = m.id) AS gap,
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

DROP VIEW balance_by_week;
CREATE VIEW balance_by_week AS
SELECT
    ruleset,
    date(week * 604800 - 259200, 'unixepoch') AS week,
    matches,
    CASE WHEN gap > 0 OR scored = matches THEN round(gap / nullif(scored, 0), 3) END AS mean_gap,
    round(1.0 * draws / matches, 3) AS share_draws,
    round(1.0 * first_won / nullif(decided, 0), 3) AS share_team_0_wins,
    predicted,
    round(1.0 * favoured / nullif(predicted_won, 0), 3) AS share_favourite_wins,
    round(brier / nullif(predicted, 0), 4) AS brier,
    round(minutes / nullif(matches - untimed, 0), 2) AS mean_minutes
FROM balance_weeks
WHERE matches > 0
ORDER BY ruleset, balance_weeks.week;

DROP VIEW balance_by_map;
CREATE VIEW balance_by_map AS
SELECT
    ruleset,
    map,
    sum(matches) AS matches,
    CASE WHEN sum(gap) > 0 OR sum(scored) = sum(matches) THEN round(sum(gap) / nullif(sum(scored), 0), 3) END AS mean_gap,
    round(1.0 * sum(draws) / sum(matches), 3) AS share_draws,
    round(1.0 * sum(first_won) / nullif(sum(decided), 0), 3) AS share_team_0_wins,
    sum(predicted) AS predicted,
    round(1.0 * sum(favoured) / nullif(sum(predicted_won), 0), 3) AS share_favourite_wins,
    round(sum(brier) / nullif(sum(predicted), 0), 4) AS brier,
    round(sum(minutes) / nullif(sum(matches) - sum(untimed), 0), 2) AS mean_minutes
FROM balance_maps
WHERE matches > 0
GROUP BY ruleset, map
ORDER BY ruleset, sum(balance_maps.matches) DESC, map;
