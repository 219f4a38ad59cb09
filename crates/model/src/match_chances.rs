//! What the record says of how even a match was: the course of its chances, and what may have made it one-sided.
//!
//! The chances state how likely each team was to win, with how many players, as the teams were picked, as play started,
//! and after each change of who was on which team. They are kept as they were predicted at that time; what is learned
//! later does not change them.

use std::{collections::BTreeMap, fmt::Display};

use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct};

use crate::{MAX_PLAYERS, MAX_TEAMS, MatchRecord, worded};

/// The most changes of teams that the course of one match keeps: the first ones.
pub const MAX_TEAM_CHANGES: usize = 200;

/// The sizes of the teams at one moment, and the chance of each to win.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TeamChances {
    /// The chance of each team to win; they add up to 1. Empty if nothing predicted them.
    pub win: Vec<f64>,
    /// Number of humans on each team. Empty if only the chances are known.
    pub humans: Vec<u32>,
    /// Number of bots on each team.
    pub bots: Vec<u32>,
}

/// JSON leaves out what is empty. A format without names cannot leave anything out.
impl Serialize for TeamChances {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let all = !to.is_human_readable();
        let mut fields = to.serialize_struct("TeamChances", 3)?;
        if all || !self.win.is_empty() {
            fields.serialize_field("win", &self.win)?;
        }
        if all || !self.humans.is_empty() {
            fields.serialize_field("humans", &self.humans)?;
        }
        if all || !self.bots.is_empty() {
            fields.serialize_field("bots", &self.bots)?;
        }
        fields.end()
    }
}

/// Numbers of the teams, as in `7 v 6`.
pub fn versus<T: Display>(numbers: impl IntoIterator<Item = T>) -> String {
    let numbers = numbers.into_iter().map(|number| number.to_string());
    numbers.collect::<Vec<_>>().join(" v ")
}

impl TeamChances {
    /// The number of players on each team, as in `7 v 6`; empty if it is not known.
    pub fn sizes(&self) -> String {
        let both = self.humans.iter().zip(&self.bots);
        versus(both.map(|(humans, bots)| humans.saturating_add(*bots)))
    }

    /// The team that is most likely to win, the first one of several, and its chance. `None` without a prediction.
    pub fn favourite(&self) -> Option<(u8, f64)> {
        let teams = (0..).zip(self.win.iter().copied());
        teams.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// The chance that team 0 wins; `None` without a prediction.
    pub fn of_first(&self) -> Option<f64> {
        self.win.first().copied()
    }

    /// Whether there are 2 teams or more, and all numbers are possible.
    pub fn is_sound(&self) -> bool {
        let teams = self.humans.len();
        let mut sizes = self.humans.iter().chain(&self.bots);
        (2..=MAX_TEAMS).contains(&teams)
            && self.bots.len() == teams
            && sizes.all(|&size| size as usize <= MAX_PLAYERS)
            && (self.win.is_empty() || self.win.len() == teams)
            && self.win.iter().all(|chance| (0.0..=1.0).contains(chance))
    }
}

worded! {
    /// Why somebody is on another team.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum TeamCause {
        /// JOIN or BOTJOIN of a player who was on no team.
        Join = "join",
        /// LEAVE or BOTLEAVE.
        Leave = "leave",
        /// PLACE put a late arrival on a team.
        Place = "place",
        /// MOVE, or a JOIN or BOTJOIN that names another team.
        Move = "move",
        /// The auto-balance rules moved a human who died.
        AutoMove = "auto-move",
        /// BALANCE chose all teams again.
        Balance = "balance",
    }
}

/// A change of who is on which team, in play.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TeamChange {
    /// Milliseconds since the start of play.
    pub at: u64,
    /// Why.
    pub cause: TeamCause,
    /// The seat of the player; `None` for BALANCE, and for a player who is not in the record.
    pub who: Option<u32>,
    /// The team that the player was on; `None` for no team, and for BALANCE.
    pub from: Option<u8>,
    /// The team that the player is on now; `None` for no team, and for BALANCE.
    pub to: Option<u8>,
    /// The teams after the change.
    pub teams: TeamChances,
}

impl TeamChange {
    /// The change in words: what comes before the name of the player, and what comes after it. `None` before it if the
    /// change is not that of one player.
    pub fn words(&self) -> (Option<&'static str>, String) {
        let team = |word: &str, team: Option<u8>| {
            let named = team.map(|team| format!(" {word}team {team}"));
            named.unwrap_or_default()
        };
        let (from, to) = (team("from ", self.from), team("to ", self.to));
        match self.cause {
            TeamCause::Join => (Some(""), format!(" came{to}")),
            TeamCause::Leave => (Some(""), format!(" left{}", team("", self.from))),
            TeamCause::Place => (Some("PLACE put "), team("on ", self.to)),
            TeamCause::Move => (Some(""), format!(" went{from}{to}")),
            TeamCause::AutoMove => (Some("auto-balance moved "), format!("{from}{to}")),
            TeamCause::Balance => (None, "BALANCE chose all teams again".to_owned()),
        }
    }
}

