-- Derived: the number of the scale that a weight is on, so that a newer program can convert the weights of an older
-- one. It serves those until it has derived its own. 0 for weights from before this column.

ALTER TABLE weights ADD COLUMN scale BIGINT NOT NULL DEFAULT 0;
