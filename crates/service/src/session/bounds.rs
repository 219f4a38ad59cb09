//! What the matches of a sender may bring and cost. It is asked before they are recorded.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::{
    SessionError, Sessions,
    hours::{HOUR, MOST, TooMany, hour_of},
    shares::{NewLimits, ShareUsedUp, Unknown},
    unlearned::UnlearnedRoom,
};
use crate::{
    model::{Kind, MatchRecord, PlayerKey, Timestamp, access::Holder},
    store::ReportedMatch,
};

/// How long a report over HTTP waits for room.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest time between two looks at whether there is room.
const LOOKS: Duration = Duration::from_millis(20);

/// Who reports matches over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reporter {
    /// A program, which states when its matches were played.
    Program,
    /// A person at a page, whose match has just ended.
    Person,
}

/// The hours and humans of matches that were counted.
pub(super) type CountedHours = Vec<(i64, Vec<PlayerKey>)>;

impl Sessions {
    /// Checks that a client may record these matches over HTTP, and takes what they bring from its shares. A match that was
    /// recorded before takes nothing. Returns what was counted, which the caller takes back if they are not recorded.
    ///
    /// # Errors
    /// Fails if a share is used up. Nothing is taken then.
    pub(super) async fn check_reported(
        &self,
        client: &str,
        reporter: Reporter,
        matches: &[ReportedMatch],
    ) -> Result<CountedHours, SessionError> {
        let answered = self.store.matches().are_answered(client, matches).await?;
        let new = matches.iter().zip(answered);
        let new = new.filter(|(_, is_answered)| !is_answered);
        let new: Vec<&MatchRecord> = new.map(|(one, _)| &one.record).collect();
        let checked = self.check_new(client, reporter, &new).await;
        if let Err(SessionError::UsedUp { .. }) = checked {
            self.metrics.refused.count();
        }
        checked
    }

