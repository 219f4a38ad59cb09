//! The life of a pick-up match: people without a game server are divided into teams, play, and say who has won.
//!
//! ```text
//! picked ─▶ playing ─▶ recorded ─▶ void ─▶ recorded     by an organiser, with another result
//!    └─────────┴─────────────────────▶ void
//! ```
//!
//! A result is valid once somebody of each team has stated it, or an organiser. Every event may come twice, by a second
//! click or from a second bot: the second one changes nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

/// What happens to a pick-up match.
#[derive(Clone, Debug, PartialEq)]
pub enum PickupEvent {
    /// Somebody who has seen the teams of a place wants others.
    Again {
        /// The place.
        seen: u32,
        /// The others.
        picked: PickupTeams,
    },
    /// The teams of this place begin to play.
    Start {
        /// The place.
        place: u32,
    },
    /// Somebody says what came of it.
    Say(Said),
    /// Its players were moved to where they belong while it is so far.
    Moved {
        /// How far.
        stage: PickupStage,
    },
}

/// What has to be done besides storing the pick-up match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickupEffect {
    /// Nothing: it is as it was.
    Same,
    /// Nothing else.
    Changed,
    /// Its result is to be recorded.
    Record,
    /// The match with this number is to be left out of the ratings.
    Void(i64),
}

/// Why an event is not possible. The event has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PickupRefused {
    /// Only players and organisers may say what came of it.
    #[error("{0} does not play in this match")]
    NotInIt(String),
    /// There is no such team.
    #[error("there is no team {0}")]
    NoTeam(u8),
    /// It has not begun.
    #[error("the match has not begun")]
    NotBegun,
    /// There are other teams by now.
    #[error("there are other teams by now")]
    OtherTeams,
    /// Only before it begins.
    #[error("the match has begun")]
    HasBegun,
    /// It has a result, which only an organiser changes.
    #[error("the match is recorded with another result: an organiser can make it void")]
    IsRecorded,
    /// It does not count any more.
    #[error("the match is void")]
    IsVoid,
    /// Somebody plays in another pick-up match.
    #[error("{0} plays in another match, which has no result yet")]
    Busy(String),
}

/// The most statements that are kept of one match.
const MOST_SAID: usize = 200;

/// A pick-up match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pickup {
    /// Where it was asked for, as the client names it.
    pub channel: String,
    /// The question about its teams, as `POST /v1/teams` reads it.
    pub question: Value,
    /// The names of players, by the ids with which the question names them.
    pub names: BTreeMap<String, String>,
    /// Its teams.
    pub picked: PickupTeams,
    /// How far it is.
    pub stage: PickupStage,
    /// What came of it, by whom; the latest statement of each.
    pub said: Vec<Said>,
    /// What came of it.
    pub outcome: Option<PickupOutcome>,
    /// The match in which its result was recorded last.
    pub recorded: Option<RecordedPickup>,
    /// Whether its players are still to be moved: to the rooms of their teams since it has begun, or home since it is over.
    pub to_move: bool,
}

/// The teams of a pick-up match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PickupTeams {
    /// Their place by quality, from 0: a click on "again" takes the next.
    pub place: u32,
    /// The players of each, as the question names them.
    pub teams: Vec<Vec<String>>,
    /// The answer of `POST /v1/teams`.
    pub answer: Value,
}

/// How far a pick-up match is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PickupStage {
    /// There are teams, which nobody has agreed to yet.
    Picked,
    /// They play.
    Playing,
    /// The result is recorded.
    Recorded,
    /// It does not count.
    Void,
}

impl PickupStage {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Picked, Self::Playing, Self::Recorded, Self::Void];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Picked => "picked",
            Self::Playing => "playing",
            Self::Recorded => "recorded",
            Self::Void => "void",
        }
    }
}

/// What came of a pick-up match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PickupOutcome {
    /// This team has won.
    Won(u8),
    /// Nobody has.
    Draw,
    /// It does not count.
    Void,
}

/// What somebody says came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Who says it.
    pub by: String,
    /// Whether as an organiser.
    pub organiser: bool,
    /// What.
    pub outcome: PickupOutcome,
}

/// The match in which a result was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedPickup {
    /// Its number.
    pub id: i64,
    /// The code of the reason why it is not rated.
    pub unrated: Option<String>,
}

impl Pickup {
    /// The team of a player.
    pub fn team_of(&self, player: &str) -> Option<usize> {
        let has = |team: &Vec<String>| team.iter().any(|one| one == player);
        self.picked.teams.iter().position(has)
    }

    /// What came of it if its result is to be recorded: not if it is void.
    pub fn result(&self) -> Option<PickupOutcome> {
        self.outcome.filter(|one| *one != PickupOutcome::Void)
    }

