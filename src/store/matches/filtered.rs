//! Lists of matches by what they have in common.

use super::{
    Matches,
    chances::{told_columns, told_tables},
    page_match::MatchLine,
};
use crate::{
    model::{Cause, Timestamp},
    store::{StoreError, db::*},
};

/// Which matches to list; all conditions hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct MatchFilter<'a> {
    /// The key of the ruleset.
    pub ruleset: Option<&'a str>,
    /// The map, as the game names it.
    pub map: Option<&'a str>,
    /// The game server, as it names itself.
    pub server: Option<&'a str>,
    /// The number of a person who played.
    pub person: Option<i64>,
    /// The number of another one, and whether it was on the same team.
    pub other: Option<(i64, bool)>,
    /// Whether Evenkeel has picked the teams.
    pub picked: bool,
    /// What the matches have in common. Such matches are rated, and have scores.
    pub cause: Option<Cause>,
    /// The instant from which on they ended.
    pub since: Option<Timestamp>,
    /// The match before which the list begins.
    pub before: Option<i64>,
}

impl Matches<'_> {
    /// Whether Evenkeel has picked the teams of fewer than 3,000 matches, which are found one by one.
    async fn are_few_picked(self) -> Result<bool, StoreError> {
        let query = scalar(
            "SELECT count(*) FROM (SELECT 1 FROM match_chances WHERE cause = 'picked' LIMIT 3000) AS picked",
        );
        let picked: i64 = query.fetch_one(&self.0.pages).await?;
        Ok(picked < 3_000)
    }

    /// The latest matches that a filter leaves, the last one first: at most `limit`.
    pub async fn filtered_matches(
        self,
        filter: &MatchFilter<'_>,
        limit: usize,
    ) -> Result<MatchList, StoreError> {
        let few_picked = filter.picked && self.are_few_picked().await?;
        let rarer = match (filter.person, filter.other) {
            (Some(person), Some((other, _))) => Some(self.rarer(person, other).await?),
            (person, _) => person,
        };
        let list = filter.list(few_picked, rarer, limit.saturating_add(1));
        let mut lines: Vec<MatchLine> = list.build_tuple().fetch_all(&self.0.pages).await?;
        let has_more = lines.len() > limit;
        lines.truncate(limit);
        let next = lines.last().filter(|_| has_more).map(|last| last.id);
        Ok(MatchList { lines, next })
    }
}

/// A part of a list of matches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MatchList {
    /// The matches, the last one first.
    pub lines: Vec<MatchLine>,
    /// The match before which the list goes on; `None` at its end.
    pub next: Option<i64>,
}

impl MatchFilter<'_> {
    /// The end of the match, in the table by whose index a list is read in order: that of the ruling for the matches of a
    /// ruleset, on whatever map and server, and that of the performance for those of a person. All are the same instant.
    fn ended(&self) -> &'static str {
        let elsewhere = self.map.is_some() || self.server.is_some();
        match (self.person, self.ruleset) {
            (Some(_), _) => "d.ended_ms",
            (None, Some(_)) if !elsewhere => "r.ended_at",
            _ => "m.ended_at",
        }
    }

    /// The statement that reads the list; `few_picked` is whether Evenkeel has picked the teams of few matches, `rarer` the
    /// person, or of two the one who was in fewer matches.
    pub(in crate::store) fn list(&self, few_picked: bool, rarer: Option<i64>, limit: usize) -> Sql {
        let mut query = match rarer {
            None => Sql::new(super::latest::lines!(
                "FROM matches m LEFT JOIN rulings r ON r.match_id = m.id ",
                "WHERE m.outcome <> 'abandoned'"
            )),
            Some(_) => Sql::new(super::latest::lines!(
                "FROM performances d JOIN matches m ON m.id = d.match_id LEFT JOIN rulings r ON r.match_id = m.id ",
                "WHERE m.outcome <> 'abandoned'"
            )),
        };
        let ended = self.ended();
        let texts = [
            (" AND r.ruleset = ", self.ruleset),
            (" AND m.map = ", self.map),
            (" AND m.server = ", self.server),
        ];
        for (condition, text) in texts {
            if let Some(text) = text {
                query.push(condition).push_bind(text.to_owned());
            }
        }
        if self.picked {
            // Among many matches, few are found by their list, and many by looking at the latest matches.
            query.push(" AND kp.match_id IS NOT NULL");
            if few_picked {
                query.push(
                    " AND m.id IN (SELECT match_id FROM match_chances WHERE cause = 'picked')",
                );
            }
        }
        if let Some(cause) = self.cause {
            query
                .push(" AND r.unrated IS NULL AND r.causes > 0 AND r.causes & ")
                .push_bind(i64::from(cause.bit()))
                .push(" <> 0 AND m.gap IS NOT NULL");
        }
        if let Some(since) = self.since {
            query.push(" AND ").push(ended).push(" >= ");
            match self.person {
                Some(_) => query.push_bind(since.0),
                None => query.push_bind(since),
            };
        }
        self.of_person(&mut query, rarer);
        self.go_on(&mut query);
        query
            .push(" ORDER BY ")
            .push(ended)
            .push(" DESC, m.fingerprint DESC LIMIT ")
            .push_bind(limit);
        query
    }

    /// Leaves the matches of a person, with or against another one.
    fn of_person(&self, query: &mut Sql, rarer: Option<i64>) {
        let Some((person, rarer)) = self.person.zip(rarer) else {
            return;
        };
        query.push(" AND d.person = ").push_bind(rarer);
        if let Some((other, together)) = self.other {
            query
                .push(
                    " AND EXISTS (SELECT 1 FROM performances p
                                  JOIN performances q ON q.match_id = p.match_id AND q.person = ",
                )
                .push_bind(other)
                .push(match together {
                    true => " AND q.team = p.team ",
                    false => " AND q.team <> p.team ",
                })
                .push("WHERE p.match_id = d.match_id AND p.person = ")
                .push_bind(person)
                .push(")");
        }
    }

    /// Leaves the matches from the one on that is next to the last one of the page before.
    fn go_on(&self, query: &mut Sql) {
        if let Some(before) = self.before {
            query
                .push(" AND ")
                .push(self.ended())
                .push(match self.person {
                    Some(_) => " <= (SELECT max(ended_ms) FROM performances WHERE match_id = ",
                    None => " <= (SELECT ended_at FROM matches WHERE id = ",
                })
                .push_bind(before)
                .push(")");
            query
                .push(
                    " AND (m.ended_at, m.fingerprint) < ((SELECT ended_at FROM matches WHERE id = ",
                )
                .push_bind(before)
                .push("), (SELECT fingerprint FROM matches WHERE id = ")
                .push_bind(before)
                .push("))");
        }
    }
}
