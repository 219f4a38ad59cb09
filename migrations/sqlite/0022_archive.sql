-- Old matches, compressed. What was reported about their players is only in a chunk: their rows in participants,
-- presence, roles and score_events are gone, and those in performances. All other rows of such a match stay.

-- Up to 1,000 matches: lines of JSON as `evenkeel export` writes them, compressed with gzip.
CREATE TABLE archive_chunks (
    chunk     INTEGER PRIMARY KEY,
    matches   INTEGER NOT NULL CHECK (matches >= 0), -- how many lines have a match
    first_end INTEGER NOT NULL,     -- when the earliest of them ended
    last_end  INTEGER NOT NULL,     -- when the latest of them ended
    length    INTEGER NOT NULL,     -- in bytes, before compression
    sha256    BLOB    NOT NULL CHECK (length(sha256) = 32), -- of the content
    content   BLOB    NOT NULL
) STRICT;

-- Where an archived match is: the chunk, and the line in it, from 0. NULL for matches that are in the tables.
ALTER TABLE matches ADD COLUMN chunk INTEGER REFERENCES archive_chunks (chunk);
ALTER TABLE matches ADD COLUMN line INTEGER;
-- How many took part in an archived match.
ALTER TABLE matches ADD COLUMN humans INTEGER;
ALTER TABLE matches ADD COLUMN bots INTEGER;
-- The matches that are not archived, the earliest first.
CREATE INDEX matches_in_tables ON matches (ended_at, fingerprint) WHERE chunk IS NULL;

-- Players who are forgotten, as long as chunks may still contain them. Whoever reads a chunk replaces them.
CREATE TABLE unfinished_forgets (
    kind    TEXT NOT NULL CHECK (kind IN ('human', 'bot')),
    player  TEXT NOT NULL CHECK (player <> ''),
    instead TEXT NOT NULL,          -- the identity that they have from now on
    PRIMARY KEY (kind, player)
) STRICT, WITHOUT ROWID;

-- Players who were forgotten in the last two days: games that were running then are recorded without them.
CREATE TABLE forgotten_lately (
    handle  TEXT    NOT NULL PRIMARY KEY, -- a keyed hash of kind and identity
    instead TEXT    NOT NULL,             -- the identity that they have in those games
    at      INTEGER NOT NULL              -- when they were forgotten
) STRICT, WITHOUT ROWID;

DROP VIEW match_report;
CREATE VIEW match_report AS
SELECT
    m.id AS match_id,
    datetime(m.started_at / 1000, 'unixepoch') AS started,
    round((m.ended_at - m.started_at) / 60000.0, 2) AS minutes,
    m.server,
    m.map,
    m.mode,
    r.ruleset,
    (SELECT group_concat(mutator, ' ') FROM match_mutators WHERE match_id = m.id) AS mutators,
    (SELECT group_concat(CAST(t.score AS INTEGER), ':')
       FROM (SELECT score FROM match_teams WHERE match_id = m.id ORDER BY team) t) AS score,
    m.outcome,
    m.winner,
    coalesce(m.humans, (SELECT count(*) FROM participants WHERE match_id = m.id AND kind = 'human')) AS humans,
    coalesce(m.bots, (SELECT count(*) FROM participants WHERE match_id = m.id AND kind = 'bot')) AS bots,
    r.unrated,
    (SELECT s.season FROM seasons s WHERE s.starts_at <= m.ended_at ORDER BY s.starts_at DESC LIMIT 1) AS season
FROM matches m
LEFT JOIN rulings r ON r.match_id = m.id
ORDER BY m.ended_at, m.fingerprint;
