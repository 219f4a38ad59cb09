//! The fold: matches in order → weights per ruleset.

use std::collections::BTreeMap;

use super::{Played, Ruling, ruling};
use crate::{
    domain::{Fingerprint, MatchRecord, PlayerKey, Rulebook, Ruleset, Timestamp},
    rating::{Game, Player, Settings, System, Tally, presence},
};

/// A match that ended before one already folded (or that very one): fold all again, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the match is not later than the last one folded")]
pub struct Late;

/// What is known of one player under one ruleset.
#[derive(Clone, Debug, PartialEq)]
pub struct Weight<'a> {
    /// The ruleset.
    pub ruleset: &'a Ruleset,
    /// Human or bot, and who.
    pub key: &'a PlayerKey,
    /// The last name they were seen under.
    pub name: &'a str,
    /// 0 to 100; 50 is an average newcomer.
    pub weight: f64,
    /// Rated games they were in.
    pub games: u32,
    /// The end of the last of them.
    pub last_seen: Timestamp,
}

/// Matches folded so far. See the [module](super) for its promises.
pub struct Fold {
    rulebook: Rulebook,
    settings: Settings,
    last: Option<(Timestamp, Fingerprint)>,
    rulesets: BTreeMap<Ruleset, Standing>,
}

impl Fold {
    /// Nothing folded yet.
    pub fn new(rulebook: &Rulebook, settings: Settings) -> Self {
        Self {
            rulebook: rulebook.clone(),
            settings,
            last: None,
            rulesets: BTreeMap::new(),
        }
    }

    /// Folds one more match, which has passed [`MatchRecord::check`].
    ///
    /// Unrated matches take part in the order, and in nothing else.
    ///
    /// # Errors
    /// [`Late`] when it is not later than the last one in (end, fingerprint) order; nothing has
    /// changed then.
    pub fn push(&mut self, record: &MatchRecord, print: Fingerprint) -> Result<Ruling, Late> {
        let place = Some((record.end, print));
        if place <= self.last {
            return Err(Late);
        }
        self.last = place;
        let ruleset = self.rulebook.ruleset(&record.game_type, &record.mutators);
        let rated = ruling::judge(record, &self.rulebook).map(|scoring| {
            let points = presence::points(record, scoring);
            let played = points.iter().enumerate().filter_map(|(participant, p)| {
                ruling::has_played(&record.participants[participant]).then_some(Played {
                    participant,
                    scored: p.scored,
                    conceded: p.conceded,
                })
            });
            let played: Vec<Played> = played.collect();
            let settings = &self.settings;
            let standing = self.rulesets.entry(ruleset.clone());
            standing
                .or_insert_with(|| Standing::new(settings))
                .learn(record, &played);
            played
        });
        Ok(Ruling { ruleset, rated })
    }

    /// All weights, by ruleset and then by player (humans before bots).
    pub fn weights(&self) -> impl Iterator<Item = Weight<'_>> {
        let rulesets = self.rulesets.iter();
        rulesets.flat_map(|(ruleset, standing)| standing.weights(ruleset))
    }

    /// The weights of one ruleset, by player. Empty for one never played.
    pub fn weights_of<'a>(&'a self, ruleset: &Ruleset) -> impl Iterator<Item = Weight<'a>> {
        let found = self.rulesets.get_key_value(ruleset).into_iter();
        found.flat_map(|(ruleset, standing)| standing.weights(ruleset))
    }
}

/// One ruleset's rating system, and who its dense numbers are.
struct Standing {
    system: Box<dyn System>,
    players: BTreeMap<PlayerKey, Known>,
}

struct Known {
    player: Player,
    name: String,
    games: u32,
    last_seen: Timestamp,
}

impl Standing {
    fn new(settings: &Settings) -> Self {
        Self {
            system: settings.system.build(settings),
            players: BTreeMap::new(),
        }
    }

    fn learn(&mut self, record: &MatchRecord, played: &[Played]) {
        let tally = |p: &Played| {
            let participant = &record.participants[p.participant];
            let next = Player(u32::try_from(self.players.len()).unwrap_or(u32::MAX));
            let known = self.players.entry(participant.key.clone());
            let known = known.or_insert_with(|| Known {
                player: next,
                name: String::new(),
                games: 0,
                last_seen: record.end,
            });
            known.name.clone_from(&participant.name);
            known.games += 1;
            known.last_seen = record.end;
            Tally {
                player: known.player,
                scored: p.scored,
                conceded: p.conceded,
                points: participant.points,
                learns: true,
            }
        };
        let tallies = played.iter().map(tally).collect();
        let mut game = Game::default();
        game.tallies = tallies;
        self.system.update(&game);
    }

    fn weights<'a>(&'a self, ruleset: &'a Ruleset) -> impl Iterator<Item = Weight<'a>> {
        self.players.iter().filter_map(move |(key, known)| {
            Some(Weight {
                ruleset,
                key,
                name: &known.name,
                weight: self.system.strength(known.player)?.mean,
                games: known.games,
                last_seen: known.last_seen,
            })
        })
    }
}

#[cfg(test)]
mod tests;
