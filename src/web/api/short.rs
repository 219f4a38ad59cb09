//! The short form of a finished match: who played on which team, and who won.

use serde::Deserialize;
use serde_json::Value;

use super::{Problem, game::check_name, identities::Identities};
use crate::model::{
    Kind, MatchRecord, Outcome, Participant, PlayerKey, Presence, Role, RoleName, Ruleset, Span,
    Timestamp,
};

/// A match in the short form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShortMatch {
    ruleset: String,
    teams: Vec<Vec<ShortPlayer>>,
    winner: Option<u8>,
    #[serde(default)]
    draw: bool,
    scores: Option<Vec<f64>>,
    start: Option<String>,
    end: Option<String>,
    /// How long it lasted, in seconds.
    duration: Option<f64>,
    #[serde(default)]
    map: String,
    #[serde(default)]
    mode: String,
}

/// A player, as an id or with more.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Value")]
struct ShortPlayer(StatedPlayer);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatedPlayer {
    id: String,
    name: Option<String>,
    #[serde(default)]
    bot: bool,
    points: Option<f64>,
    #[serde(default)]
    kills: u32,
    #[serde(default)]
    deaths: u32,
    role: Option<String>,
    /// The share of the match for which the player was there, from its start.
    share: Option<f64>,
    party: Option<u32>,
}

impl TryFrom<Value> for ShortPlayer {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let stated = match value {
            Value::String(id) => serde_json::json!({ "id": id }),
            stated => stated,
        };
        serde_json::from_value(stated).map(Self)
    }
}

/// The longest that a match may last.
const LONGEST: f64 = 7.0 * 86_400.0;

impl ShortMatch {
    /// The ids that it names.
    pub(super) fn ids(&self) -> Vec<&str> {
        let players = self.teams.iter().flatten();
        players
            .map(|ShortPlayer(player)| player.id.as_str())
            .collect()
    }

    /// The identities of the humans that it names, and where it names them.
    pub(super) fn humans(&self, known: &Identities) -> Vec<(String, String)> {
        let teams = self.teams.iter().enumerate();
        let players = teams.flat_map(|(team, players)| {
            let players = players.iter().enumerate();
            players
                .map(move |(at, ShortPlayer(player))| (format!("teams[{team}][{at}].id"), player))
        });
        let humans = players.filter(|(_, player)| !player.bot);
        let named = humans.map(|(place, player)| (known.get(&player.id), place));
        named.collect()
    }

    /// The record of the match, which the caller must check.
    pub(super) fn record(
        &self,
        server: &str,
        now: Timestamp,
        known: &Identities,
    ) -> Result<MatchRecord, Problem> {
        check_name("ruleset", &self.ruleset)?;
        if !(2..=8).contains(&self.teams.len()) {
            return Err(Problem::bad("teams: must be 2 to 8 lists of players"));
        }
        let (scores, outcome) = self.result()?;
        let (start, end, untimed) = self.times(now)?;
        let ruleset = Ruleset::parse(&self.ruleset);
        let mut mutators: Vec<String> = ruleset.mutators().map(str::to_owned).collect();
        mutators.sort();
        let mut record = MatchRecord {
            server: server.to_owned(),
            start,
            end,
            clock: None,
            untimed,
            client: String::new(),
            logged_as: None,
            map: self.map.clone(),
            game_type: ruleset.game_type().to_owned(),
            mode: self.mode.clone(),
            mutators,
            unscored: self.scores.is_none(),
            scores,
            participants: Vec::new(),
            events: Vec::new(),
            outcome,
        };
        let millis = record.millis();
        for (team, players) in (0u8..).zip(&self.teams) {
            for (at, ShortPlayer(player)) in players.iter().enumerate() {
                let place = format!("teams[{team}][{at}]");
                let one = participant(player, &place, team, millis, known)?;
                if record.participants.iter().any(|other| other.key == one.key) {
                    let why = format!("{place}.id: {} is there twice", player.id);
                    return Err(Problem::bad(why));
                }
                record.participants.push(one);
            }
        }
        Ok(record)
    }

