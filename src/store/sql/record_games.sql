-- Records games that have ended, in one statement; for PostgreSQL. Returns the number and the id of each game that is
-- recorded. The numbers of games in the rows of parts become the ids of their matches.
--
-- $1: the games, as rows of `matches` with the number `game`. $2 to $6: rows of the tables of parts.
WITH games AS MATERIALIZED (
    SELECT g.*, coalesce(g.hosted, nextval('matches_id_seq')) AS id FROM ({new_games}) AS g
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
