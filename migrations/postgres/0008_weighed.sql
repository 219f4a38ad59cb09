-- Derived: how many matches the table of weights is made from. A daemon of many players writes their weights less often
-- than rulings.

ALTER TABLE derived_from ADD COLUMN weighed BIGINT NOT NULL DEFAULT 0;
UPDATE derived_from SET weighed = matches;
