-- Which match a running game became: the number that the game had in its session and in the journal. An END that
-- is sent again, also after a crash, finds the match of its own game and of no other.

CREATE TABLE match_games (
    game     INTEGER NOT NULL PRIMARY KEY,
    match_id INTEGER NOT NULL UNIQUE REFERENCES matches (id) ON DELETE CASCADE
) STRICT;
