-- Hosted matches in play: who is in them now, and who is on the way.

-- A JSON array of [player, team]; NULL before the game server has reported its players. Until now it was
-- only in memory, so that a client could be sent the names of players who had left.
ALTER TABLE hosted_matches ADD COLUMN roster TEXT;

-- A JSON array of the players whom the game server has sent away while they were on the way.
ALTER TABLE hosted_matches ADD COLUMN sent_away TEXT NOT NULL DEFAULT '[]';

-- Each player on the way has a third number: that of the ticket, whose players come together.
UPDATE hosted_matches SET coming = (
    SELECT json_group_object(c.key, json_array(
               json_extract(c.value, '$[0]'), json_extract(c.value, '$[1]'),
               coalesce((SELECT s.ticket FROM formed_seats s
                         WHERE s.match_id = hosted_matches.match_id AND s.player = c.key AND s.later = 1), 0)))
    FROM json_each(hosted_matches.coming) c)
WHERE coming <> '{}';

-- Players who are in a hosted match do not wait any more.
DROP VIEW queue_report;
CREATE VIEW queue_report AS
SELECT queue,
       sum(state = 'queued') AS queued,
       sum(state = 'proposed') AS proposed,
       sum(state IN ('hosted', 'called')) AS hosted,
       sum(state = 'matched') AS matched,
       sum(state = 'cancelled') AS cancelled,
       sum(state = 'expired') AS expired,
       sum(CASE WHEN state IN ('queued', 'proposed') THEN json_array_length(players) ELSE 0 END)
           AS players_waiting,
       min(CASE WHEN state = 'queued' THEN submitted_at END) AS oldest_submitted_at
FROM tickets GROUP BY queue;
