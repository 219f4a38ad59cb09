-- Whether a weight that an operator has set is on the scale of the versions before this column. It then keeps its
-- strength: the program converts it when it reads it.

ALTER TABLE pinned_weights ADD COLUMN former BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE start_weights ADD COLUMN former BOOLEAN NOT NULL DEFAULT TRUE;
