//! Reads and writes a match in the interchange format, with its instants, players and score changes.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use evenkeel_model::{
    Kind, MatchRecord, Outcome, Participant, PlayerKey, Timestamp,
    access::Holder,
    fingerprint::Fingerprint,
    names::escaped_json,
    record::{LeaveReason, Presence, Role, ScoreEvent, Span, UNTIMED_MILLIS},
};

/// The version written, and the only one read.
const VERSION: u32 = 1;
/// The longest reason given for a malformed line, in characters.
const MAX_REASON: usize = 200;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MatchLine<'a> {
    evenkeel: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    client: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    too_many_new: Option<Holder>,
    start: DateOrMillis,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<DateOrMillis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<u64>,
    game: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    mode: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    map: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    mutators: Vec<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    scores: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<OutcomeWord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    winner: Option<u8>,
    #[serde(default)]
    players: Vec<PlayerEntry<'a>>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    events: Vec<EventEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OutcomeWord {
    Won,
    Draw,
    Undecided,
    Abandoned,
}

/// Writes a match as one line of the interchange format, without the line's end. `fingerprint` is the
/// one under which the match is stored.
pub fn write_record(record: &MatchRecord, fingerprint: Fingerprint) -> String {
    let own = Fingerprint::of(record);
    let (outcome, winner) = match record.outcome {
        Outcome::Won(team) => (OutcomeWord::Won, Some(team)),
        Outcome::Draw => (OutcomeWord::Draw, None),
        Outcome::Undecided => (OutcomeWord::Undecided, None),
        Outcome::Abandoned => (OutcomeWord::Abandoned, None),
    };
    let line = MatchLine {
        evenkeel: VERSION,
        fingerprint: (fingerprint != own || record.has_waiting()).then(|| fingerprint.to_string()),
        server: Some(record.server.as_str().into()),
        client: record.client.as_str().into(),
        too_many_new: record.too_many_new.clone(),
        start: DateOrMillis::of(record.start),
        end: (!record.untimed).then(|| DateOrMillis::of(record.end)),
        clock: record.clock,
        game: record.game_type.as_str().into(),
        mode: record.mode.as_str().into(),
        map: record.map.as_str().into(),
        mutators: record.mutators.iter().map(|m| m.as_str().into()).collect(),
        scores: record.known_scores(),
        outcome: Some(outcome),
        winner,
        players: record.participants.iter().map(PlayerEntry::of).collect(),
        events: record.events.iter().map(EventEntry::of).collect(),
    };
    // This cannot fail: all keys are text, and every number of a checked record is finite.
    escaped_json(serde_json::to_string(&line).unwrap_or_default())
}

/// Reads a line. The caller must check the record. With a fingerprint, which the line then states, the record is final:
/// all of its time is play.
///
/// # Errors
/// Returns what is wrong with the line.
pub(super) fn read(
    line: &[u8],
    server: &str,
) -> Result<(MatchRecord, Option<Fingerprint>), Cow<'static, str>> {
    let entry: MatchLine<'_> = serde_json::from_slice(line).map_err(|error| reason(&error))?;
    convert(entry, server, false)
}

/// Reads a match that a client reports in this format. It has no fingerprint of its own. The caller must check the
/// record.
///
/// # Errors
/// Returns what is wrong with it.
pub fn read_reported(object: &[u8], server: &str) -> Result<MatchRecord, Cow<'static, str>> {
    let entry: MatchLine<'_> = serde_json::from_slice(object).map_err(|error| reason(&error))?;
    if entry.fingerprint.is_some() {
        return Err("`fingerprint` is for matches that are read from files".into());
    }
    if entry.too_many_new.is_some() {
        return Err("`too_many_new` is for matches that are read from files".into());
    }
    Ok(convert(entry, server, false)?.0)
}

/// Reads a line that [`write_record`] has written, and returns the record that it was given: even one whose stays another
/// program would not be allowed to state. The caller must check the record.
///
/// # Errors
/// Returns what is wrong with the line.
pub fn read_record(line: &[u8]) -> Result<MatchRecord, Cow<'static, str>> {
    let entry: MatchLine<'_> = serde_json::from_slice(line).map_err(|error| reason(&error))?;
    Ok(convert(entry, "", true)?.0)
}

