-- When the last player was forgotten, in numbers of changes: copies of the database with fewer changes still
-- contain that player.

ALTER TABLE player_changes ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;
