-- Derived: the weights of players on each side and as commanders, where the rating system learns them apart.
-- NULL for players who have not been in such games, and for pinned weights.

ALTER TABLE weights ADD COLUMN side_0 REAL CHECK (side_0 BETWEEN 0 AND 100);
ALTER TABLE weights ADD COLUMN side_1 REAL CHECK (side_1 BETWEEN 0 AND 100);
ALTER TABLE weights ADD COLUMN commander REAL CHECK (commander BETWEEN 0 AND 100);

-- Derived: the seasons of the configuration. A match belongs to the season in which it ended.

CREATE TABLE seasons (
    starts_at INTEGER PRIMARY KEY,  -- milliseconds since 1970
    season    TEXT    NOT NULL      -- its date, with the time of day unless that is midnight
) STRICT;

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
    round(r.progress, 3) AS progress,
    round(w.side_0, 3) AS side_0,
    round(w.side_1, 3) AS side_1,
    round(w.commander, 3) AS commander,
    (SELECT s.season FROM seasons s WHERE s.starts_at <= w.last_seen ORDER BY s.starts_at DESC LIMIT 1) AS season
FROM weights w
LEFT JOIN displayed_ranks r ON r.ruleset = w.ruleset AND r.kind = w.kind AND r.player = w.player
LEFT JOIN divisions d ON d.division = r.division
ORDER BY w.ruleset, w.kind DESC, place, w.player;

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
    round((SELECT total(s.to_ms - s.from_ms) FROM presence s
            WHERE s.match_id = m.id AND s.seat = p.seat) / 60000.0, 2) AS minutes,
    (SELECT group_concat(CAST(t.score AS INTEGER), ':')
       FROM (SELECT score FROM match_teams WHERE match_id = m.id ORDER BY team) t) AS score,
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
    (SELECT count(*) FROM participants WHERE match_id = m.id AND kind = 'human') AS humans,
    (SELECT count(*) FROM participants WHERE match_id = m.id AND kind = 'bot') AS bots,
    r.unrated,
    (SELECT s.season FROM seasons s WHERE s.starts_at <= m.ended_at ORDER BY s.starts_at DESC LIMIT 1) AS season
FROM matches m
LEFT JOIN rulings r ON r.match_id = m.id
ORDER BY m.ended_at, m.fingerprint;
