//! Lists of matches by what they have in common.

use std::collections::BTreeMap;

use super::super::{
    archive::{ArchivedOf, latest_in_chunks},
    chances::{told_columns, told_tables},
};
use super::{matches::line, page_match::MatchLine};
use crate::{
    domain::{Cause, PlayerKey, Timestamp},
    store::{Store, StoreError, db::*},
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
    /// Only rated ones of the matches with these ids.
    pub among: Option<&'a [i64]>,
}

impl Store {
    /// Whether Evenkeel has picked the teams of fewer than 3,000 matches, which are found one by one.
    async fn are_few_picked(&self) -> Result<bool, StoreError> {
        let query = scalar(
            "SELECT count(*) FROM (SELECT 1 FROM match_chances WHERE cause = 'picked' LIMIT 3000) AS picked",
        );
        let picked: i64 = query.fetch_one(&self.pages).await?;
        Ok(picked < 3_000)
    }

    /// The latest matches that a filter leaves, the last one first, archived ones too: at most `limit`.
    pub async fn filtered_matches(
        &self,
        filter: &MatchFilter<'_>,
        limit: usize,
    ) -> Result<MatchList, StoreError> {
        let few_picked = filter.picked && self.are_few_picked().await?;
        let rarer = match (filter.person, filter.other) {
            (Some(person), Some((other, _))) => Some(self.rarer(person, other).await?),
            (person, _) => person,
        };
        let one_more = limit.saturating_add(1);
        let mut lines = self
            .lines_of(filter.list(few_picked, rarer, one_more))
            .await?;
        let mut unread = None;
        if let Some(person) = filter.person {
            // Those that are earlier than a full page are on the next one.
            let last = lines.get(limit);
            let from = last.map_or(Timestamp(i64::MIN), |last| last.ended);
            let (ids, missing) = self.archived_of(filter, person, from, one_more).await?;
            unread = missing;
            if !ids.is_empty() {
                let ids: Vec<i64> = lines.iter().map(|line| line.id).chain(ids).collect();
                let among = MatchFilter {
                    among: Some(&ids),
                    person: None,
                    other: None,
                    ..*filter
                };
                lines = self
                    .lines_of(among.list(few_picked, None, ids.len()))
                    .await?;
            }
            lines.retain(|line| unread.is_none_or(|unread| line.ended > unread));
        }
        let next = match (lines.len() > limit, unread) {
            (true, _) => lines.get(limit.saturating_sub(1)).map(|last| last.id),
            (false, Some(unread)) => self.first_after(unread).await?,
            (false, None) => None,
        };
        lines.truncate(limit);
        Ok(MatchList { lines, next })
    }

    async fn lines_of(&self, list: Sql) -> Result<Vec<MatchLine>, StoreError> {
        let rows = list.build().fetch_all(&self.pages).await?;
        rows.iter().map(line).collect()
    }

    /// The ids of the latest archived matches of a person that ended at `from` or later, perhaps with some that the filter
    /// does not leave, and up to when some may be missing.
    async fn archived_of(
        &self,
        filter: &MatchFilter<'_>,
        person: i64,
        from: Timestamp,
        enough: usize,
    ) -> Result<(Vec<i64>, Option<Timestamp>), StoreError> {
        let any = scalar("SELECT EXISTS (SELECT 1 FROM archive_chunks)");
        if !any.fetch_one(&self.pages).await? {
            return Ok((Vec::new(), None));
        }
        let until = match filter.before {
            Some(before) => {
                let query = scalar("SELECT ended_at FROM matches WHERE id = $1").bind(before);
                query.fetch_optional(&self.pages).await?
            }
            None => None,
        };
        let mut counts_as = BTreeMap::new();
        let Some(player) = self.key_of(person, &mut counts_as).await? else {
            return Ok((Vec::new(), None));
        };
        let other = match filter.other {
            Some((other, together)) => match self.key_of(other, &mut counts_as).await? {
                Some(key) => Some((key, together)),
                None => return Ok((Vec::new(), None)),
            },
            None => None,
        };
        let wanted = ArchivedOf {
            player,
            other,
            identities: counts_as.keys().cloned().collect(),
            counts_as: counts_as.into_iter().collect(),
            from: filter.since.map_or(from, |since| since.max(from)),
            until: until.unwrap_or(Timestamp(i64::MAX)),
        };
        latest_in_chunks(self, &wanted, enough).await
    }

    /// The player who is a person, whose identities are added to `counts_as`; `None` if there is no such person.
    async fn key_of(
        &self,
        person: i64,
        counts_as: &mut BTreeMap<PlayerKey, PlayerKey>,
    ) -> Result<Option<PlayerKey>, StoreError> {
        let query = sql("SELECT kind, player FROM persons WHERE person = $1").bind(person);
        let Some(row) = query.fetch_optional(&self.pages).await? else {
            return Ok(None);
        };
        let key = row.player()?;
        let identities = self.identities_of(&key).await?;
        counts_as.extend(identities.into_iter().map(|one| (one, key.clone())));
        Ok(Some(key))
    }

    /// The first match that ended after a time: the list before it goes on with those that ended until then.
    async fn first_after(&self, time: Timestamp) -> Result<Option<i64>, StoreError> {
        let query = scalar(
            "SELECT id FROM matches WHERE ended_at > $1 ORDER BY ended_at, fingerprint LIMIT 1",
        );
        query.bind(time.0).fetch_optional(&self.pages).await
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
            (Some(_), _) => "d.ended_at",
            (None, Some(_)) if !elsewhere => "r.ended_at",
            _ => "m.ended_at",
        }
    }

    /// The statement that reads the list; `few_picked` is whether Evenkeel has picked the teams of few matches, `rarer` the
    /// person, or of two the one who was in fewer matches.
    pub(in crate::store) fn list(&self, few_picked: bool, rarer: Option<i64>, limit: usize) -> Sql {
        let mut query = match rarer {
            None => Sql::new(super::matches::lines!(
                "FROM matches m LEFT JOIN rulings r ON r.match_id = m.id ",
                "WHERE m.outcome <> 'abandoned'"
            )),
            Some(_) => Sql::new(super::matches::lines!(
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
                .push(" <> 0 AND ")
                .push(WITH_SCORES);
        }
        if let Some(since) = self.since {
            query
                .push(" AND ")
                .push(ended)
                .push(" >= ")
                .push_bind(since.0);
        }
        if let Some(ids) = self.among {
            query.push(" AND r.match_id IS NOT NULL AND r.unrated IS NULL AND m.id IN ");
            query.list(ids.iter().copied());
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
                .push(" <= (SELECT ended_at FROM matches WHERE id = ")
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

/// The condition that a match has scores: not the same one for all teams, unless no team has won.
const WITH_SCORES: &str = "(SELECT max(score) > min(score) OR (count(*) > 0 AND m.outcome <> 'won')
                            FROM match_teams t WHERE t.match_id = m.id)";
