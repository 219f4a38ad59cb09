-- Webhooks: the events that are to be sent. Triggers write them in the transaction of what they report,
-- whichever process commits it. Times are milliseconds since 1970 UTC.

-- The webhooks of the daemon's configuration. Without one, no event is written.
CREATE TABLE webhooks (
    name      TEXT    PRIMARY KEY,
    kinds     TEXT    NOT NULL,             -- of the events that it is sent, as in 'formed hosted'
    position  INTEGER NOT NULL,             -- the number of the last event that was sent or dropped
    delivered INTEGER NOT NULL DEFAULT 0,   -- how many were sent
    dropped   INTEGER NOT NULL DEFAULT 0,   -- how many were not
    tries     INTEGER NOT NULL DEFAULT 0,   -- failed tries of the event that waits
    failed_at INTEGER,                      -- when the last try failed; NULL after one that did not
    failure   TEXT                          -- how
) STRICT;

-- An event has no content: it is read from the rows that it names when it is sent.
CREATE TABLE webhook_events (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT    NOT NULL DEFAULT ('evt_' || lower(hex(randomblob(12)))),
    kind     TEXT    NOT NULL CHECK (kind IN ('formed', 'hosted', 'recorded')),
    match_id INTEGER NOT NULL,
    at       INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
    address  TEXT                           -- of the instance, if the match is hosted
) STRICT;

-- Bounds the table even if no daemon runs. The daemon notices the gap, and counts it as dropped.
CREATE TRIGGER webhook_events_are_bounded AFTER INSERT ON webhook_events BEGIN
    DELETE FROM webhook_events WHERE number <= NEW.number - 20000;
END;

-- A match is formed once no player has to accept it any more.
CREATE TRIGGER webhook_formed AFTER INSERT ON formed_matches
WHEN NEW.open_until IS NULL AND EXISTS (SELECT 1 FROM webhooks WHERE instr(kinds, 'formed')) BEGIN
    INSERT INTO webhook_events (kind, match_id) VALUES ('formed', NEW.match_id);
END;
CREATE TRIGGER webhook_accepted AFTER UPDATE OF open_until ON formed_matches
WHEN NEW.open_until IS NULL AND OLD.open_until IS NOT NULL
     AND EXISTS (SELECT 1 FROM webhooks WHERE instr(kinds, 'formed')) BEGIN
    INSERT INTO webhook_events (kind, match_id) VALUES ('formed', NEW.match_id);
END;

-- A match is hosted once its players can connect. The row is replaced whenever it changes: before that, the
-- old one is still there.
CREATE TRIGGER webhook_hosted BEFORE INSERT ON hosted_matches
WHEN NEW.state IN ('ready', 'joining', 'playing') AND NEW.address IS NOT NULL
     AND EXISTS (SELECT 1 FROM webhooks WHERE instr(kinds, 'hosted'))
     AND NOT EXISTS (SELECT 1 FROM hosted_matches old
                      WHERE old.match_id = NEW.match_id AND old.state IN ('ready', 'joining', 'playing')
                        AND old.instance IS NEW.instance AND old.address IS NEW.address) BEGIN
    INSERT INTO webhook_events (kind, match_id, address) VALUES ('hosted', NEW.match_id, NEW.address);
END;

-- Matches of old logs are no news.
CREATE TRIGGER webhook_recorded AFTER INSERT ON matches
WHEN NEW.ended_at > (unixepoch() - 86400) * 1000
     AND EXISTS (SELECT 1 FROM webhooks WHERE instr(kinds, 'recorded')) BEGIN
    INSERT INTO webhook_events (kind, match_id) VALUES ('recorded', NEW.id);
END;
