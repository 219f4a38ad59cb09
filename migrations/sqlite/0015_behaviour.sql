-- What game servers report about players' behaviour, and how often players did not come to a match.
-- Times are milliseconds since 1970 UTC.

CREATE TABLE behaviour (
    player   TEXT    NOT NULL,     -- the identity of a human
    reporter TEXT    NOT NULL,     -- the game server; '*' where clients prove no name; '' for the daemon itself
    day      INTEGER NOT NULL,     -- days since 1970 UTC
    at       INTEGER NOT NULL,     -- when the last of these reports came
    points   REAL    NOT NULL,     -- their sum, within the limit of a day
    reports  INTEGER NOT NULL,
    no_shows INTEGER NOT NULL,     -- how often the player was called to a match and did not come
    PRIMARY KEY (player, reporter, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX behaviour_by_day ON behaviour (day);

-- Counts the changes of the table above, so that a daemon notices those of other processes.
CREATE TABLE behaviour_changes (changes INTEGER NOT NULL) STRICT;
INSERT INTO behaviour_changes VALUES (0);
