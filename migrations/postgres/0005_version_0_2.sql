-- Several checkpoints instead of one: a match that comes late is folded from the one before it. The bytes carry a
-- version and a checksum of their own; a program that cannot read them uses an older one, or folds all matches again.

DROP TABLE derived_checkpoint;
CREATE TABLE derived_checkpoint (
    matches     BIGINT PRIMARY KEY CHECK (matches > 0), -- how many were folded
    last_match  BIGINT NOT NULL,                        -- the highest id among them
    ended_at    BIGINT NOT NULL,                        -- the last of them, in the order in which they are folded
    fingerprint BYTEA NOT NULL,
    settings    TEXT NOT NULL,
    state       BYTEA NOT NULL
);

-- Has a row once `evenkeel migrate-store` has moved the content of this database to another one. Nothing opens it then.
CREATE TABLE moved (
    id    BIGINT PRIMARY KEY CHECK (id = 1),
    place TEXT COLLATE "C" NOT NULL    -- the other database: a path, or an address without its password
);

-- The settings of the last holder of each lease: daemons with others leave the lease alone for a while. SQLite has no
-- such table.
CREATE TABLE lease_settings (
    name          TEXT COLLATE "C" PRIMARY KEY,
    settings      TEXT COLLATE "C" NOT NULL, -- hashes of the values by key, as JSON
    given_back_at BIGINT                     -- by now_millis(); NULL while it is held, and if it has ended by itself
);

-- How close matches were is counted by their outcomes, and by their scores only where they have some: a match that a
-- team has won with the same score as all others has none.

ALTER TABLE balance_cells ADD COLUMN scored BIGINT NOT NULL DEFAULT 0;        -- how many have scores; `gap` counts only these
ALTER TABLE balance_cells ADD COLUMN predicted_won BIGINT NOT NULL DEFAULT 0; -- how many of `predicted` a team won
ALTER TABLE balance_weeks ADD COLUMN scored BIGINT NOT NULL DEFAULT 0;
ALTER TABLE balance_weeks ADD COLUMN predicted_won BIGINT NOT NULL DEFAULT 0;
ALTER TABLE balance_maps ADD COLUMN scored BIGINT NOT NULL DEFAULT 0;
ALTER TABLE balance_maps ADD COLUMN predicted_won BIGINT NOT NULL DEFAULT 0;

-- For people with psql. Times are dates in UTC.

