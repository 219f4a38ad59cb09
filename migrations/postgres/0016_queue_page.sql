-- Tickets that left because a player declined the match, or did not answer in time.
ALTER TABLE queue_hours ADD COLUMN unready BIGINT NOT NULL DEFAULT 0;
-- The page of queues lists who waits, the oldest ticket first.
CREATE INDEX tickets_waiting ON tickets (queue, submitted_at) WHERE state = 'queued';
