-- Backfill: players of the queue who take free seats of matches in play. And the matches for which an
-- instance that is away must be sent CLOSE when it comes back.

-- A seat that was not there when the match was formed.
ALTER TABLE formed_seats ADD COLUMN later INTEGER NOT NULL DEFAULT 0 CHECK (later IN (0, 1));

-- JSON objects: the number of seats to fill on each team; and of each player who was sent to the match in
-- play, the team, and until when the player may come.
ALTER TABLE hosted_matches ADD COLUMN asked TEXT NOT NULL DEFAULT '{}';
ALTER TABLE hosted_matches ADD COLUMN coming TEXT NOT NULL DEFAULT '{}';

CREATE TABLE owed_closes (
    instance TEXT    NOT NULL,
    match_id INTEGER NOT NULL,
    why      TEXT    NOT NULL,
    PRIMARY KEY (instance, match_id)
) STRICT, WITHOUT ROWID;
