-- What may have made a match one-sided, as bits: 1 a player came late, 2 a player left, 4 teams of different sizes,
-- 8 a player with fewer than ten matches of the ruleset. NULL if the match is not rated or has no teams.
ALTER TABLE rulings ADD COLUMN causes BIGINT;

-- How far apart the scores were in the matches with the same causes.
CREATE TABLE balance_causes (
    ruleset TEXT NOT NULL,
    week    BIGINT NOT NULL,
    causes  BIGINT NOT NULL,
    matches BIGINT NOT NULL,
    gap     DOUBLE PRECISION NOT NULL,    -- sum of the differences between the highest and the lowest score
    squares DOUBLE PRECISION NOT NULL     -- sum of the squares of these differences
);
CREATE UNIQUE INDEX balance_causes_once ON balance_causes (week, md5(ruleset), causes);
CREATE INDEX balance_causes_by_ruleset ON balance_causes USING hash (ruleset);
