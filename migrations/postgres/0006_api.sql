-- Matches that clients record over HTTP. A match whose length is not known has one instant as its start and its end;
-- its stays are then stated on the scale of a match of 20 minutes.

ALTER TABLE matches ADD COLUMN untimed BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE balance_cells ADD COLUMN untimed BIGINT NOT NULL DEFAULT 0; -- how many have no known length; `minutes` has only the others
ALTER TABLE balance_weeks ADD COLUMN untimed BIGINT NOT NULL DEFAULT 0;
ALTER TABLE balance_maps ADD COLUMN untimed BIGINT NOT NULL DEFAULT 0;

-- Who has recorded a match over HTTP, and when.
CREATE TABLE client_matches (
    match_id    BIGINT PRIMARY KEY REFERENCES matches (id) ON DELETE CASCADE,
    client      TEXT COLLATE "C" NOT NULL,
    recorded_at BIGINT NOT NULL
);

-- The keys under which clients have recorded matches, so that a repetition gets the first answer.
CREATE TABLE receipts (
    client     TEXT COLLATE "C" NOT NULL,
    key        TEXT COLLATE "C" NOT NULL,
    body       BYTEA NOT NULL,   -- a hash of what was sent under the key
    match_id   BIGINT NOT NULL,
    unrated    TEXT COLLATE "C",          -- why the match was not rated, as the first answer stated it
    made_at    BIGINT NOT NULL,
    PRIMARY KEY (client, key)
);
CREATE INDEX receipts_by_time ON receipts (made_at);

-- The browsers in which somebody has shown a client's token on the page /teams.
CREATE TABLE sign_ins (
    secret  BYTEA PRIMARY KEY,  -- a hash of the secret in the browser's cookie
    client  TEXT COLLATE "C" NOT NULL,
    token   BYTEA NOT NULL,     -- a hash of the hash of the token: with another token, the client has no sign-ins
    made_at BIGINT NOT NULL
);

-- For people. The minutes of a match whose length is not known are NULL.

DROP VIEW player_history;
CREATE VIEW player_history AS
SELECT
    p.kind,
    p.player,
    p.name,
    m.id AS match_id,
    utc(m.started_at) AS started,
    m.server,
    m.map,
    r.ruleset,
    (SELECT string_agg(CAST(t.team AS TEXT), ' ' ORDER BY t.first)
       FROM (SELECT s.team, min(s.stay) AS first FROM presence s
              WHERE s.match_id = m.id AND s.seat = p.seat GROUP BY s.team) t) AS teams,
    CASE WHEN NOT m.untimed THEN rounded((SELECT coalesce(sum(s.to_ms - s.from_ms), 0) FROM presence s
            WHERE s.match_id = m.id AND s.seat = p.seat) / CAST(60000 AS DOUBLE PRECISION), 2) END AS minutes,
    (SELECT string_agg(CAST(rounded(score, 1) AS TEXT), ':' ORDER BY team)
       FROM match_teams WHERE match_id = m.id) AS score,
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
    utc(m.started_at) AS started,
    CASE WHEN NOT m.untimed THEN rounded((m.ended_at - m.started_at) / CAST(60000 AS DOUBLE PRECISION), 2) END AS minutes,
    m.server,
    m.map,
    m.mode,
    r.ruleset,
    (SELECT string_agg(mutator, ' ' ORDER BY mutator) FROM match_mutators WHERE match_id = m.id) AS mutators,
    (SELECT string_agg(CAST(rounded(score, 1) AS TEXT), ':' ORDER BY team)
       FROM match_teams WHERE match_id = m.id) AS score,
    m.outcome,
    m.winner,
    coalesce(m.humans, (SELECT count(*) FROM participants WHERE match_id = m.id AND kind = 'human')) AS humans,
    coalesce(m.bots, (SELECT count(*) FROM participants WHERE match_id = m.id AND kind = 'bot')) AS bots,
    r.unrated,
    (SELECT s.season FROM seasons s WHERE s.starts_at <= m.ended_at ORDER BY s.starts_at DESC LIMIT 1) AS season,
    rounded(kp.chance, 3) AS chance_as_picked,
    rounded(ks.chance, 3) AS chance_as_started,
    rounded(r.chance, 3) AS forecast,
    (SELECT rounded(decided_ratio(d.decision), 3)
       FROM decisions d
      WHERE d.match_id = m.id AND d.kind = 'balance' AND d.made_at <= m.started_at
      ORDER BY d.id DESC LIMIT 1) AS ratio,
    rounded(kp.chance, 3) AS chance,
    (SELECT CASE WHEN m.outcome <> 'won' OR max(score) > min(score) THEN max(score) - min(score) END
       FROM match_teams WHERE match_id = m.id) AS gap,
    CAST(CASE WHEN kp.match_id IS NULL THEN 0 ELSE 1 END AS BIGINT) AS picked
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
    CASE WHEN NOT m.untimed THEN rounded((SELECT coalesce(sum(o.to_ms - o.from_ms), 0) FROM presence o
            WHERE o.match_id = s.match_id AND o.seat = s.seat AND o.team = s.team) / CAST(60000 AS DOUBLE PRECISION), 2) END AS minutes,
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
    CASE WHEN sum(gap) > 0 OR count(gap) = count(*) THEN rounded(avg(gap), 3) END AS mean_gap,
    rounded(avg(CASE outcome WHEN 'draw' THEN 1.0 ELSE 0 END), 3) AS share_draws,
    CASE WHEN sum(gap) > 0 OR count(gap) = count(*)
         THEN rounded(avg(CASE WHEN gap IS NOT NULL THEN CASE WHEN low = 0 AND gap >= 3 THEN 1.0 ELSE 0 END END), 3) END AS share_shutouts,
    rounded(avg(CASE winner WHEN 0 THEN 1.0 ELSE 0 END) FILTER (WHERE winner IS NOT NULL), 3) AS share_team_0_wins,
    rounded(avg(CASE WHEN (forecast >= 0.5) = (won > 0.5) THEN 1.0 ELSE 0 END)
            FILTER (WHERE won <> 0.5 AND forecast IS NOT NULL), 3) AS share_favourite_wins,
    rounded(avg(minutes), 2) AS mean_minutes,
    count(picked * won) AS predicted,
    rounded(avg(picked + 0 * won), 3) AS predicted_team_0_wins,
    rounded(avg(won + 0 * picked), 3) AS happened_team_0_wins,
    rounded(avg((picked - won) * (picked - won)), 4) AS brier
