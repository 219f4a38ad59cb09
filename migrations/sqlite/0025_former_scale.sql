-- Whether a weight that an operator has set is on the scale of the versions before this column. It then keeps its
-- strength: the program converts it when it reads it.

ALTER TABLE pinned_weights ADD COLUMN former INTEGER NOT NULL DEFAULT 1 CHECK (former IN (0, 1));
ALTER TABLE start_weights ADD COLUMN former INTEGER NOT NULL DEFAULT 1 CHECK (former IN (0, 1));
