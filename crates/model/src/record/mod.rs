//! The match record: all that is stored of a finished game, and the invariants that it holds. It is the only ground truth.

mod play;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{PlayerKey, Timestamp, access::Holder, worded};

pub use play::PlayTime;

/// The largest number of teams a game may have.
pub const MAX_TEAMS: usize = 8;
// Bounds on one record, far above any real game, so that a hostile log cannot exhaust memory.
/// The largest number of players in one game, over all its time.
pub const MAX_PLAYERS: usize = 1_024;
/// The largest number of score events in one game.
pub const MAX_EVENTS: usize = 200_000;
/// The largest number of stays on a team in one game, over all its players.
pub const MAX_STAYS: usize = 100_000;
/// The most roles of one participant.
pub const MAX_ROLES: usize = 16;
/// The length on whose scale the stays of a match are stated whose length is not known: 20 minutes.
pub const UNTIMED_MILLIS: u64 = 20 * 60 * 1_000;

/// An interval of a game in milliseconds since its start, `from` included and `to` excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The first millisecond of the interval.
    pub from: u64,
    /// The first millisecond after the interval.
    pub to: u64,
}

impl Span {
    /// Length of the interval in milliseconds.
    pub fn millis(self) -> u64 {
        self.to.saturating_sub(self.from)
    }

    /// The weighted share of a game that the interval covers; earlier time counts more. It is a^(−from) −
    /// a^(−to) with a = 2^(2/r), where r is the usual length of such games, as on the Natural Selection 2
    /// page: the first half of a usual game counts twice as much as the second. The result is divided by
    /// that of the whole game of `millis`, which is therefore 1.
    pub fn early_share(self, millis: u64, usual: u64) -> f64 {
        let remaining = |at: u64| libm::exp2(-2.0 * at as f64 / usual.max(1) as f64);
        let all = 1.0 - remaining(millis);
        if all <= 0.0 {
            return 1.0; // far shorter than usual: all of it is equally early
        }
        (remaining(self.from) - remaining(self.to)) / all
    }

    /// The part of the interval that another covers, too; `None` if they do not overlap.
    pub fn overlap(self, other: Self) -> Option<Self> {
        let (from, to) = (self.from.max(other.from), self.to.min(other.to));
        (from < to).then_some(Self { from, to })
    }

    /// Whether the interval includes the millisecond `at`.
    pub fn contains(self, at: u64) -> bool {
        self.from <= at && at < self.to
    }
}

/// One uninterrupted stay of a participant on one team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presence {
    /// The team, counted from 0; always 0 in a game without teams.
    pub team: u8,
    /// The interval of the stay, since the start of play.
    pub span: Span,
}

/// A special role of a participant, such as commander.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Role {
    /// Name of the role, in lower case.
    pub name: String,
    /// The team on which the participant had the role.
    pub team: u8,
    /// The share of the game in which the participant had the role, weighted like time on a team: 0
    /// to 1.
    pub share: f64,
}

/// A player of a match. Each identity has one entry, however often it joined and left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Participant {
    /// The identity that the match is counted for.
    pub key: PlayerKey,
    /// The name used last in the match: the identity where that is a name, and empty if no name was stated.
    pub name: String,
    /// Their stays on teams, in time order.
    pub presence: Vec<Presence>,
    /// Their points on the scoreboard at the end; `None` if the log has none.
    pub points: Option<f64>,
    /// Number of opponents they killed, without team mates and themselves.
    pub kills: u32,
    /// Number of their deaths, from any cause.
    pub deaths: u32,
    /// Their roles, sorted by name and team, each once.
    pub roles: Vec<Role>,
    /// The number of their party, which only its members share; `None` without a party.
    pub party: Option<u32>,
    /// Why they left before the end; `None` if they stayed or came back, or if the log does not
    /// state it.
    pub left: Option<LeaveReason>,
}

impl Participant {
    /// Their time on teams, in milliseconds.
    pub fn millis(&self) -> u64 {
        self.presence.iter().map(|stay| stay.span.millis()).sum()
    }

    /// The team that the participant was on for longest, of two the one with the lower number; `None` if they
    /// were on none.
    pub fn main_team(&self) -> Option<u8> {
        let mut stayed: BTreeMap<u8, u64> = BTreeMap::new();
        for stay in &self.presence {
            *stayed.entry(stay.team).or_default() += stay.span.millis();
        }
        let longest = stayed.into_iter().rev().max_by_key(|(_, millis)| *millis);
        longest.map(|(team, _)| team)
    }
}

/// A change of a team's score at one time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreEvent {
    /// Milliseconds since the start of play.
    pub at: u64,
    /// The team whose score changed.
    pub team: u8,
    /// The difference; negative if the game subtracts points.
    pub points: f64,
    /// Seat of the participant who scored: an index into [`MatchRecord::participants`].
    pub by: Option<u32>,
}