FROM (
    SELECT
        r.ruleset,
        m.outcome,
        m.winner,
        r.chance AS forecast,
        CASE WHEN NOT m.untimed THEN (m.ended_at - m.started_at) / CAST(60000 AS DOUBLE PRECISION) END AS minutes,
        (SELECT CASE WHEN m.outcome <> 'won' OR max(score) > min(score) THEN max(score) - min(score) END
           FROM match_teams WHERE match_id = m.id) AS gap,
        (SELECT min(score) FROM match_teams WHERE match_id = m.id) AS low,
        k.chance AS picked,
        CAST(CASE WHEN m.outcome = 'draw' THEN 0.5 WHEN m.outcome <> 'won' THEN NULL
                  WHEN m.winner = 0 THEN 1 ELSE 0 END AS DOUBLE PRECISION) AS won
    FROM matches m
    JOIN rulings r ON r.match_id = m.id
    LEFT JOIN match_chances k ON k.match_id = m.id AND k.step = 0 AND (k.ruleset IS NULL OR k.ruleset = r.ruleset)
    WHERE r.unrated IS NULL AND EXISTS (SELECT 1 FROM match_teams WHERE match_id = m.id)
) AS rated
GROUP BY ruleset
ORDER BY ruleset;

DROP VIEW balance_by_week;
CREATE VIEW balance_by_week AS
SELECT
    ruleset,
    left(utc(week * 604800000 - 259200000), 10) AS week,
    matches,
    CASE WHEN gap > 0 OR scored = matches THEN rounded(gap / nullif(scored, 0), 3) END AS mean_gap,
    rounded(CAST(draws AS DOUBLE PRECISION) / matches, 3) AS share_draws,
    rounded(CAST(first_won AS DOUBLE PRECISION) / nullif(decided, 0), 3) AS share_team_0_wins,
    predicted,
    rounded(CAST(favoured AS DOUBLE PRECISION) / nullif(predicted_won, 0), 3) AS share_favourite_wins,
    rounded(brier / nullif(predicted, 0), 4) AS brier,
    rounded(minutes / nullif(matches - untimed, 0), 2) AS mean_minutes
FROM balance_weeks
WHERE matches > 0
ORDER BY ruleset, balance_weeks.week;

DROP VIEW balance_by_map;
CREATE VIEW balance_by_map AS
SELECT
    ruleset,
    map,
    CAST(sum(matches) AS BIGINT) AS matches,
    CASE WHEN sum(gap) > 0 OR sum(scored) = sum(matches) THEN rounded(sum(gap) / nullif(sum(scored), 0), 3) END AS mean_gap,
    rounded(CAST(sum(draws) AS DOUBLE PRECISION) / sum(matches), 3) AS share_draws,
    rounded(CAST(sum(first_won) AS DOUBLE PRECISION) / nullif(sum(decided), 0), 3) AS share_team_0_wins,
    CAST(sum(predicted) AS BIGINT) AS predicted,
    rounded(CAST(sum(favoured) AS DOUBLE PRECISION) / nullif(sum(predicted_won), 0), 3) AS share_favourite_wins,
    rounded(sum(brier) / nullif(sum(predicted), 0), 4) AS brier,
    rounded(sum(minutes) / nullif(sum(matches) - sum(untimed), 0), 2) AS mean_minutes
FROM balance_maps
WHERE matches > 0
GROUP BY ruleset, map
ORDER BY ruleset, sum(balance_maps.matches) DESC, map;
