//! The parts of a match in the interchange format: instants, players, score changes.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use evenkeel_model::{
    Kind, Participant, PlayerKey, Timestamp,
    record::{LeaveReason, Presence, Role, ScoreEvent, Span},
};

/// An instant: a date as text, or milliseconds since 1970.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum DateOrMillis {
    Millis(i64),
    Text(String),
}

impl DateOrMillis {
    pub(super) fn of(instant: Timestamp) -> Self {
        match instant.exact() {
            Some(text) => Self::Text(text),
            None => Self::Millis(instant.0),
        }
    }

    pub(super) fn read(&self) -> Result<Timestamp, &'static str> {
        match self {
            Self::Millis(millis) => Ok(Timestamp(*millis)),
            Self::Text(text) => Timestamp::parse(text).ok_or("start or end is not a date"),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlayerEntry<'a> {
    id: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    bot: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    team: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stays: Option<Vec<StayEntry>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<f64>,
    #[serde(default)]
    kills: u32,
    #[serde(default)]
    deaths: u32,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    roles: Vec<RoleEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    party: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<Cow<'a, str>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StayEntry {
    /// Without teams there is none to state.
    #[serde(skip_serializing_if = "Option::is_none")]
    team: Option<u8>,
    from: u64,
    to: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RoleEntry<'a> {
    role: Cow<'a, str>,
    team: u8,
    share: f64,
}

impl<'a> PlayerEntry<'a> {
    pub(super) fn of(participant: &'a Participant) -> Self {
        let Participant { key, name, .. } = participant;
        let stay = |stay: &Presence| StayEntry {
            team: Some(stay.team),
            from: stay.span.from,
            to: stay.span.to,
        };
        let part = |role: &'a Role| RoleEntry {
            role: role.name.as_str().into(),
            team: role.team,
            share: role.share,
        };
        Self {
            id: key.id.as_str().into(),
            bot: key.kind == Kind::Bot,
            name: is_stated(key, name).then(|| name.as_str().into()),
            team: None,
            stays: Some(participant.presence.iter().map(stay).collect()),
            points: participant.points,
            kills: participant.kills,
            deaths: participant.deaths,
            roles: participant.roles.iter().map(part).collect(),
            party: participant.party,
            left: participant.left.map(|left| left.as_str().into()),
        }
    }

    /// The participant in a match of `millis`. With `exact`, stays and roles are taken as they are.
    pub(super) fn read(
        self,
        millis: u64,
        has_teams: bool,
        exact: bool,
    ) -> Result<Participant, &'static str> {
        let whole = |team| StayEntry {
            team: Some(team),
            from: 0,
            to: millis,
        };
        let mut stays = match (self.team, self.stays) {
            (Some(_), Some(_)) => return Err("a player has both team and stays"),
            (Some(team), None) => vec![whole(team)],
            (None, Some(stays)) => stays,
            // Without teams there is none to state.
            (None, None) if !has_teams => vec![whole(0)],
            (None, None) => Vec::new(),
        };
        if !exact {
            stays.sort_by_key(|stay| (stay.from, stay.to));
        }
        let role = |part: RoleEntry<'_>| Role {
            name: part.role.into_owned(),
            team: part.team,
            share: part.share,
        };
        let mut roles: Vec<Role> = self.roles.into_iter().map(role).collect();
        if !exact {
            roles.sort_by(|a, b| (&a.name, a.team).cmp(&(&b.name, b.team)));
        }
        let left = match self.left {
            Some(left) => Some(
                LeaveReason::parse(&left)
                    .ok_or("`left` must be left, kicked, timeout, moved or other")?,
            ),
            None => None,
        };
        if !exact && is_on_two_teams(&stays) {
            return Err("a player is on two teams at once");
        }
        let id = self.id.into_owned();
        let (kind, unnamed) = match self.bot {
            true => (Kind::Bot, id.as_str()),
            false => (Kind::Human, ""),
        };
        Ok(Participant {
            name: self
                .name
                .map_or_else(|| unnamed.to_owned(), Cow::into_owned),
            key: PlayerKey { kind, id },
            presence: placed(&stays, has_teams)?,
            points: self.points,
            kills: self.kills,
            deaths: self.deaths,
            roles,
            party: self.party,
            left,
        })
    }
}

/// Whether a line states the name: a bot is known by it, and humans may have none.
fn is_stated(key: &PlayerKey, name: &str) -> bool {
    match key.kind {
        Kind::Bot => *name != key.id,
        Kind::Human => !name.is_empty(),
    }
}

/// The stays; in a game with teams, each must state one.
fn placed(stays: &[StayEntry], has_teams: bool) -> Result<Vec<Presence>, &'static str> {
    let presence = |stay: &StayEntry| {
        let team = stay.team.or((!has_teams).then_some(0));
        Ok(Presence {
            team: team.ok_or("a stay in a game with teams states no team")?,
            span: Span {
                from: stay.from,
                to: stay.to,
            },
        })
    };
    stays.iter().map(presence).collect()
}

/// Whether stays on different teams overlap by more than an instant. Stays must be in time order.
fn is_on_two_teams(stays: &[StayEntry]) -> bool {
    let mut last: Option<&StayEntry> = None;
    for stay in stays.iter().filter(|stay| stay.to > stay.from) {
        if last.is_some_and(|last| last.team != stay.team && last.to > stay.from) {
            return true;
        }
        if last.is_none_or(|last| stay.to > last.to) {
            last = Some(stay);
        }
    }
    false
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventEntry {
    at: u64,
    team: u8,
    points: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<u32>,
}

impl EventEntry {
    pub(super) fn of(event: &ScoreEvent) -> Self {
        Self {
            at: event.at,
            team: event.team,
            points: event.points,
            by: event.by,
        }
    }

    pub(super) fn read(&self) -> ScoreEvent {
        ScoreEvent {
            at: self.at,
            team: self.team,
            points: self.points,
            by: self.by,
        }
    }
}