/// How a finished game ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// This team won.
    Won(u8),
    /// No team won.
    Draw,
    /// The game has no teams, or the log does not state the outcome.
    #[default]
    Undecided,
    /// The game was cut off before it was decided.
    Abandoned,
}

/// Final scores as people write them, such as `3:1`; `-:-` if they are not known.
pub fn score_text(scores: &[Option<f64>]) -> String {
    let text = |score: &Option<f64>| score.map_or("-".to_owned(), |score| score.to_string());
    let scores: Vec<String> = scores.iter().map(text).collect();
    scores.join(":")
}

/// One finished or abandoned game. The default is empty, and not valid.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MatchRecord {
    /// Name of the game server.
    pub server: String,
    /// Which client has brought the match: a game server by the name of its HELLO, the client of a request over HTTP, or
    /// the command that has read its log, such as [`INGEST`]. Empty if it is not known.
    pub client: String,
    /// When play began (after warm-up).
    pub start: Timestamp,
    /// When play ended.
    pub end: Timestamp,
    /// For a log without dates: its own clock when play began, in milliseconds. `start` is then an
    /// estimate and is left out of the fingerprint.
    pub clock: Option<u64>,
    /// Whether it is not known how long the match lasted. `start` and `end` are then one instant, and stays and events
    /// are parts of a match of [`UNTIMED_MILLIS`].
    pub untimed: bool,
    /// Whose share of new rulesets and players was used up when the match was recorded. It is not rated then, until an
    /// operator admits it; `None` for any other match.
    pub too_many_new: Option<Holder>,
    /// The bytes of the fingerprint under which earlier versions have read the game from its log, where it does not follow
    /// from the rest: the record has players now whom they left out.
    #[serde(skip)]
    pub logged_as: Option<[u8; 16]>,
    /// Name of the map.
    pub map: String,
    /// The game type as the game names it.
    pub game_type: String,
    /// The league, region or playlist; empty if there is none.
    pub mode: String,
    /// All active mutators as the game names them, sorted, each once.
    pub mutators: Vec<String>,
    /// Final score per team; empty in a game without teams.
    pub scores: Vec<f64>,
    /// Whether no score was stated, at most who has won. All scores are then 0.
    pub unscored: bool,
    /// The players who took part; once the match is recorded, in the order of their keys at that time.
    pub participants: Vec<Participant>,
    /// Score changes in time order. If the log misses some, they add up to less than `scores`.
    pub events: Vec<ScoreEvent>,
    /// The result, or why there is none.
    pub outcome: Outcome,
}

impl MatchRecord {
    /// Length of play in milliseconds; [`UNTIMED_MILLIS`] if it is not known.
    pub fn millis(&self) -> u64 {
        if self.untimed {
            return UNTIMED_MILLIS;
        }
        u64::try_from(self.end.0.saturating_sub(self.start.0)).unwrap_or(0)
    }

    /// Whether the match was played in teams.
    pub fn has_teams(&self) -> bool {
        !self.scores.is_empty()
    }

    /// The final score of each team; `None` where it is not known.
    pub fn known_scores(&self) -> Vec<Option<f64>> {
        let scores = self.scores.iter();
        scores
            .map(|score| (!self.unscored).then_some(*score))
            .collect()
    }

    /// The difference between the highest and the lowest score, which is 0 for a draw whatever they are; `None` without teams.
    /// Where a team has won with the same score as all others, no scores were reported.
    pub fn score_gap(&self) -> Option<f64> {
        let high = self.scores.iter().copied().reduce(f64::max)?;
        let low = self.scores.iter().copied().reduce(f64::min)?;
        let is_known = match self.outcome {
            Outcome::Won(_) => high > low,
            Outcome::Draw => true,
            Outcome::Undecided | Outcome::Abandoned => !self.unscored,
        };
        is_known.then_some(high - low)
    }

    /// The outcome that follows from final scores: the team with the highest score wins, and a tie
    /// is a draw.
    pub fn outcome_of(scores: &[f64]) -> Outcome {
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut leaders = (0u8..).zip(scores).filter(|(_, score)| **score == best);
        match (leaders.next(), leaders.next()) {
            (None, _) => Outcome::Undecided,
            (Some((team, _)), None) => Outcome::Won(team),
            (Some(_), Some(_)) => Outcome::Draw,
        }
    }

