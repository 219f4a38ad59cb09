-- Matches that an operator has declared void: they are kept, and not rated. By fingerprint, so that a match stays
-- void when its log is read again. Like the matches, never computed.

CREATE TABLE voided_fingerprints (
    fingerprint BLOB NOT NULL PRIMARY KEY CHECK (length(fingerprint) = 16)
) STRICT, WITHOUT ROWID;

-- The matches that this means: those with such a fingerprint, and those with such a half.
CREATE VIEW voided_matches AS
SELECT m.id AS match_id
FROM voided_fingerprints v JOIN matches m ON m.fingerprint = v.fingerprint
UNION
SELECT h.match_id
FROM voided_fingerprints v JOIN match_halves h ON h.fingerprint = v.fingerprint;

-- The outcome is the player's own now: in a match that a team has won, whether it was the team that the player was
-- on for longest. NULL for players who were on no team.
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
    r.unrated
FROM participants p
JOIN matches m ON m.id = p.match_id
LEFT JOIN rulings r ON r.match_id = m.id
LEFT JOIN performances f ON f.match_id = p.match_id AND f.seat = p.seat
ORDER BY m.ended_at, m.fingerprint, p.seat;
