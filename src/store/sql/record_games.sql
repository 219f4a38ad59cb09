-- Records games that have ended, in one statement; for PostgreSQL. Returns the number and the id of each game that is
-- recorded. A game is left out if it may not be new, if its match is on disk, or if somebody was forgotten since it
-- began: such games are recorded one by one. The numbers of games in the rows of parts become the ids of their matches.
--
-- $1: the games, as rows of `matches` with the number `game`. $2 to $6: rows of the tables of parts.
WITH games AS MATERIALIZED (
    SELECT g.*, coalesce(
        (SELECT h.match_id FROM hosted_matches h
          WHERE h.game = g.game AND NOT EXISTS (SELECT 1 FROM matches m WHERE m.id = h.match_id)),
        nextval('matches_id_seq')) AS id
    FROM json_to_recordset($1::json) AS g (
        game BIGINT, fingerprint BYTEA, server TEXT, started_at BIGINT, ended_at BIGINT, log_clock BIGINT, map TEXT,
        game_type TEXT, mode TEXT, outcome TEXT, winner BIGINT, untimed BOOLEAN, parts TEXT)
    WHERE NOT EXISTS (SELECT 1 FROM match_games o WHERE o.game = g.game)
      AND NOT EXISTS (SELECT 1 FROM matches m WHERE m.fingerprint = g.fingerprint) -- it would skip an id
      AND NOT EXISTS (SELECT 1 FROM match_halves h WHERE h.fingerprint = g.fingerprint)
      AND NOT EXISTS (SELECT 1 FROM forgotten_lately f WHERE f.at >= g.started_at)
), heads AS (
    INSERT INTO matches (id, fingerprint, server, started_at, ended_at, log_clock, map, game_type, mode, outcome, winner,
                         untimed, parts)
    SELECT id, fingerprint, server, started_at, ended_at, log_clock, map, game_type, mode, outcome, winner, untimed, parts
    FROM games ON CONFLICT DO NOTHING RETURNING id, fingerprint
), new AS MATERIALIZED (
    SELECT game, id FROM games JOIN heads USING (id, fingerprint)
), numbers AS (
    -- Fails if another process records the same game at this time.
    INSERT INTO match_games (game, match_id) SELECT game, id FROM new
), mutators AS (
    INSERT INTO match_mutators (match_id, mutator)
    SELECT id, mutator FROM json_populate_recordset(NULL::match_mutators, $2::json) p JOIN new ON game = p.match_id
), teams AS (
    INSERT INTO match_teams (match_id, team, score)
    SELECT id, team, score FROM json_populate_recordset(NULL::match_teams, $3::json) p JOIN new ON game = p.match_id
), players AS (
    INSERT INTO participants (match_id, seat, kind, player, name, points, kills, deaths, party, left_reason)
    SELECT id, seat, kind, player, name, points, kills, deaths, party, left_reason
    FROM json_populate_recordset(NULL::participants, $4::json) p JOIN new ON game = p.match_id
), parts AS (
    INSERT INTO roles (match_id, seat, role, team, share)
    SELECT id, seat, role, team, share FROM json_populate_recordset(NULL::roles, $5::json) p JOIN new ON game = p.match_id
), chances AS (
    INSERT INTO match_chances (match_id, step, cause, at_ms, seat, from_team, to_team, chance, chances, humans, bots, ruleset)
    SELECT id, step, cause, at_ms, seat, from_team, to_team, chance, chances, humans, bots, ruleset
    FROM json_populate_recordset(NULL::match_chances, $6::json) p JOIN new ON game = p.match_id
), decided AS (
    UPDATE decisions SET match_id = new.id FROM new WHERE decisions.game = new.game
)
SELECT game, id, EXISTS (SELECT 1 FROM formed_matches WHERE chance IS NOT NULL AND recorded IS NULL) AS expects FROM new
