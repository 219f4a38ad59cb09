-- Why a player left before the end of the match; NULL where they stayed, or where nobody told. Of those who
-- left of their own accord, the rest of the match counts for them.

ALTER TABLE participants ADD COLUMN left_reason TEXT
    CHECK (left_reason IN ('left', 'kicked', 'timeout', 'moved', 'other'));
