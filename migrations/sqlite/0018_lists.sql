-- The lists of matches with a cause, the last one first, and of those whose teams Evenkeel has picked.
-- SQLite uses the first index because it has all that a list reads of a ruling.
CREATE INDEX rulings_caused ON rulings (ruleset, ended_at, causes, unrated, chance) WHERE causes > 0;
-- The condition is not that on the step by which matches are joined: the primary key serves them better.
CREATE INDEX match_chances_picked ON match_chances (match_id) WHERE cause = 'picked';
