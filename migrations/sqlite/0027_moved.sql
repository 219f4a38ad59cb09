-- Has a row once `evenkeel migrate-store` has moved the content of this database to another one. Nothing opens it then.
CREATE TABLE moved (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    place TEXT NOT NULL                -- the other database: a path, or an address without its password
) STRICT;