/// The record of a line, and the fingerprint that it states. With `exact`, stays and roles are taken as they are.
fn convert(
    entry: MatchLine<'_>,
    server: &str,
    exact: bool,
) -> Result<(MatchRecord, Option<Fingerprint>), Cow<'static, str>> {
    if entry.evenkeel != VERSION {
        return Err("another version of the format".into());
    }
    let fingerprint = entry.fingerprint.as_deref().map(fingerprint).transpose()?;
    let start = entry.start.read()?;
    let (end, untimed) = match &entry.end {
        Some(end) => (end.read()?, false),
        None => (start, true),
    };
    let millis = match untimed {
        true => UNTIMED_MILLIS,
        false => {
            u64::try_from(end.0.saturating_sub(start.0)).map_err(|_| "it ends before it starts")?
        }
    };
    let (scores, unscored) = scores(&entry.scores)?;
    let outcome = match (entry.outcome, entry.winner) {
        (None, None) if unscored => Outcome::Undecided,
        (None, None) => MatchRecord::outcome_of(&scores),
        (Some(OutcomeWord::Won), Some(team)) => Outcome::Won(team),
        (Some(OutcomeWord::Won), None) => match MatchRecord::outcome_of(&scores) {
            won @ Outcome::Won(_) => won,
            _ => return Err("the winner is missing".into()),
        },
        (Some(OutcomeWord::Draw), None) => Outcome::Draw,
        (Some(OutcomeWord::Undecided), None) => Outcome::Undecided,
        (Some(OutcomeWord::Abandoned), None) => Outcome::Abandoned,
        (_, Some(_)) => return Err("there is a winner, but the outcome is not `won`".into()),
    };
    let mut mutators: Vec<String> = entry.mutators.into_iter().map(Cow::into_owned).collect();
    mutators.sort();
    mutators.dedup();
    let (players, has_teams) = (entry.players.into_iter(), !scores.is_empty());
    let record = MatchRecord {
        server: entry
            .server
            .map_or_else(|| server.to_owned(), Cow::into_owned),
        client: entry.client.into_owned(),
        too_many_new: entry.too_many_new,
        start,
        end,
        clock: entry.clock,
        untimed,
        logged_as: None,
        map: entry.map.into_owned(),
        game_type: entry.game.into_owned(),
        mode: entry.mode.into_owned(),
        mutators,
        scores,
        unscored,
        participants: players
            .map(|p| p.read(millis, has_teams, exact))
            .collect::<Result<_, _>>()?,
        events: entry.events.iter().map(EventEntry::read).collect(),
        outcome,
    };
    Ok((record, fingerprint))
}

/// The scores, with 0 for those that are not known, and whether that are all of them.
fn scores(stated: &[Option<f64>]) -> Result<(Vec<f64>, bool), &'static str> {
    let known: Vec<f64> = stated.iter().copied().flatten().collect();
    match (known.len(), stated.len()) {
        (0, teams @ 1..) => Ok((vec![0.0; teams], true)),
        (some, teams) if some == teams => Ok((known, false)),
        _ => Err("the scores of some teams are null"),
    }
}

/// The parser's message, shortened, and with control characters escaped so that it cannot harm a
/// terminal.
fn reason(error: &serde_json::Error) -> Cow<'static, str> {
    let text: String = error.to_string().chars().take(MAX_REASON).collect();
    text.escape_debug().to_string().replace("\\\"", "\"").into()
}

fn fingerprint(text: &str) -> Result<Fingerprint, &'static str> {
    Fingerprint::parse(text).ok_or("the fingerprint is not 32 hexadecimal digits")
}

/// An instant: a date as text, or milliseconds since 1970.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum DateOrMillis {
    Millis(i64),
    Text(String),
}

impl DateOrMillis {
    fn of(instant: Timestamp) -> Self {
        match instant.exact() {
            Some(text) => Self::Text(text),
            None => Self::Millis(instant.0),
        }
    }

    fn read(&self) -> Result<Timestamp, &'static str> {
        match self {
            Self::Millis(millis) => Ok(Timestamp(*millis)),
            Self::Text(text) => Timestamp::parse(text).ok_or("start or end is not a date"),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlayerEntry<'a> {
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
struct StayEntry {
    /// Without teams there is none to state.
    #[serde(skip_serializing_if = "Option::is_none")]
    team: Option<u8>,
    from: u64,
    to: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RoleEntry<'a> {
    role: Cow<'a, str>,
    team: u8,
    share: f64,
}

impl<'a> PlayerEntry<'a> {
    fn of(participant: &'a Participant) -> Self {
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
    fn read(self, millis: u64, has_teams: bool, exact: bool) -> Result<Participant, &'static str> {
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
struct EventEntry {
    at: u64,
    team: u8,
    points: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<u32>,
}

impl EventEntry {
    fn of(event: &ScoreEvent) -> Self {
        Self {
            at: event.at,
            team: event.team,
            points: event.points,
            by: event.by,
        }
    }

    fn read(&self) -> ScoreEvent {
        ScoreEvent {
            at: self.at,
            team: self.team,
            points: self.points,
            by: self.by,
        }
    }
}

#[cfg(test)]
mod tests;
