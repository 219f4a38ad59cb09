-- The same matches. With CROSS JOIN, SQLite begins with the few fingerprints, and looks for each of them; with JOIN, it
-- reads all matches, which takes longer with each match.
DROP VIEW voided_matches;
CREATE VIEW voided_matches AS
SELECT m.id AS match_id
FROM voided_fingerprints v CROSS JOIN matches m ON m.fingerprint = v.fingerprint
UNION
SELECT h.match_id
FROM voided_fingerprints v CROSS JOIN match_halves h ON h.fingerprint = v.fingerprint;
