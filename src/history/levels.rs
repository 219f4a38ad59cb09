//! The levels at which weights are learned: a ruleset, its game type with any mutators, all games.
//!
//! Each level has a standing that learns from all games at or below it. As long as a level has only
//! one ruleset below it, both would learn the same, so the level uses the ruleset's standing. When
//! a second ruleset appears, the level gets a copy of that standing. A player who is new to a
//! ruleset starts from their strength at the next level.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Standing, StartsOfGame, WeightAfter, digest::Person};
use crate::{
    domain::{Ruleset, Timestamp},
    rating::{Player, RatedGame, Settings, divisions},
};

/// How close the games behind a weight are to the requested ruleset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Games of the same ruleset.
    Ruleset,
    /// Games of a ruleset with the same game type and a proper subset of its mutators.
    FewerMutators,
    /// Games of the same game type, with any mutators.
    GameType,
    /// Games of any type.
    AllGames,
}

impl Level {
    /// Whether a weight of this level counts as a weight under the requested ruleset. If not, it is
    /// a guess from games with other rules.
    pub fn is_near(self) -> bool {
        matches!(self, Level::Ruleset | Level::FewerMutators)
    }
}

/// The levels of one rating system, and their standings.
#[derive(Clone)]
pub(super) struct Levels {
    settings: Settings,
    standings: LevelStandings,
}

/// The standing of each level.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct LevelStandings {
    rulesets: BTreeMap<Ruleset, Standing>,
    /// Only game types with more than one ruleset; the others share their ruleset's standing.
    types: BTreeMap<String, Standing>,
    /// Only if there is more than one game type.
    all: Option<Standing>,
}

impl Levels {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            standings: LevelStandings::default(),
        }
    }

    /// The part of the state that a checkpoint stores.
    pub fn standings(&self) -> &LevelStandings {
        &self.standings
    }

    /// Continues from the state in a checkpoint.
    pub fn resume(&mut self, standings: LevelStandings) {
        self.standings = standings;
    }

    /// All rulesets that have a rated match.
    pub fn rulesets(&self) -> impl Iterator<Item = (&Ruleset, &Standing)> {
        self.standings.rulesets.iter()
    }

    /// The standing of one level; `None` if the level has no rated match.
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

    /// The standings of the rulesets of the same game type with fewer mutators, the closest last:
    /// ordered by the number of mutators, then by ruleset.
    fn simpler(&self, ruleset: &Ruleset) -> Vec<&Standing> {
        let rulesets = self.standings.rulesets.iter();
        let mut simpler: Vec<_> = rulesets.filter(|(r, _)| r.is_simpler(ruleset)).collect();
        simpler.sort_by_key(|(r, _)| r.mutators().count());
        simpler.into_iter().map(|(_, standing)| standing).collect()
    }

    /// All standings that can contain a player's weight for a ruleset, with their levels, the
    /// closest last. A standing of several levels comes once, with the closest of them.
    pub fn farthest_first(&self, ruleset: &Ruleset) -> Vec<(Level, &Standing)> {
        let on = |level| Some((level, self.standing(ruleset, level)?));
        let simpler = self.simpler(ruleset).into_iter().rev();
        let simpler = simpler.map(|standing| (Level::FewerMutators, standing));
        let far = [on(Level::GameType), on(Level::AllGames)];
        let near = on(Level::Ruleset).into_iter().chain(simpler);
        let mut all: Vec<(Level, &Standing)> = Vec::new();
        for (level, standing) in near.chain(far.into_iter().flatten()) {
            let is_it = |(_, closer): &(Level, &Standing)| std::ptr::eq(*closer, standing);
            if !all.iter().any(is_it) {
                all.push((level, standing));
            }
        }
        all.reverse();
        all
    }

    /// The standing of a game type; with only one ruleset, that ruleset's.
    fn game_type(&self, game_type: &str) -> Option<&Standing> {
        let of_type = |r: &&Ruleset| r.game_type() == game_type;
        let only = || self.standings.rulesets.iter().find(|(r, _)| of_type(r));
        let own = self.standings.types.get(game_type);
        own.or_else(|| only().map(|(_, standing)| standing))
    }

    /// The closest standing for a ruleset: its own, else that of its game type, else that of all
    /// games.
    pub fn best(&self, ruleset: &Ruleset) -> Option<&Standing> {
        let levels = [Level::Ruleset, Level::GameType, Level::AllGames];
        levels.into_iter().find_map(|l| self.standing(ruleset, l))
    }

    /// The chance that the first of two teams wins a game, before it is learned from.
    pub fn forecast(&self, ruleset: &Ruleset, game: &RatedGame) -> Option<f64> {
        if game.teams() != 2 {
            return None;
        }
        let best = self.best(ruleset);
        Some(best.map_or(0.5, |standing| standing.system.beats(game, 0, 1)))
    }

    /// A player's weight under a ruleset; `None` without a game that was learned from.
    pub fn weight_after(&self, ruleset: &Ruleset, player: Player) -> Option<WeightAfter> {
        let measured = self.standings.rulesets.get(ruleset)?.measured(player)?;
        Some(WeightAfter {
            weight: measured.weight,
            deviation: measured.deviation,
        })
    }

    /// Learns from a game that ended at `end`, on every level.
    pub fn learn(
        &mut self,
        ruleset: &Ruleset,
        game: &RatedGame,
        end: Timestamp,
        starts: &StartsOfGame,
    ) {
        self.open(ruleset);
        let own = self.standings.rulesets.get_mut(ruleset);
        let game_type = self.standings.types.get_mut(ruleset.game_type());
        for standing in own
            .into_iter()
            .chain(game_type)
            .chain(&mut self.standings.all)
        {
            standing.learn(game, end, starts);
        }
        self.pass_down(game);
    }

    /// Gives the humans of a game that was learned from their divisions under its ruleset.
    pub fn divide(
        &mut self,
        ruleset: &Ruleset,
        settings: &divisions::Settings,
        game: &RatedGame,
        people: &[Person],
    ) {
        if let Some(own) = self.standings.rulesets.get_mut(ruleset) {
            own.divide(settings, game, people);
        }
    }

    /// Updates the strengths that lower levels have adopted: players of this game who are new to a
    /// level get their current strength from the level above, for its next prediction.
    fn pass_down(&mut self, game: &RatedGame) {
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

    /// Creates the standing of a new ruleset, and that of a level above that now contains more than
    /// one.
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

    /// Starts a new season on every level.
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

/// Copies from the standing above the strengths of players who have no rated game in the one below.
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
