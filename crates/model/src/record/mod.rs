//! The match record: all that is stored of a finished game. It is the only ground truth.

mod check;
mod order;
mod play;

pub use check::RecordError;
pub use play::PlayTime;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{PlayerKey, Timestamp, holder::Holder, worded};

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
    /// the command that has read its log, such as [`INGEST`](crate::place::INGEST). Empty if it is not known.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn the_outcome_follows_from_the_scores() {
        assert_eq!(MatchRecord::outcome_of(&[1.0, 3.0]), Outcome::Won(1));
        assert_eq!(MatchRecord::outcome_of(&[2.0, 2.0]), Outcome::Draw);
        assert_eq!(MatchRecord::outcome_of(&[-1.0, 2.0, 2.0]), Outcome::Draw);
        assert_eq!(MatchRecord::outcome_of(&[]), Outcome::Undecided);
    }

    #[test]
    fn check_names_what_is_wrong() {
        let good = MatchRecord {
            server: String::new(),
            start: Timestamp(0),
            end: Timestamp(1_000),
            clock: None,
            untimed: false,
            client: String::new(),
            unscored: false,
            too_many_new: None,
            logged_as: None,
            map: "m".into(),
            game_type: "ctf".into(),
            mode: String::new(),
            mutators: vec![],
            scores: vec![1.0, 0.0],
            participants: vec![Participant {
                key: PlayerKey {
                    kind: Kind::Human,
                    id: "a".into(),
                },
                name: "A".into(),
                presence: vec![Presence {
                    team: 1,
                    span: Span { from: 0, to: 1_000 },
                }],
                points: None,
                kills: 0,
                deaths: 0,
                roles: vec![],
                party: None,
                left: None,
            }],
            events: vec![ScoreEvent {
                at: 5,
                team: 0,
                points: 1.0,
                by: Some(0),
            }],
            outcome: Outcome::Won(0),
        };
        assert_eq!(good.check(), Ok(()));
        type Break = fn(&mut MatchRecord);
        let breaks: [(Break, &str); 8] = [
            (|m| m.end = Timestamp(-1), "it ends before it starts"),
            (|m| m.scores[0] = f64::NAN, "impossible score"),
            (|m| m.outcome = Outcome::Won(2), "the winner does not exist"),
            (
                |m| m.participants.push(m.participants[0].clone()),
                "a participant is listed twice",
            ),
            (
                |m| m.participants[0].presence[0].team = 2,
                "a presence is on no team",
            ),
            (
                |m| m.participants[0].presence[0].span.to = 1_001,
                "a presence is outside the game",
            ),
            (
                |m| {
                    m.participants[0].roles = vec![Role {
                        name: "commander".into(),
                        team: 0,
                        share: 1.1,
                    }];
                },
                "an impossible role",
            ),
            (
                |m| m.events[0].by = Some(1),
                "a score event's author does not exist",
            ),
        ];
        for (spoil, why) in breaks {
            let mut bad = good.clone();
            spoil(&mut bad);
            assert_eq!(bad.check(), Err(RecordError(why)));
        }
    }

    #[test]
    fn the_main_team_is_that_of_most_time() {
        let player = |stays: &[(u8, u64, u64)]| Participant {
            key: PlayerKey {
                kind: Kind::Human,
                id: "a".into(),
            },
            name: "A".into(),
            presence: stays
                .iter()
                .map(|&(team, from, to)| Presence {
                    team,
                    span: Span { from, to },
                })
                .collect(),
            points: None,
            kills: 0,
            deaths: 0,
            roles: vec![],
            party: None,
            left: None,
        };
        let of = |stays| {
            let player = player(stays);
            (player.main_team(), player.millis())
        };
        assert_eq!(of(&[]), (None, 0));
        assert_eq!(of(&[(1, 5, 5)]), (Some(1), 0));
        assert_eq!(of(&[(1, 0, 5), (0, 5, 9)]), (Some(1), 9));
        assert_eq!(of(&[(0, 0, 3), (1, 3, 7), (0, 7, 9)]), (Some(0), 9));
        assert_eq!(of(&[(2, 0, 4), (1, 4, 8)]), (Some(1), 8), "the lower one");
    }

    #[test]
    fn reasons_are_read_from_their_words() {
        for reason in LeaveReason::ALL {
            assert_eq!(LeaveReason::parse(reason.as_str()), Some(reason));
            assert_eq!(LeaveReason::read(reason.as_str()), Some(reason));
        }
        assert_eq!(LeaveReason::read("Quit"), Some(LeaveReason::Left));
        assert_eq!(LeaveReason::read("TIMEOUT"), Some(LeaveReason::Timeout));
        assert_eq!(LeaveReason::read("bored"), Some(LeaveReason::Other));
        assert_eq!(LeaveReason::parse("bored"), None);
        let long = "a".repeat(33);
        for none in ["", "no words", "\u{e9}", long.as_str()] {
            assert_eq!(LeaveReason::read(none), None);
        }
    }
}