    /// The same match with the numbers of its first two teams exchanged.
    #[must_use]
    pub fn with_teams_exchanged(mut self) -> Self {
        if self.scores.len() < 2 {
            return self;
        }
        self.scores.swap(0, 1);
        if let Outcome::Won(team) = &mut self.outcome {
            *team = other_side(*team);
        }
        for event in &mut self.events {
            event.team = other_side(event.team);
        }
        for participant in &mut self.participants {
            let stays = participant.presence.iter_mut().map(|stay| &mut stay.team);
            let roles = participant.roles.iter_mut().map(|role| &mut role.team);
            let teams = stays.chain(roles);
            teams.for_each(|team| *team = other_side(*team));
        }
        self
    }
}

/// The other one of the two sides; any other team stays as it is.
pub fn other_side(team: u8) -> u8 {
    match team {
        0 => 1,
        1 => 0,
        other => other,
    }
}

worded! {
    /// The reason that LEAVE states.
    ///
    /// The set is closed, because each reason either counts against the player or does not. A word that
    /// is none of these is [`Other`](Self::Other), which does not: a game server that states a reason
    /// does not mean that the player simply left.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum LeaveReason {
        /// The player left of their own accord. This is what LEAVE without a reason means.
        #[default]
        Left = "left",
        /// An admin or a vote removed the player.
        Kicked = "kicked",
        /// The player's connection was lost.
        Timeout = "timeout",
        /// The game server sent the player to another game.
        Moved = "moved",
        /// The game server stated another reason.
        Other = "other",
    }
}

impl LeaveReason {
    /// The longest word that [`read`](Self::read) accepts, in bytes.
    const MAX_WORD: usize = 32;

    /// The reason that a game server states: one of the words of [`as_str`](Self::as_str) in upper
    /// or lower case, or `quit` for `left`. Any other word of up to 32 letters, digits, hyphens and
    /// underscores is [`Other`](Self::Other); any other text is `None`.
    pub fn read(word: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if word.is_empty() || word.len() > Self::MAX_WORD || !word.bytes().all(plain) {
            return None;
        }
        let word = word.to_ascii_lowercase();
        Some(match word.as_str() {
            "quit" => Self::Left,
            known => Self::parse(known).unwrap_or(Self::Other),
        })
    }

    /// Whether the player could have stayed, so that the rest of the game counts for them.
    pub fn is_own_choice(self) -> bool {
        self == Self::Left
    }
}

/// The id of a match. A match of a queue has it from the moment it is formed, and END replies it.
pub type MatchId = i64;

const MAX_MUTATORS: usize = 256;
const MAX_TEXT: usize = 1_024;
/// One week of play. A longer game means that the log's clock is broken; an empty server may wait for longer.
const MAX_MILLIS: u64 = 7 * 24 * 3_600_000;
/// The largest number of points of a team or player. A larger one means that a counter is broken.
const MAX_POINTS: f64 = 1e9;

/// Why a record is invalid, in one sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RecordError(pub(crate) &'static str);

impl MatchRecord {
    /// Checks the invariants on which all users of a record rely: bounded sizes, finite numbers,
    /// existing teams, times within the game and in order, one entry per identity.
    ///
    /// # Errors
    /// Returns the first invariant that does not hold.
    pub fn check(&self) -> Result<(), RecordError> {
        let texts = [
            &self.server,
            &self.client,
            &self.map,
            &self.game_type,
            &self.mode,
        ];
        let texts = texts.into_iter().chain(&self.mutators);
        let owner = match &self.too_many_new {
            Some(Holder::Client(name)) => name.len(),
            Some(Holder::Address(_) | Holder::ThisMachine) | None => 0,
        };
        ensure(
            texts.into_iter().all(|t| t.len() <= MAX_TEXT) && owner <= MAX_TEXT,
            "a name is too long",
        )?;
        ensure(!self.game_type.is_empty(), "no game type")?;
        ensure(self.mutators.len() <= MAX_MUTATORS, "too many mutators")?;
        ensure(
            self.mutators.is_sorted_by(|a, b| a < b),
            "mutators are not sorted and unique",
        )?;
        ensure(self.start <= self.end, "it ends before it starts")?;
        ensure(
            Timestamp::YEARS.contains(&self.start) && Timestamp::YEARS.contains(&self.end),
            "it is not in the years 0 to 9998",
        )?;
        ensure(
            self.millis() <= MAX_MILLIS || self.play_millis() <= MAX_MILLIS,
            "it lasts over a week",
        )?;
        ensure(
            !self.untimed || self.start == self.end,
            "its length is known and not known",
        )?;
        ensure(
            self.scores.len() != 1 && self.scores.len() <= MAX_TEAMS,
            "impossible number of teams",
        )?;
        ensure(
            self.scores.iter().all(|s| s.abs() <= MAX_POINTS),
            "impossible score",
        )?;
        ensure(
            !self.unscored
                || self.has_teams()
                    && self.events.is_empty()
                    && self.scores.iter().all(|score| *score == 0.0),
            "its scores are known and not known",
        )?;
        if let Outcome::Won(team) = self.outcome {
            ensure(
                usize::from(team) < self.scores.len(),
                "the winner does not exist",
            )?;
        }
        self.check_participants()?;
        self.check_events()
    }

