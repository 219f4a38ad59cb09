-- Identities that count as others without an operator, such as names with the tags of clans: what is configured decides.
ALTER TABLE merged_players ADD COLUMN automatic BOOLEAN NOT NULL DEFAULT FALSE;
