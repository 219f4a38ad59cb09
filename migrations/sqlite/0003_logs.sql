-- Matches that were told in two halves: the fingerprints of the halves, by which they are known when
-- their logs are read again.

CREATE TABLE match_halves (
    fingerprint BLOB    NOT NULL PRIMARY KEY CHECK (length(fingerprint) = 16),
    match_id    INTEGER NOT NULL REFERENCES matches (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX match_halves_by_match ON match_halves (match_id);

-- Which archived log tells of which match, so that reading the logs again can replace what was read
-- of them before. A log is named by its fingerprint, as its file in the archive is.

CREATE TABLE log_matches (
    log      BLOB    NOT NULL CHECK (length(log) = 16),
    match_id INTEGER NOT NULL REFERENCES matches (id) ON DELETE CASCADE,
    PRIMARY KEY (log, match_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX log_matches_by_match ON log_matches (match_id);