    fn check_participants(&self) -> Result<(), RecordError> {
        ensure(
            self.participants.len() <= MAX_PLAYERS,
            "too many participants",
        )?;
        let mut keys: Vec<_> = self.participants.iter().map(|p| &p.key).collect();
        keys.sort_unstable();
        ensure(
            keys.is_sorted_by(|a, b| a < b),
            "a participant is listed twice",
        )?;
        let spans: usize = self.participants.iter().map(|p| p.presence.len()).sum();
        ensure(spans <= MAX_STAYS, "too many stays on teams")?;
        for participant in &self.participants {
            let Participant {
                key,
                name,
                presence,
                points,
                roles,
                ..
            } = participant;
            ensure(!key.id.is_empty(), "a participant has no identity")?;
            ensure(
                key.id.len() <= MAX_TEXT && name.len() <= MAX_TEXT,
                "a name is too long",
            )?;
            ensure(
                points.is_none_or(|p| p.abs() <= MAX_POINTS),
                "impossible points",
            )?;
            ensure(
                roles.is_sorted_by(|a, b| (&a.name, a.team) < (&b.name, b.team)),
                "roles are not sorted and unique",
            )?;
            ensure(
                roles.len() <= MAX_ROLES && roles.iter().all(|r| r.name.len() <= MAX_TEXT),
                "too many roles",
            )?;
            for role in roles {
                ensure((0.0..=1.0).contains(&role.share), "an impossible role")?;
                ensure(self.team_exists(role.team), "a role is on no team")?;
            }
            ensure(
                presence.is_sorted_by_key(|p| p.span.from),
                "presence is out of order",
            )?;
            for stay in presence {
                ensure(
                    stay.span.from <= stay.span.to,
                    "a presence ends before it starts",
                )?;
                ensure(
                    stay.span.to <= self.millis(),
                    "a presence is outside the game",
                )?;
                ensure(self.team_exists(stay.team), "a presence is on no team")?;
            }
        }
        Ok(())
    }

    fn check_events(&self) -> Result<(), RecordError> {
        ensure(self.events.len() <= MAX_EVENTS, "too many score events")?;
        ensure(
            self.events.is_sorted_by_key(|e| e.at),
            "score events are out of order",
        )?;
        for event in &self.events {
            ensure(
                event.at <= self.millis(),
                "a score event is outside the game",
            )?;
            ensure(event.points.abs() <= MAX_POINTS, "impossible points")?;
            ensure(
                self.has_teams() && self.team_exists(event.team),
                "a score event has no team",
            )?;
            let known = event
                .by
                .is_none_or(|i| (i as usize) < self.participants.len());
            ensure(known, "a score event's author does not exist")?;
        }
        Ok(())
    }

    fn team_exists(&self, team: u8) -> bool {
        usize::from(team) < self.scores.len().max(1)
    }
}

fn ensure(holds: bool, otherwise: &'static str) -> Result<(), RecordError> {
    if holds {
        Ok(())
    } else {
        Err(RecordError(otherwise))
    }
}

/// The client of a match that `evenkeel ingest` has read from a log.
pub const INGEST: &str = "ingest";
/// The client of a match of a log that the daemon follows.
pub const FOLLOW: &str = "follow";
/// The client of a match of a published history, whose rows state no lengths.
pub const HISTORY: &str = "history";

/// Who says where players were: one client, or the log of one game server. It is a hash, so that it takes little room
/// whatever names clients have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place(u64);

impl MatchRecord {
    /// Whether a log was read, rather than that a client has reported the match.
    pub fn is_of_log(&self) -> bool {
        [INGEST, FOLLOW, HISTORY].contains(&self.client.as_str())
    }

    /// Who says where the players of this match were; `None` if it is not known when it was played, who has brought it, or of
    /// which game server a log is.
    pub fn place(&self) -> Option<Place> {
        let (kind, name) = match self.is_of_log() {
            true => (0_u8, &self.server),
            false => (1, &self.client),
        };
        // Without dates, the start of a log is an estimate.
        let is_known = !name.is_empty() && (kind == 1 || self.clock.is_none());
        // All rows of a history have the same length, and those of one day follow each other by a second.
        let is_known = is_known && !(self.client == HISTORY && self.millis() == UNTIMED_MILLIS);
        (is_known && !self.untimed).then(|| {
            let hash = Sha256::new().chain_update([kind]).chain_update(name);
            let mut short = [0; 8];
            short.copy_from_slice(&hash.finalize()[..8]);
            Place(u64::from_le_bytes(short))
        })
    }
}

#[cfg(test)]
mod tests;
