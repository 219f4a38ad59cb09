-- Who is in which ticket that has not ended: one ticket for each player in each group of queues. The daemon that runs
-- the partition fills the table when it starts.
CREATE TABLE ticket_players (
    player      TEXT    NOT NULL,
    queue_group TEXT    NOT NULL,  -- empty for the queues of the partition without a group
    partition   INTEGER NOT NULL,  -- the number that stands for it, as in the numbers of its tickets
    ticket      INTEGER NOT NULL,  -- its number
    PRIMARY KEY (player, queue_group, partition)
) STRICT, WITHOUT ROWID;
