//! Levels of knowing: a ruleset, its game type with any mutators, all games.
//!
//! Each level is a standing of its own that learns from all games below it. A level with only one
//! ruleset below it would learn the same as that; so it is that, until a second appears, and
//! then begins as its copy. Somebody new to a ruleset begins with what the next level knows of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Standing;
use crate::{
    domain::{Ruleset, Timestamp},
    rating::{Game, Player, Settings},
};

/// How closely a weight fits the ruleset asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Games of that very ruleset.
    Ruleset,
    /// Games of a ruleset of its game type that has some of its mutators, or none, and no others.
    FewerMutators,
    /// Games of its game type, whatever the mutators.
    GameType,
    /// All games.
    AllGames,
}

impl Level {
    /// Whether weights of this level are weights in the ruleset asked for, instead of a guess from
    /// games that are played differently.
    pub fn is_near(self) -> bool {
        matches!(self, Level::Ruleset | Level::FewerMutators)
    }
}

/// All levels of one rating system.
#[derive(Clone)]
pub(super) struct Levels {
    settings: Settings,
    standings: Standings,
}

/// Every level's standing.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Standings {
    rulesets: BTreeMap<Ruleset, Standing>,
    /// Game types with more than one ruleset.
    types: BTreeMap<String, Standing>,
    /// When there is more than one game type.
    all: Option<Standing>,
}

impl Levels {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            standings: Standings::default(),
        }
    }

    /// What a checkpoint stores.
    pub fn standings(&self) -> &Standings {
        &self.standings
    }

    /// Continues from what a checkpoint stored.
    pub fn resume(&mut self, standings: Standings) {
        self.standings = standings;
    }

    /// Every ruleset that was played.
    pub fn rulesets(&self) -> impl Iterator<Item = (&Ruleset, &Standing)> {
        self.standings.rulesets.iter()
    }

    /// One level's standing, where anything was played on it.
    pub fn standing(&self, ruleset: &Ruleset, level: Level) -> Option<&Standing> {
        match level {
            Level::Ruleset => self.standings.rulesets.get(ruleset),
            Level::FewerMutators => self.simpler(ruleset).pop(),
            Level::GameType => self.game_type(ruleset.game_type()),
            Level::AllGames => {
                let any = || self.standings.rulesets.keys().next();
                let only = || any().and_then(|r| self.game_type(r.game_type()));
                self.standings.all.as_ref().or_else(only)
            }
        }
    }

    /// The standings of the rulesets of the same game type with fewer mutators, the closest last: by
    /// the number of mutators, and then in the rulesets' order.
    fn simpler(&self, ruleset: &Ruleset) -> Vec<&Standing> {
        let rulesets = self.standings.rulesets.iter();
        let mut simpler: Vec<_> = rulesets.filter(|(r, _)| r.is_simpler(ruleset)).collect();
        simpler.sort_by_key(|(r, _)| r.mutators().count());
        simpler.into_iter().map(|(_, standing)| standing).collect()
    }

    /// Every standing that knows something for a ruleset, with its level, the closest last.
    pub fn farthest_first(&self, ruleset: &Ruleset) -> impl Iterator<Item = (Level, &Standing)> {
        let on = |level| Some((level, self.standing(ruleset, level)?));
        let far = [on(Level::AllGames), on(Level::GameType)];
        let simpler = self.simpler(ruleset).into_iter();
        let simpler = simpler.map(|standing| (Level::FewerMutators, standing));
        far.into_iter()
            .flatten()
            .chain(simpler)
            .chain(on(Level::Ruleset))
    }

    /// The standing of a game type, be it that of its only ruleset.
    fn game_type(&self, game_type: &str) -> Option<&Standing> {
        let of_type = |r: &&Ruleset| r.game_type() == game_type;
        let only = || self.standings.rulesets.iter().find(|(r, _)| of_type(r));
        let own = self.standings.types.get(game_type);
        own.or_else(|| only().map(|(_, standing)| standing))
    }

    /// The best there is for a ruleset: its own standing, or the next level's.
    pub fn best(&self, ruleset: &Ruleset) -> Option<&Standing> {
        let levels = [Level::Ruleset, Level::GameType, Level::AllGames];
        levels.into_iter().find_map(|l| self.standing(ruleset, l))
    }

    /// Learns from a game that ended then, on every level.
    pub fn learn(&mut self, ruleset: &Ruleset, game: &Game, end: Timestamp) {
        self.open(ruleset);
        let own = self.standings.rulesets.get_mut(ruleset);
        let game_type = self.standings.types.get_mut(ruleset.game_type());
        for standing in own
            .into_iter()
            .chain(game_type)
            .chain(&mut self.standings.all)
        {
            standing.learn(game, end);
        }
        self.pass_down(game);
    }

    /// Tells every level what the one above knows by now of those in a game who are new to it, so that
    /// they are no strangers to its next prediction.
    fn pass_down(&mut self, game: &Game) {
        let players = || game.tallies.iter().map(|tally| tally.player);
        if let Some(all) = &self.standings.all {
            for below in self.standings.types.values_mut() {
                adopt(players(), all, below);
            }
        }
        for (ruleset, below) in &mut self.standings.rulesets {
            let above = self.standings.types.get(ruleset.game_type());
            if let Some(above) = above.or(self.standings.all.as_ref()) {
                adopt(players(), above, below);
            }
        }
    }

    /// Makes a ruleset's standing, and those of the levels above that now stand for more than one.
    fn open(&mut self, ruleset: &Ruleset) {
        if self.standings.rulesets.contains_key(ruleset) {
            return;
        }
        let game_type = ruleset.game_type();
        match self.game_type(game_type).cloned() {
            Some(only) => {
                self.standings
                    .types
                    .entry(game_type.to_owned())
                    .or_insert(only);
            }
            None if self.standings.all.is_none() => {
                self.standings.all = self.standing(ruleset, Level::AllGames).cloned();
            }
            None => {}
        }
        let mut own = Standing::new(&self.settings);
        if let Some(above) = self
            .standings
            .types
            .get(game_type)
            .or(self.standings.all.as_ref())
        {
            adopt(above.players(), above, &mut own);
        }
        self.standings.rulesets.insert(ruleset.clone(), own);
    }

    /// A new season, on every level.
    pub fn new_season(&mut self, keep: f64) {
        let rulesets = self.standings.rulesets.values_mut();
        let above = self
            .standings
            .types
            .values_mut()
            .chain(&mut self.standings.all);
        rulesets
            .chain(above)
            .for_each(|standing| standing.system.new_season(keep));
    }
}

/// Tells a standing what the one above knows of those who are new to it.
fn adopt(players: impl Iterator<Item = Player>, above: &Standing, below: &mut Standing) {
    for player in players {
        if !below.knows(player)
            && above.knows(player)
            && let Some(known) = above.system.strength(player)
        {
            below.system.adopt(player, known);
        }
    }
}