/// The chances of a match or a running game in short.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChanceSummary {
    /// As picked: by the last BALANCE before START, with the bots that were to come, or by a queue.
    pub picked: Option<TeamChances>,
    /// As started: with the players who were there at START.
    pub started: Option<TeamChances>,
    /// In a running game, after the last change since START.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<TeamChances>,
}

impl ChanceSummary {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The course of a match's chances, as they were predicted while it was played.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MatchChances {
    /// As picked: by the last BALANCE before START, with the bots that were to come, or by a queue.
    pub picked: Option<TeamChances>,
    /// As started: with the players who were there at START.
    pub started: Option<TeamChances>,
    /// The changes since START, in order, at most [`MAX_TEAM_CHANGES`].
    pub changes: Vec<TeamChange>,
}

impl MatchChances {
    /// The course without the changes.
    pub fn summary(&self) -> ChanceSummary {
        ChanceSummary {
            picked: self.picked.clone(),
            started: self.started.clone(),
            now: None,
        }
    }

    /// Whether it has no more changes than it may have, by players of which there are `players`, and all numbers are
    /// possible.
    pub fn is_sound(&self, players: usize) -> bool {
        let changes = self.changes.iter();
        let mut teams = (self.picked.iter().chain(&self.started))
            .chain(self.changes.iter().map(|change| &change.teams));
        let mut who = changes.filter_map(|change| change.who);
        self.changes.len() <= MAX_TEAM_CHANGES
            && teams.all(TeamChances::is_sound)
            && who.all(|who| (who as usize) < players)
    }
}

/// Who comes later than this, in milliseconds of play, is late.
const LATE: u64 = 60_000;
/// A player with fewer rated matches of the ruleset is a newcomer.
pub const NEWCOMER: u32 = 10;

/// A thing that may have made a match one-sided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A player came after the first minute.
    LateJoin,
    /// A player left before the end.
    Leaver,
    /// The teams had different numbers of players.
    UnevenSizes,
    /// A player had fewer than [`NEWCOMER`] rated matches of the ruleset.
    Newcomer,
}

impl Cause {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::LateJoin,
        Self::Leaver,
        Self::UnevenSizes,
        Self::Newcomer,
    ];

    /// The name in addresses and data.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LateJoin => "late-joins",
            Self::Leaver => "leavers",
            Self::UnevenSizes => "uneven-sizes",
            Self::Newcomer => "newcomers",
        }
    }

    /// The cause with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.as_str() == name)
    }

    /// The bit that stands for it in [`Causes::bits`]. Databases contain it: it never changes.
    pub fn bit(self) -> u8 {
        match self {
            Self::LateJoin => 1,
            Self::Leaver => 2,
            Self::UnevenSizes => 4,
            Self::Newcomer => 8,
        }
    }
}

/// The causes that a match has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Causes(u8);

impl Causes {
    /// Those of a match in which these participants were rated; `has_newcomer` is whether one of them was a newcomer.
    pub fn of(
        record: &MatchRecord,
        rated: impl Iterator<Item = usize>,
        has_newcomer: bool,
    ) -> Self {
        let mut sizes: BTreeMap<u8, usize> = BTreeMap::new();
        let mut bits = 0;
        let mut note = |cause: Cause, has| bits |= if has { cause.bit() } else { 0 };
        for one in rated.filter_map(|at| record.participants.get(at)) {
            if let Some(team) = one.main_team() {
                *sizes.entry(team).or_default() += 1;
            }
            let came = one.presence.first().map(|stay| stay.span.from);
            note(Cause::LateJoin, came.is_some_and(|came| came > LATE));
            note(Cause::Leaver, one.left.is_some());
        }
        let mut sizes = sizes.into_values();
        let first = sizes.next();
        note(Cause::UnevenSizes, sizes.any(|size| Some(size) != first));
        note(Cause::Newcomer, has_newcomer);
        Self(bits)
    }

