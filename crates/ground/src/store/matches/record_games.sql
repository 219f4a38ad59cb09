-- Records games that have ended, in one statement; for PostgreSQL. Returns the number and the id of each game that is
-- recorded. The numbers of games in the other rows become the ids of their matches.
--
-- $1: the games, as rows of `matches` with the number `game`. $2, $3: rows of `match_players` and `match_chances`.
WITH games AS MATERIALIZED (
    SELECT g.*, coalesce(g.hosted, nextval('matches_id_seq')) AS id FROM ({new_games}) AS g
), heads AS (
    INSERT INTO matches (id, game, fingerprint, started_at, ended_at, untimed, server, client, map, game_type, mutators, mode,
                         outcome, winner, scores, gap, humans, bots, record, too_many_new)
    SELECT id, game, fingerprint, started_at, ended_at, untimed, server, client, map, game_type, mutators, mode, outcome, winner,
           scores, gap, humans, bots, record, too_many_new
    FROM games ON CONFLICT DO NOTHING RETURNING id, fingerprint
), new AS MATERIALIZED (
    SELECT game, id FROM games JOIN heads USING (id, fingerprint)
), players AS (
    INSERT INTO match_players (match_id, seat, kind, player, name, team, share, points, kills, deaths)
    SELECT id, seat, kind, player, name, team, share, points, kills, deaths
    FROM json_populate_recordset(NULL::match_players, $2::json) p JOIN new ON game = p.match_id
), chances AS (
    INSERT INTO match_chances (match_id, step, cause, at_ms, seat, from_team, to_team, chance, chances, humans, bots, ruleset)
    SELECT id, step, cause, at_ms, seat, from_team, to_team, chance, chances, humans, bots, ruleset
    FROM json_populate_recordset(NULL::match_chances, $3::json) p JOIN new ON game = p.match_id
), decided AS (
    UPDATE decisions SET match_id = new.id FROM new WHERE decisions.game = new.game
)
SELECT game, id, EXISTS (SELECT 1 FROM formed_matches WHERE chance IS NOT NULL AND recorded IS NULL) AS expects FROM new
