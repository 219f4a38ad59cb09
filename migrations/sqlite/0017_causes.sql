-- What may have made a match one-sided, as bits: 1 a player came late, 2 a player left, 4 teams of different sizes,
-- 8 a player with fewer than ten matches of the ruleset. NULL if the match is not rated or has no teams.
ALTER TABLE rulings ADD COLUMN causes INTEGER;

-- How far apart the scores were in the matches with the same causes.
CREATE TABLE balance_causes (
    ruleset TEXT NOT NULL,
    week    INTEGER NOT NULL,
    causes  INTEGER NOT NULL,
    matches INTEGER NOT NULL,
    gap     REAL NOT NULL,    -- sum of the differences between the highest and the lowest score
    squares REAL NOT NULL,    -- sum of the squares of these differences
    PRIMARY KEY (ruleset, week, causes)
) STRICT, WITHOUT ROWID;
