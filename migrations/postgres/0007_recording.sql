-- A match is fewer rows. The stays of its players and the changes of its score are one JSON value of its row, with numbers
-- only: {"stays": for each seat in order, a list of [team, from_ms, to_ms]; "events": a list of [at_ms, team, points, seat]}.
-- It is NULL for archived matches. Two views show the rows that were in tables before.
-- What is written once with a match has no foreign keys: who deletes a match deletes its parts, too.

DROP VIEW player_history;
DROP VIEW match_players;

ALTER TABLE matches ADD COLUMN parts TEXT COLLATE "C";
UPDATE matches SET parts = json_build_object(
    'stays', (SELECT coalesce(json_agg(stays ORDER BY seat), '[]')
                FROM (SELECT p.seat, (SELECT coalesce(json_agg(json_build_array(s.team, s.from_ms, s.to_ms) ORDER BY s.stay), '[]')
                                        FROM presence s WHERE s.match_id = p.match_id AND s.seat = p.seat) AS stays
                        FROM participants p WHERE p.match_id = matches.id) AS seats),
    'events', (SELECT coalesce(json_agg(json_build_array(e.at_ms, e.team, e.points, e.seat) ORDER BY e.seq), '[]')
                 FROM score_events e WHERE e.match_id = matches.id))
WHERE chunk IS NULL;
DROP TABLE presence;
DROP TABLE score_events;

CREATE VIEW presence AS
SELECT m.id AS match_id, s.seat - 1 AS seat, t.stay - 1 AS stay,
       CAST(t.value ->> 0 AS BIGINT) AS team, CAST(t.value ->> 1 AS BIGINT) AS from_ms, CAST(t.value ->> 2 AS BIGINT) AS to_ms
FROM matches m
CROSS JOIN LATERAL json_array_elements(CAST(m.parts AS JSON) -> 'stays') WITH ORDINALITY AS s (value, seat)
CROSS JOIN LATERAL json_array_elements(s.value) WITH ORDINALITY AS t (value, stay);

CREATE VIEW score_events AS
SELECT m.id AS match_id, e.seq - 1 AS seq, CAST(e.value ->> 0 AS BIGINT) AS at_ms, CAST(e.value ->> 1 AS BIGINT) AS team,
       CAST(e.value ->> 2 AS DOUBLE PRECISION) AS points, CAST(e.value ->> 3 AS BIGINT) AS seat
FROM matches m
CROSS JOIN LATERAL json_array_elements(CAST(m.parts AS JSON) -> 'events') WITH ORDINALITY AS e (value, seq);

ALTER TABLE match_mutators DROP CONSTRAINT match_mutators_match_id_fkey;
ALTER TABLE match_teams DROP CONSTRAINT match_teams_match_id_fkey;
ALTER TABLE roles DROP CONSTRAINT roles_match_id_seat_fkey;
ALTER TABLE performances DROP CONSTRAINT performances_match_id_seat_fkey;
ALTER TABLE participants DROP CONSTRAINT participants_match_id_fkey, DROP CONSTRAINT participants_match_id_kind_player_key;
ALTER TABLE match_chances DROP CONSTRAINT match_chances_match_id_fkey;
ALTER TABLE match_games DROP CONSTRAINT match_games_match_id_fkey;
ALTER TABLE decisions DROP CONSTRAINT decisions_match_id_fkey;

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

-- Which transaction has recorded a match: those that were recorded since are counted without the others.
ALTER TABLE matches ADD COLUMN xid BIGINT;
ALTER TABLE matches ALTER COLUMN xid SET DEFAULT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT);
CREATE INDEX matches_by_xid ON matches (xid);

-- The matches of the queue whose result is expected.
CREATE INDEX formed_matches_expected ON formed_matches (formed_at) WHERE chance IS NOT NULL AND recorded IS NULL;

-- Games are recorded beside each other. Whoever adds an event holds this lock until its commit, so that events become
-- visible in the order of their numbers: a webhook that has read one event would never read an earlier one.
CREATE FUNCTION one_event_at_a_time() RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(1163283278);
$$;

CREATE OR REPLACE FUNCTION webhook_formed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM webhooks WHERE strpos(kinds, 'formed') > 0) THEN
        PERFORM one_event_at_a_time();
        INSERT INTO webhook_events (kind, match_id) VALUES ('formed', NEW.match_id);
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION webhook_hosted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM webhooks WHERE strpos(kinds, 'hosted') > 0)
       AND NOT EXISTS (SELECT 1 FROM hosted_matches b
                        WHERE b.match_id = NEW.match_id AND b.state IN ('ready', 'joining', 'playing')
                          AND b.instance IS NOT DISTINCT FROM NEW.instance
                          AND b.address IS NOT DISTINCT FROM NEW.address) THEN
        PERFORM one_event_at_a_time();
        INSERT INTO webhook_events (kind, match_id, address) VALUES ('hosted', NEW.match_id, NEW.address);
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION webhook_recorded() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.ended_at > (extract(epoch FROM clock_timestamp()) - 86400) * 1000
       AND EXISTS (SELECT 1 FROM webhooks WHERE strpos(kinds, 'recorded') > 0) THEN
        PERFORM one_event_at_a_time();
        INSERT INTO webhook_events (kind, match_id) VALUES ('recorded', NEW.id);
    END IF;
    RETURN NEW;
END $$;