    /// Waits until so little of what a client has reported is unlearned that these matches have room beside it. Returns their room.
    ///
    /// # Errors
    /// Fails if there is no room within [`PATIENCE`].
    pub(super) async fn enter_unlearned(
        &self,
        client: &str,
        matches: &[ReportedMatch],
    ) -> Result<UnlearnedRoom<'_>, SessionError> {
        let players = matches.iter().map(|one| one.record.participants.len());
        let players = players.sum();
        let until = Instant::now() + PATIENCE;
        loop {
            let passes = self.learning.passes();
            let learned = passes.as_ref().map_or(u64::MAX, |passes| *passes.borrow());
            if self.unlearned.lock().enter(client, players, learned) {
                return Ok(UnlearnedRoom {
                    unlearned: &self.unlearned,
                    client: client.to_owned(),
                    players,
                    learned_by: None,
                });
            }
            if Instant::now() >= until {
                self.metrics.refused.count();
                return Err(SessionError::UsedUp {
                    why: format!(
                        "what client {client} has reported before is not learned yet: try again in 1 s, or read matches \
                         from a file with `evenkeel ingest`"
                    ),
                    again: Some(Duration::from_secs(1)),
                });
            }
            match passes {
                // Room is also there when a report turns out wrong, which no pass tells.
                Some(mut passes) => drop(timeout(LOOKS, passes.changed()).await),
                None => sleep(LOOKS).await,
            }
        }
    }

    async fn check_new(
        &self,
        client: &str,
        reporter: Reporter,
        new: &[&MatchRecord],
    ) -> Result<CountedHours, SessionError> {
        self.check_late(client, new)?;
        let counted = match reporter {
            Reporter::Program => self.count_humans(client, new).await?,
            Reporter::Person => CountedHours::new(),
        };
        let owner = Holder::Client(client.into());
        self.take_new(&owner, new.iter().copied())
            .inspect_err(|_| self.hours.lock().uncount(client, &counted))?;
        Ok(counted)
    }

    /// Takes back what was counted of matches that were not recorded.
    pub(super) fn take_back(&self, client: &str, counted: &CountedHours) {
        self.hours.lock().forget(client, counted);
    }

    /// Checks that a client may cause another replay, if one of these matches would.
    fn check_late(&self, client: &str, new: &[&MatchRecord]) -> Result<(), SessionError> {
        let is_late = |record: &&MatchRecord| self.learning.is_late(record.end);
        let wait = self.learning.wait_for_late(client);
        let Some(wait) = wait.filter(|_| new.iter().any(is_late)) else {
            return Ok(());
        };
        let seconds = wait.as_secs().max(1);
        Err(SessionError::UsedUp {
            why: format!(
                "client {client} has used its processor time for matches that are earlier than others, 10 s a minute: try \
                 again in {seconds} s, or read them from a file with `evenkeel ingest`"
            ),
            again: Some(wait),
        })
    }

    /// Counts the matches of each human in each hour in which the matches of a program ended.
    async fn count_humans(
        &self,
        client: &str,
        new: &[&MatchRecord],
    ) -> Result<CountedHours, SessionError> {
        let standings = self.learning.standings();
        let matches: CountedHours = new
            .iter()
            .map(|record| {
                let humans = record.participants.iter().map(|one| &one.key);
                let humans = humans.filter(|key| key.kind == Kind::Human);
                let mut humans: Vec<PlayerKey> = humans
                    .map(|key| standings.counted_as(key).into_owned())
                    .collect();
                humans.sort_unstable();
                humans.dedup();
                (hour_of(record.end), humans)
            })
            .collect();
        for (hour, _) in &matches {
            let key = (client.to_owned(), *hour);
            if !self.hours.lock().lacks(&key) {
                continue;
            }
            let from = Timestamp(hour.saturating_mul(HOUR));
            let store = self.store.matches();
            let stored = store
                .humans_reported(client, from, from.plus_millis(HOUR))
                .await?;
            let stored = stored.into_iter();
            let stored =
                stored.map(|(key, count)| (standings.counted_as(&key).into_owned(), count));
            self.hours.lock().load(key, stored);
        }
        let counted = self.hours.lock().count(client, &matches);
        match counted {
            Ok(()) => Ok(matches),
            Err(too_many) => Err(self.too_many_of(client, new, &too_many)),
        }
    }

    fn too_many_of(&self, client: &str, new: &[&MatchRecord], of: &TooMany) -> SessionError {
        let standings = self.learning.standings();
        // The name that the client has for them.
        let mut keys = new
            .iter()
            .flat_map(|record| &record.participants)
            .map(|one| &one.key);
        let id = keys.find(|key| *standings.counted_as(key) == of.human);
        let id = &id.unwrap_or(&of.human).id;
        let from = Timestamp(of.hour.saturating_mul(HOUR));
        let next = from.plus_millis(HOUR);
        let left = next.0.saturating_sub(self.clock.now().0);
        let is_now = (1..=HOUR).contains(&left);
        SessionError::UsedUp {
            why: format!(
                "{id} has {MOST} matches of client {client} that ended from {from} to {next}, and nobody has more in an \
                 hour: state `start` (no `start` means now), or read them from a file with `evenkeel ingest`"
            ),
            again: is_now.then(|| Duration::from_millis(left.unsigned_abs())),
        }
    }

    /// Takes from a sender's share what these matches, as they are recorded, bring of which nothing is known: rulesets and
    /// players. All of it, or nothing. Matches that are not rated teach nothing, and bring nothing.
    ///
    /// # Errors
    /// Fails if the share is too small for it.
    pub(super) fn take_new<'a>(
        &self,
        owner: &Holder,
        matches: impl Iterator<Item = &'a MatchRecord>,
    ) -> Result<(), ShareUsedUp> {
        let mut shares = self.shares.lock();
        if shares.is_off() {
            return Ok(());
        }
        let standings = self.learning.standings();
        let mut new = Unknown::default();
        for record in matches.filter(|record| self.unrated(record).is_none()) {
            let rulebook = self.rulebook();
            let (game_type, mode) = (&record.game_type, &record.mode);
            let ruleset = rulebook.ruleset_of_mode(game_type, mode, &record.mutators);
            if !standings.knows_ruleset(&ruleset) {
                shares.add_ruleset(&mut new, &ruleset);
            }
            let merged = standings.merged(record);
            for player in merged.participants.iter().filter(|one| one.millis() > 0) {
                if !standings.knows(&player.key) {
                    shares.add_player(&mut new, &player.key);
                }
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        let taken = shares.take(owner, new, self.clock.millis());
        taken.map_err(|(used_up, is_news)| {
            if is_news {
                tracing::warn!("{used_up}");
            }
            used_up
        })
    }

    /// Puts other limits in force on what senders may bring that is new.
    pub fn set_new_limits(&self, limits: NewLimits) {
        self.shares.lock().set_limits(limits);
    }
}
