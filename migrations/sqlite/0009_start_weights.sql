-- The weights that an operator expects of players before their matches. Like the matches, never computed.

CREATE TABLE start_weights (
    kind      TEXT    NOT NULL CHECK (kind IN ('human', 'bot')),
    player    TEXT    NOT NULL CHECK (player <> ''),
    weight    REAL    NOT NULL CHECK (weight BETWEEN 0 AND 100),
    uncertain INTEGER NOT NULL CHECK (uncertain IN (0, 1)),
    PRIMARY KEY (kind, player)
) STRICT, WITHOUT ROWID;