    /// The final scores, and who has won.
    fn result(&self) -> Result<(Vec<f64>, Outcome), Problem> {
        let teams = self.teams.len();
        let scores = match &self.scores {
            Some(scores) if scores.len() != teams => {
                return Err(Problem::bad("scores: must be one number for each team"));
            }
            scores => scores.clone().unwrap_or_else(|| vec![0.0; teams]),
        };
        let outcome = match (self.winner, self.draw, &self.scores) {
            (Some(_), true, _) => return Err(Problem::bad("draw: there is a winner")),
            (Some(team), false, _) if usize::from(team) >= teams => {
                return Err(Problem::bad(format!("winner: there is no team {team}")));
            }
            (Some(team), false, _) => Outcome::Won(team),
            (None, true, _) => Outcome::Draw,
            (None, false, Some(scores)) => MatchRecord::outcome_of(scores),
            (None, false, None) => {
                return Err(Problem::bad("state winner, \"draw\": true or scores"));
            }
        };
        Ok((scores, outcome))
    }

    /// When the match began and ended, and whether its length is not known.
    fn times(&self, now: Timestamp) -> Result<(Timestamp, Timestamp, bool), Problem> {
        let read = |place: &str, text: &Option<String>| match text {
            Some(text) => match Timestamp::parse(text) {
                Some(at) => Ok(Some(at)),
                None => Err(Problem::bad(format!("{place}: is not a date"))),
            },
            None => Ok(None),
        };
        let (start, end) = (read("start", &self.start)?, read("end", &self.end)?);
        let length = match self.duration {
            Some(seconds) if !(0.0..=LONGEST).contains(&seconds) => {
                return Err(Problem::bad("duration: must be 0 to 604800 seconds"));
            }
            seconds => seconds.map(|seconds| (seconds * 1_000.0).round() as i64),
        };
        match (start, end, length) {
            (Some(_), Some(_), Some(_)) => {
                Err(Problem::bad("duration: follows from start and end"))
            }
            (Some(start), Some(end), None) => Ok((start, end, false)),
            (Some(start), None, Some(length)) => Ok((start, start.plus_millis(length), false)),
            (None, end, Some(length)) => {
                let end = end.unwrap_or(now);
                Ok((end.plus_millis(-length), end, false))
            }
            (at, None, None) | (None, at, None) => {
                let at = at.unwrap_or(now);
                Ok((at, at, true))
            }
        }
    }
}

fn participant(
    player: &StatedPlayer,
    place: &str,
    team: u8,
    millis: u64,
    known: &Identities,
) -> Result<Participant, Problem> {
    check_name(&format!("{place}.id"), &player.id)?;
    let share = player.share.unwrap_or(1.0);
    if !(0.0..=1.0).contains(&share) {
        return Err(Problem::bad(format!("{place}.share: must be 0 to 1")));
    }
    let role = |name: &String| {
        let wrong = || Problem::bad(format!("{place}.role: is no name of a role"));
        let name = RoleName::read(name).ok_or_else(wrong)?;
        Ok::<_, Problem>(Role {
            name: name.as_str().to_owned(),
            team,
            share,
        })
    };
    let (kind, id) = match player.bot {
        true => (Kind::Bot, player.id.clone()),
        false => (Kind::Human, known.get(&player.id)),
    };
    let to = (share * millis as f64).round() as u64;
    Ok(Participant {
        name: player.name.clone().unwrap_or_else(|| id.clone()),
        key: PlayerKey { kind, id },
        presence: vec![Presence {
            team,
            span: Span { from: 0, to },
        }],
        points: player.points,
        kills: player.kills,
        deaths: player.deaths,
        roles: player.role.iter().map(role).collect::<Result<_, _>>()?,
        party: player.party,
        left: None,
    })
}