-- The ratio of the teams in a stored decision; NULL if it has none.
CREATE FUNCTION decided_ratio(decision TEXT) RETURNS DOUBLE PRECISION LANGUAGE plpgsql STABLE STRICT AS $$
BEGIN
    RETURN CAST(coalesce(CAST(decision AS JSON) #>> '{answer,ratio}', CAST(decision AS JSON) #>> '{answer,after}')
                AS DOUBLE PRECISION);
EXCEPTION WHEN data_exception THEN
    RETURN NULL;
END $$;

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
    rounded((SELECT coalesce(sum(s.to_ms - s.from_ms), 0) FROM presence s
            WHERE s.match_id = m.id AND s.seat = p.seat) / CAST(60000 AS DOUBLE PRECISION), 2) AS minutes,
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
    rounded((m.ended_at - m.started_at) / CAST(60000 AS DOUBLE PRECISION), 2) AS minutes,
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

-- Each player of a match, on each team that the player was on.
CREATE VIEW match_players AS
SELECT
    s.match_id,
    s.team,
    t.score,
    CASE WHEN m.outcome <> 'won' THEN m.outcome WHEN s.team = m.winner THEN 'won' ELSE 'lost' END AS outcome,
    p.kind,
    p.player,
    p.name,
    rounded((SELECT coalesce(sum(o.to_ms - o.from_ms), 0) FROM presence o
            WHERE o.match_id = s.match_id AND o.seat = s.seat AND o.team = s.team) / CAST(60000 AS DOUBLE PRECISION), 2) AS minutes,
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

-- The weight of each player after each rated match.
CREATE VIEW weight_history AS
SELECT
    r.ruleset,
    o.kind,
    o.player,
    p.name,
    f.match_id,
    utc(f.ended_at) AS ended,
    rounded(f.weight, 3) AS weight,
    rounded(f.deviation, 3) AS deviation
FROM performances f
JOIN persons o ON o.person = f.person
JOIN rulings r ON r.match_id = f.match_id
JOIN participants p ON p.match_id = f.match_id AND p.seat = f.seat
WHERE f.weight IS NOT NULL
ORDER BY f.ended_at, f.match_id, f.seat;

-- A draw is half a win in the predictions, and a coin's brier is 0.25 without draws.
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
        (m.ended_at - m.started_at) / CAST(60000 AS DOUBLE PRECISION) AS minutes,
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

-- The same by week, and by map: of the rated matches with teams. The predictions are forecasts.
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
    rounded(minutes / matches, 2) AS mean_minutes
FROM balance_weeks
WHERE matches > 0
ORDER BY ruleset, balance_weeks.week;

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
    rounded(sum(minutes) / sum(matches), 2) AS mean_minutes
FROM balance_maps
WHERE matches > 0
GROUP BY ruleset, map
ORDER BY ruleset, sum(balance_maps.matches) DESC, map;

DROP VIEW decision_report;
CREATE VIEW decision_report AS
SELECT
    d.id AS decision_id,
    utc(d.made_at) AS made,
    d.server,
    d.ruleset,
    d.kind,
    d.seed,
    rounded(d.chance, 3) AS chance,
    d.match_id,
    rounded(decided_ratio(d.decision), 3) AS ratio,
    (SELECT CASE WHEN m.outcome <> 'won' OR max(score) > min(score) THEN max(score) - min(score) END
       FROM match_teams WHERE match_id = m.id) AS gap,
    CAST(CASE WHEN d.kind = 'balance'
          AND d.id = (SELECT max(b.id) FROM decisions b
                       WHERE b.match_id = m.id AND b.kind = 'balance' AND b.made_at <= m.started_at)
         THEN 1 ELSE 0 END AS BIGINT) AS picked
FROM decisions d
LEFT JOIN matches m ON m.id = d.match_id
ORDER BY d.id;

DROP VIEW hosted_report;
CREATE VIEW hosted_report AS
SELECT h.match_id, h.queue, h.state, h.why, h.instance, h.address, h.tries,
       utc(h.since) AS since,
       f.mode, f.map, f.size, rounded(coalesce(k.chance, f.chance), 3) AS chance_as_picked, f.penalty,
       utc(f.formed_at) AS formed,
       (SELECT count(*) FROM formed_seats s WHERE s.match_id = h.match_id) AS players,
       (SELECT rounded(max(f.formed_at - t.submitted_at) / CAST(1000 AS DOUBLE PRECISION), 1)
          FROM formed_seats s JOIN tickets t ON t.number = s.ticket
         WHERE s.match_id = h.match_id) AS longest_wait_seconds,
       m.outcome, m.winner,
       utc(m.ended_at) AS ended
FROM hosted_matches h
LEFT JOIN formed_matches f ON f.match_id = h.match_id
LEFT JOIN matches m ON m.id = h.match_id
LEFT JOIN match_chances k ON k.match_id = h.match_id AND k.step = 0
ORDER BY h.match_id;

DROP VIEW queue_report;
CREATE VIEW queue_report AS
SELECT queue,
       count(*) FILTER (WHERE state = 'queued') AS queued,
       count(*) FILTER (WHERE state = 'proposed') AS proposed,
       count(*) FILTER (WHERE state IN ('hosted', 'called')) AS hosted,
       count(*) FILTER (WHERE state = 'matched') AS matched,
       count(*) FILTER (WHERE state = 'cancelled') AS cancelled,
       count(*) FILTER (WHERE state = 'expired') AS expired,
       coalesce(sum(json_array_length(CAST(players AS JSON)))
                FILTER (WHERE state IN ('queued', 'proposed')), 0) AS players_waiting,
       utc(min(submitted_at) FILTER (WHERE state = 'queued')) AS oldest_submitted
FROM tickets GROUP BY queue;
