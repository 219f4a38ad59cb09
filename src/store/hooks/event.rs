//! The events that wait to be sent to webhooks, and what each reports.

use serde::Deserialize;

use crate::domain::{ChanceSummary, MatchRecord, TeamChances, Timestamp};

/// The kind of an event, as the key `events` of a webhook names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookKind {
    /// A queue has formed a match.
    Formed,
    /// The players of a match can connect to an instance.
    Hosted,
    /// A match was stored.
    Recorded,
}

impl HookKind {
    /// All kinds, in the order in which a match passes through them.
    pub const ALL: [Self; 3] = [Self::Formed, Self::Hosted, Self::Recorded];

    /// The word for it, in the configuration and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Formed => "formed",
            Self::Hosted => "hosted",
            Self::Recorded => "recorded",
        }
    }

    /// The kind with this word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// An event, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookEvent {
    /// The number of the event: the order in which events were committed.
    pub number: i64,
    /// The id by which receivers recognise an event that they get twice.
    pub id: String,
    /// What kind of event it is; `None` for a test.
    pub kind: Option<HookKind>,
    /// The match that it is about.
    pub match_id: i64,
    /// When it happened.
    pub at: Timestamp,
    /// The address of the instance, if the match is hosted.
    pub address: Option<String>,
}

/// The content of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum HookReport {
    /// Whether a webhook works.
    Test,
    /// A queue has formed this match.
    Formed(FormedReport),
    /// This match is hosted, at the event's address.
    Hosted(FormedReport),
    /// This match was stored.
    Recorded(Box<RecordedReport>),
}

/// A match that a queue has formed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FormedReport {
    /// The queue that has formed the match.
    pub queue: String,
    /// The mode of the match, if a rule picks one.
    pub mode: Option<String>,
    /// The map of the match, if a rule picks one.
    pub map: Option<String>,
    /// The ruleset for which the chances are predicted.
    pub ruleset: String,
    /// The teams as the queue has picked them, with their predicted chances.
    pub picked: TeamChances,
    /// The players of each team.
    pub teams: Vec<Vec<FormedSeat>>,
}

/// A player of a match that a queue has formed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormedSeat {
    /// The player's identity.
    pub player: String,
    /// The client that has queued the player; `None` if the ticket is no longer kept.
    pub client: Option<String>,
    /// The client's id of the ticket.
    pub ticket: Option<String>,
}

/// A stored match.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedReport {
    /// The queue that had formed the match, if one had.
    pub queue: Option<String>,
    /// What was predicted of the teams.
    pub chances: ChanceSummary,
    /// The match itself.
    pub record: MatchRecord,
}
