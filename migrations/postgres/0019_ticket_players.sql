-- Who is in which ticket that has not ended: one ticket for each player in each group of queues. The daemon that runs
-- the partition fills the table when it starts.
CREATE TABLE ticket_players (
    partition   BIGINT NOT NULL,           -- the number that stands for it, as in the numbers of its tickets
    queue_group TEXT COLLATE "C" NOT NULL, -- empty for the queues of the partition without a group
    player      TEXT COLLATE "C" NOT NULL,
    ticket      BIGINT NOT NULL,           -- its number
    PRIMARY KEY (partition, queue_group, player)
);
