-- Those of the given games that are new beyond doubt, each with the id of its hosted match if it has one. A game is left out
-- if it or its match is on disk, if a log may have reported it (twins.rs compares), or if somebody was forgotten since it began: such games are recorded one by one.
SELECT given.*, (SELECT h.match_id FROM hosted_matches h
                  WHERE h.game = given.game AND NOT EXISTS (SELECT 1 FROM matches m WHERE m.id = h.match_id)) AS hosted
FROM {given}
WHERE NOT EXISTS (SELECT 1 FROM matches o WHERE o.game = given.game)
  AND NOT EXISTS (SELECT 1 FROM matches m WHERE m.fingerprint = given.fingerprint) -- it would skip an id
  AND NOT EXISTS (SELECT 1 FROM match_halves h WHERE h.fingerprint = given.fingerprint)
  AND NOT EXISTS (SELECT 1 FROM matches m
                   WHERE m.ended_at > given.started_at AND m.ended_at <= given.day_later
                     AND m.started_at < given.ended_at AND lower(m.game_type) = lower(given.game_type)
                     AND (m.server = given.server OR m.server = '' OR given.server = '') AND m.game IS NULL)
  AND NOT EXISTS (SELECT 1 FROM forgotten_lately f WHERE f.at >= given.started_at)
