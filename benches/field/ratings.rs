//! What each rating system knows of the players of a lobby before it, as the balancers get it.

use std::collections::HashMap;

use evenkeel::{
    model::{
        Kind, MatchRecord, PlayerKey, Rulebook, Timestamp, fingerprint::Fingerprint,
        rulebook::RulebookSpec,
    },
    rating::{
        self, SystemName,
        history::{self, Fold},
        system::Scale,
    },
};

use crate::{
    common::lobbies::{History, Lobby},
    peers::{self, Peer},
    whole_history::WholeHistory,
};

/// Where ratings come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// A rating system of this project, which is either its own (`joint`) or written from the description of somebody
    /// else's.
    System(SystemName),
    /// Whole-history rating, as the benchmark `accuracy` has it.
    WholeHistory,
    /// No ratings.
    Nothing,
}

impl Source {
    /// Evenkeel's own.
    pub const OURS: Self = Self::System(SystemName::Joint);

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::System(SystemName::Joint) => "Evenkeel",
            Self::System(SystemName::Elo) => "Elo",
            Self::System(SystemName::Glicko2) => "Glicko-2",
            Self::System(SystemName::TrueSkill) => "TrueSkill",
            Self::System(SystemName::PlackettLuce) => "OpenSkill",
            Self::System(SystemName::Hive) => "NS2 skill",
            Self::System(SystemName::Presence) => "points",
            Self::System(SystemName::Scoreboard) => "scoreboard",
            Self::System(SystemName::WinRate) => "share won",
            Self::System(other) => other.as_str(),
            Self::WholeHistory => "WHR",
            Self::Nothing => "none",
        }
    }
}

/// What is known of a player: how much stronger than a newcomer, and its deviation, in units of which a first victory in
/// four against four is worth about a third in each system; and the number of matches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    pub above: f64,
    pub deviation: f64,
    pub games: u32,
}

/// The unit of systems whose strengths are weights: a sixth of the way from 50 to 100.
const OF_WEIGHTS: f64 = 50.0 / 6.0;
/// Elo points in a unit.
const OF_ELO: f64 = 60.0;

/// What is known of the players of each lobby before it. The lobbies are in order, and begin with the whole history.
pub fn before(source: Source, history: &History, lobbies: &[Lobby]) -> Vec<Vec<Known>> {
    match source {
        Source::System(name) => by_system(name, history, lobbies),
        Source::WholeHistory => by_whole_history(history, lobbies),
        Source::Nothing => lobbies
            .iter()
            .map(|l| vec![Known::default(); l.players.len()])
            .collect(),
    }
}

fn by_system(name: SystemName, history: &History, lobbies: &[Lobby]) -> Vec<Vec<Known>> {
    let settings = rating::Settings {
        system: name.into(),
        ..rating::Settings::default()
    };
    let empty = name.build(&settings);
    let unit = match empty.scale() {
        Scale::Weights => OF_WEIGHTS,
        Scale::Strengths { unit, .. } => unit,
    };
    let unknown = Known {
        deviation: empty.newcomer_deviation() / unit,
        ..Known::default()
    };
    let rulebook = Rulebook::new(&RulebookSpec::default()).expect("the default rulebook");
    let mut fold = Fold::new(&rulebook, history::Settings::from(settings));
    let matches = one_after_the_other(&history.matches);
    let (mut next, mut ruleset) = (0, None);
    let mut all = Vec::with_capacity(lobbies.len());
    for lobby in lobbies {
        for record in &matches[next..lobby.at] {
            let ruling = fold
                .push(record, Fingerprint::of(record))
                .expect("in order");
            ruleset = Some(ruling.ruleset);
        }
        next = lobby.at;
        let known = |(id, _): &(String, usize)| {
            let weight = fold.weight_of(ruleset.as_ref()?, Kind::Human, id)?;
            Some(Known {
                above: weight.strength / unit,
                deviation: weight.strength_deviation / unit,
                games: weight.games,
            })
        };
        all.push(
            lobby
                .players
                .iter()
                .map(|p| known(p).unwrap_or(unknown))
                .collect(),
        );
    }
    all
}

/// The matches, each of which ends after the one before, by some milliseconds if need be.
fn one_after_the_other(matches: &[MatchRecord]) -> Vec<MatchRecord> {
    let mut last = matches.first().map_or(0, |first| first.end.0 - 1);
    let later = |record: &MatchRecord| {
        let mut record = record.clone();
        let by = (last + 1 - record.end.0).max(0);
        record.start = Timestamp(record.start.0 + by);
        record.end = Timestamp(record.end.0 + by);
        last = record.end.0;
        record
    };
    matches.iter().map(later).collect()
}

fn by_whole_history(history: &History, lobbies: &[Lobby]) -> Vec<Vec<Known>> {
    let (games, numbers) = peers::numbered(&history.matches);
    let mut whole = WholeHistory::new();
    let mut played: HashMap<usize, u32> = HashMap::new();
    let mut next = 0;
    let mut all = Vec::with_capacity(lobbies.len());
    for lobby in lobbies {
        for game in games[next..lobby.at].iter().flatten() {
            whole.learn(game);
            let seats = game.teams.iter().flatten();
            seats.for_each(|seat| *played.entry(seat.player).or_default() += 1);
        }
        next = lobby.at;
        let known = |(id, _): &(String, usize)| {
            let key = PlayerKey {
                kind: Kind::Human,
                id: id.clone(),
            };
            let number = *numbers.get(&key)?;
            Some(Known {
                above: whole.rating(number) * 400.0 / std::f64::consts::LN_10 / OF_ELO,
                deviation: 0.0,
                games: played.get(&number).copied().unwrap_or(0),
            })
        };
        all.push(
            lobby
                .players
                .iter()
                .map(|p| known(p).unwrap_or_default())
                .collect(),
        );
    }
    all
}
