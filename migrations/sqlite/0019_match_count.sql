-- The number of matches: after each match the daemon asks for it several times, and SQLite counts rows one by one.
CREATE TABLE match_count (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    matches INTEGER NOT NULL
) STRICT;
INSERT INTO match_count (id, matches) SELECT 1, count(*) FROM matches;

CREATE TRIGGER match_counted AFTER INSERT ON matches BEGIN
    UPDATE match_count SET matches = matches + 1;
END;
CREATE TRIGGER match_deleted AFTER DELETE ON matches BEGIN
    UPDATE match_count SET matches = matches - 1;
END;
