-- Who is in which ticket that has not ended: one ticket for each player in each group of queues. The daemon that runs
-- the partition fills the table when it starts.
CREATE TABLE ticket_players (
    player      TEXT COLLATE "C" NOT NULL,
    queue_group TEXT COLLATE "C" NOT NULL, -- empty for the queues of the partition without a group
    partition   BIGINT NOT NULL,           -- the number that stands for it, as in the numbers of its tickets
    ticket      BIGINT NOT NULL,           -- its number
    PRIMARY KEY (player, queue_group, partition)
);