    /// The causes as bits, one for each.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// The causes that these bits stand for.
    pub fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Whether the match has this cause.
    pub fn has(self, cause: Cause) -> bool {
        self.0 & cause.bit() != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn teams(win: &[f64], humans: &[u32], bots: &[u32]) -> TeamChances {
        TeamChances {
            win: win.to_vec(),
            humans: humans.to_vec(),
            bots: bots.to_vec(),
        }
    }

    #[test]
    fn sizes_count_humans_and_bots() {
        assert_eq!(teams(&[], &[7, 5], &[0, 1]).sizes(), "7 v 6");
        assert_eq!(teams(&[], &[1, 2, 3], &[0, 0, 0]).sizes(), "1 v 2 v 3");
        assert_eq!(teams(&[0.5, 0.5], &[], &[]).sizes(), "");
    }

    #[test]
    fn the_first_of_equal_teams_is_the_favourite() {
        let favourite = |win: &[f64]| teams(win, &[], &[]).favourite();
        assert_eq!(favourite(&[]), None);
        assert_eq!(favourite(&[0.5, 0.5]), Some((0, 0.5)));
        assert_eq!(favourite(&[0.2, 0.5, 0.3]), Some((1, 0.5)));
    }

    #[test]
    fn what_no_match_can_have_is_not_sound() {
        assert!(teams(&[], &[0, 0], &[0, 0]).is_sound());
        assert!(teams(&[0.25, 0.75], &[7, 6], &[0, 1]).is_sound());
        for (win, humans, bots) in [
            (&[][..], &[][..], &[][..]),
            (&[], &[1], &[1]),
            (&[], &[1, 1], &[1]),
            (&[1.0], &[1, 1], &[0, 0]),
            (&[1.5, -0.5], &[1, 1], &[0, 0]),
            (&[f64::NAN, 0.5], &[1, 1], &[0, 0]),
            (&[], &[u32::MAX, 1], &[0, 0]),
            (&[], &[1; 9], &[1; 9]),
        ] {
            assert!(!teams(win, humans, bots).is_sound(), "{win:?} {humans:?}");
        }
        let change = |who| TeamChange {
            at: 1,
            cause: TeamCause::Place,
            who,
            from: None,
            to: Some(1),
            teams: teams(&[], &[1, 1], &[0, 0]),
        };
        let history = |changes| MatchChances {
            changes,
            ..MatchChances::default()
        };
        assert!(history(vec![change(Some(1)); MAX_TEAM_CHANGES]).is_sound(2));
        assert!(!history(vec![change(Some(2))]).is_sound(2));
        assert!(!history(vec![change(None); MAX_TEAM_CHANGES + 1]).is_sound(2));
    }

    #[test]
    fn a_change_is_told_in_words() {
        let told = |cause, from, to| {
            let change = TeamChange {
                at: 1,
                cause,
                who: None,
                from,
                to,
                teams: TeamChances::default(),
            };
            let (before, after) = change.words();
            before.map_or(after.clone(), |before| format!("{before}Ann{after}"))
        };
        for (cause, from, to, text) in [
            (TeamCause::Join, None, Some(1), "Ann came to team 1"),
            (TeamCause::Leave, Some(0), None, "Ann left team 0"),
            (TeamCause::Place, None, Some(1), "PLACE put Ann on team 1"),
            (
                TeamCause::Move,
                Some(0),
                Some(1),
                "Ann went from team 0 to team 1",
            ),
            (TeamCause::Move, None, Some(1), "Ann went to team 1"),
            (
                TeamCause::AutoMove,
                Some(1),
                Some(0),
                "auto-balance moved Ann from team 1 to team 0",
            ),
            (
                TeamCause::Balance,
                None,
                None,
                "BALANCE chose all teams again",
            ),
        ] {
            assert_eq!(told(cause, from, to), text);
        }
    }

    #[test]
    fn a_cause_has_one_word_everywhere() {
        for cause in TeamCause::ALL {
            assert_eq!(TeamCause::parse(cause.as_str()), Some(cause));
            let json = serde_json::to_string(&cause).unwrap();
            assert_eq!(json, format!("\"{}\"", cause.as_str()));
        }
        assert_eq!(TeamCause::parse("picked"), None);
    }

    #[test]
    fn each_cause_has_a_bit_and_a_name_of_its_own() {
        let bits = Cause::ALL.iter().fold(0, |bits, cause| {
            assert_eq!(bits & cause.bit(), 0, "{cause:?}");
            assert_eq!(Cause::parse(cause.as_str()), Some(*cause));
            bits | cause.bit()
        });
        let all = Causes::from_bits(bits);
        assert!(Cause::ALL.iter().all(|cause| all.has(*cause)));
        assert_eq!(Cause::parse("luck"), None);
        assert!(!Causes::default().has(Cause::Leaver));
    }
}
