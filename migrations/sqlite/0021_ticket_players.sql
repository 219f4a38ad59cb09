-- Who is in which ticket that has not ended: one ticket for each player in each group of queues. The daemon that runs
-- the partition fills the table when it starts.
CREATE TABLE ticket_players (
    partition   INTEGER NOT NULL,  -- the number that stands for it, as in the numbers of its tickets
    queue_group TEXT    NOT NULL,  -- empty for the queues of the partition without a group
    player      TEXT    NOT NULL,
    ticket      INTEGER NOT NULL,  -- its number
    PRIMARY KEY (partition, queue_group, player)
) STRICT, WITHOUT ROWID;
