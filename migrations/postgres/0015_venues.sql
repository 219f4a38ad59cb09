-- The pages of maps and of game servers list their matches, the last one first.
CREATE INDEX matches_by_map ON matches (map, ended_at);
CREATE INDEX matches_by_server ON matches (server, ended_at);