    /// Applies an event. `playing` are the other pick-up matches that are played now.
    ///
    /// # Errors
    /// Fails if the event is not possible now.
    pub fn apply(
        &mut self,
        event: PickupEvent,
        playing: &[Self],
    ) -> Result<PickupEffect, PickupRefused> {
        match event {
            PickupEvent::Again { seen, picked } => self.again(seen, picked),
            PickupEvent::Start { place } => self.start(place, playing),
            PickupEvent::Say(said) => self.say(said),
            PickupEvent::Moved { stage } => Ok(self.moved(stage)),
        }
    }

    fn moved(&mut self, stage: PickupStage) -> PickupEffect {
        if !self.to_move || stage != self.stage {
            return PickupEffect::Same;
        }
        self.to_move = false;
        PickupEffect::Changed
    }

    fn again(&mut self, seen: u32, picked: PickupTeams) -> Result<PickupEffect, PickupRefused> {
        match self.stage {
            PickupStage::Picked if seen == self.picked.place => {
                self.picked = picked;
                Ok(PickupEffect::Changed)
            }
            // Somebody else was faster.
            PickupStage::Picked => Ok(PickupEffect::Same),
            PickupStage::Void => Err(PickupRefused::IsVoid),
            PickupStage::Playing | PickupStage::Recorded => Err(PickupRefused::HasBegun),
        }
    }

    fn start(&mut self, place: u32, playing: &[Self]) -> Result<PickupEffect, PickupRefused> {
        match self.stage {
            PickupStage::Picked if place != self.picked.place => Err(PickupRefused::OtherTeams),
            PickupStage::Picked => {
                let players = self.picked.teams.iter().flatten();
                let is_busy = |player: &&String| {
                    let in_it = |other: &Self| other.team_of(player).is_some();
                    playing.iter().any(in_it)
                };
                if let Some(player) = players.clone().find(is_busy) {
                    return Err(PickupRefused::Busy(player.clone()));
                }
                self.stage = PickupStage::Playing;
                self.to_move = true;
                Ok(PickupEffect::Changed)
            }
            PickupStage::Playing if place == self.picked.place => Ok(PickupEffect::Same),
            PickupStage::Void => Err(PickupRefused::IsVoid),
            PickupStage::Playing | PickupStage::Recorded => Err(PickupRefused::HasBegun),
        }
    }

    fn say(&mut self, said: Said) -> Result<PickupEffect, PickupRefused> {
        if !said.organiser && self.team_of(&said.by).is_none() {
            return Err(PickupRefused::NotInIt(said.by));
        }
        if let PickupOutcome::Won(team) = said.outcome
            && usize::from(team) >= self.picked.teams.len()
        {
            return Err(PickupRefused::NoTeam(team));
        }
        let (outcome, organiser) = (said.outcome, said.organiser);
        match (self.stage, outcome) {
            (PickupStage::Picked, PickupOutcome::Void) => {
                self.note(said);
                Ok(self.end(PickupOutcome::Void))
            }
            (PickupStage::Picked, _) => Err(PickupRefused::NotBegun),
            (PickupStage::Playing, _) => {
                self.note(said);
                match organiser || self.all_teams_say(outcome) {
                    true => Ok(self.end(outcome)),
                    false => Ok(PickupEffect::Changed),
                }
            }
            (PickupStage::Recorded | PickupStage::Void, _) if self.outcome == Some(outcome) => {
                Ok(PickupEffect::Same)
            }
            (PickupStage::Recorded, PickupOutcome::Void) if organiser => {
                self.note(said);
                Ok(self.end(PickupOutcome::Void))
            }
            (PickupStage::Recorded, _) => Err(PickupRefused::IsRecorded),
            (PickupStage::Void, _) if organiser && self.recorded.is_some() => {
                self.note(said);
                Ok(self.end(outcome))
            }
            (PickupStage::Void, _) => Err(PickupRefused::IsVoid),
        }
    }

    /// Notes what somebody says, instead of what they have said before.
    fn note(&mut self, said: Said) {
        self.said.retain(|one| one.by != said.by);
        if self.said.len() == MOST_SAID {
            self.said.remove(0);
        }
        self.said.push(said);
    }

    /// Whether somebody of each team says that this came of it.
    fn all_teams_say(&self, outcome: PickupOutcome) -> bool {
        let agrees = |team: &Vec<String>| {
            let of_team = |one: &Said| one.outcome == outcome && team.contains(&one.by);
            self.said.iter().any(of_team)
        };
        self.picked.teams.iter().all(agrees)
    }

    fn end(&mut self, outcome: PickupOutcome) -> PickupEffect {
        self.outcome = Some(outcome);
        // Before it begins nobody is moved, and a correction moves nobody.
        self.to_move = self.stage == PickupStage::Playing;
        match (outcome, self.stage, &self.recorded) {
            (PickupOutcome::Void, PickupStage::Recorded, Some(recorded)) => {
                self.stage = PickupStage::Void;
                PickupEffect::Void(recorded.id)
            }
            (PickupOutcome::Void, ..) => {
                self.stage = PickupStage::Void;
                PickupEffect::Changed
            }
            _ => {
                self.stage = PickupStage::Recorded;
                PickupEffect::Record
            }
        }
    }
}
