//! The levels at which weights are learned: a ruleset, its game type with any mutators, all games.
//!
//! Each level has a standing that learns from all games at or below it. As long as a level has only
//! one ruleset below it, both would learn the same, so the level uses the ruleset's standing. When
//! a second ruleset appears, the level gets a copy of that standing. What the closest level knows of a
//! player who is new to a ruleset is their prior there ([`elsewhere`](super::elsewhere)). It follows their games
//! elsewhere until their first game of the ruleset.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Deserialize, Serialize};

use super::{People, Standing, StartsByNumber, elsewhere::Known};
use crate::{
    domain::{Ruleset, Timestamp, WeightEntry},
    rating::{Player, RatedGame, Settings, Shared, divisions},
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
    rulesets: BTreeMap<Ruleset, Shared<Standing>>,
    /// Only game types with more than one ruleset; the others share their ruleset's standing.
    types: BTreeMap<String, Shared<Standing>>,
    /// Only if there is more than one game type.
    all: Option<Shared<Standing>>,
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
        let rulesets = self.standings.rulesets.iter();
        rulesets.map(|(ruleset, standing)| (ruleset, &**standing))
    }

    /// The standing of one level; `None` if the level has no rated match.
    pub fn standing(&self, ruleset: &Ruleset, level: Level) -> Option<&Standing> {
        match level {
            Level::Ruleset => self.own_standing(ruleset),
            Level::FewerMutators => self.simpler(ruleset).pop(),
            Level::GameType => self.game_type(ruleset.game_type()),
            Level::AllGames => {
                let any = || self.standings.rulesets.keys().next();
                let only = || any().and_then(|r| self.game_type(r.game_type()));
                self.standings.all.as_deref().or_else(only)
            }
        }
    }

    fn own_standing(&self, ruleset: &Ruleset) -> Option<&Standing> {
        self.standings.rulesets.get(ruleset).map(|own| &**own)
    }

    /// The rulesets of a game type that have a rated match.
    fn of_type(&self, game_type: &str) -> impl Iterator<Item = (&Ruleset, &Standing)> {
        // There may be very many of other types.
        let from = Ruleset::first_of(game_type);
        let rulesets = self.standings.rulesets.range(from..);
        let own = rulesets.take_while(move |(ruleset, _)| ruleset.game_type() == game_type);
        own.map(|(ruleset, standing)| (ruleset, &**standing))
    }

    /// The standings of the rulesets of the same game type with fewer mutators, the closest last:
    /// ordered by the number of mutators, then by ruleset.
    fn simpler(&self, ruleset: &Ruleset) -> Vec<&Standing> {
        let rulesets = self.of_type(ruleset.game_type());
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
        let only = || self.of_type(game_type).next();
        let own = self.standings.types.get(game_type).map(|own| &**own);
        own.or_else(|| only().map(|(_, standing)| standing))
    }

    /// The closest standing for a ruleset: its own, else that of its game type, else that of all
    /// games.
    pub fn best(&self, ruleset: &Ruleset) -> Option<&Standing> {
        let levels = [Level::Ruleset, Level::GameType, Level::AllGames];
        levels.into_iter().find_map(|l| self.standing(ruleset, l))
    }

    /// The standing of a ruleset with the priors of the players who are new to it: before its first match, the
    /// standing with which it would begin, with these players alone. `None` before any match.
    pub fn own(
        &self,
        ruleset: &Ruleset,
        players: impl Iterator<Item = Player>,
        starts: StartsByNumber<'_>,
    ) -> Option<Cow<'_, Standing>> {
        if let Some(own) = self.own_standing(ruleset) {
            return Some(Cow::Borrowed(own));
        }
        let is_empty = self.standings.rulesets.is_empty();
        (!is_empty).then(|| Cow::Owned(self.begun(ruleset, players, starts)))
    }

    /// The standing of a ruleset for a game, see [`own`](Self::own).
    pub fn for_game(
        &self,
        ruleset: &Ruleset,
        game: &RatedGame,
        starts: StartsByNumber<'_>,
    ) -> Option<Cow<'_, Standing>> {
        let players = game.seats().iter().map(|seat| seat.player);
        self.own(ruleset, players, starts)
    }

    /// All players who have been in a game, rated or not.
    pub fn players(&self) -> impl Iterator<Item = Player> {
        let any = self.standings.rulesets.keys().next();
        let all = any.and_then(|any| self.standing(any, Level::AllGames));
        all.into_iter().flat_map(Standing::players)
    }

    /// The chance that the first of two teams wins a game, before it is learned from.
    pub fn beats(&self, ruleset: &Ruleset, game: &RatedGame, starts: StartsByNumber<'_>) -> f64 {
        let own = self.for_game(ruleset, game, starts);
        own.map_or(0.5, |own| own.system.beats(game, 0, 1))
    }

    /// The same for a game of two teams.
    pub fn forecast(
        &self,
        ruleset: &Ruleset,
        game: &RatedGame,
        starts: StartsByNumber<'_>,
    ) -> Option<f64> {
        (game.teams() == 2).then(|| self.beats(ruleset, game, starts))
    }

    /// Learns from a game that ended at `end`, on every level. Returns what it entered into accounts under its ruleset.
    pub fn learn(
        &mut self,
        ruleset: &Ruleset,
        game: &RatedGame,
        end: Timestamp,
        starts: StartsByNumber<'_>,
    ) -> Vec<(Player, WeightEntry)> {
        self.open(ruleset, starts);
        let own = self.standings.rulesets.get_mut(ruleset);
        let entries = own.map(|own| own.edit().learn(game, end, starts));
        let game_type = self.standings.types.get_mut(ruleset.game_type());
        for above in game_type.into_iter().chain(&mut self.standings.all) {
            above.edit().learn(game, end, starts);
        }
        let players: Vec<Player> = game.tallies.iter().map(|tally| tally.player).collect();
        self.pass_down(&players, starts);
        entries.unwrap_or_default()
    }

    /// Gives the humans of a game that was learned from their divisions under its ruleset.
    pub fn divide(
        &mut self,
        ruleset: &Ruleset,
        settings: &divisions::Settings,
        game: &RatedGame,
        people: &People,
    ) {
        if let Some(own) = self.standings.rulesets.get_mut(ruleset) {
            own.edit().divide(settings, game, people);
        }
    }

    /// Gives these players their current priors on all levels to which they are new.
    fn pass_down(&mut self, players: &[Player], starts: StartsByNumber<'_>) {
        let standings = &mut self.standings;
        if let Some(all) = &standings.all {
            for below in standings.types.values_mut() {
                let new: Vec<Player> = (players.iter().copied())
                    .filter(|player| !below.knows(*player))
                    .collect();
                if !new.is_empty() {
                    let above = [(Level::AllGames, &**all)];
                    adopt(&above, new.into_iter(), below.edit(), starts);
                }
            }
        }
        let found: Vec<Vec<(Player, Known)>> = self.found(players);
        for (below, found) in self.standings.rulesets.values_mut().zip(found) {
            for (player, known) in found {
                below.edit().adopt(player, known, starts.of(player));
            }
        }
    }

    /// For each ruleset, what is known elsewhere of those of these players who are new to it.
    fn found(&self, players: &[Player]) -> Vec<Vec<(Player, Known)>> {
        let of = |(ruleset, below): (&Ruleset, &Standing)| {
            let mut new = players
                .iter()
                .copied()
                .filter(|p| !below.knows(*p))
                .peekable();
            if new.peek().is_none() {
                return Vec::new();
            }
            let sources = self.sources(ruleset);
            new.filter_map(|player| Some((player, known(&sources, player)?)))
                .collect()
        };
        self.rulesets().map(of).collect()
    }

    /// The standings from which the priors of players who are new to a ruleset come, the closest first.
    fn sources(&self, ruleset: &Ruleset) -> Vec<(Level, &Standing)> {
        let mut sources = self.farthest_first(ruleset);
        sources.retain(|(level, _)| *level != Level::Ruleset);
        sources.reverse();
        sources
    }

    /// The standing with which a ruleset begins, with the priors of these players.
    fn begun(
        &self,
        ruleset: &Ruleset,
        players: impl Iterator<Item = Player>,
        starts: StartsByNumber<'_>,
    ) -> Standing {
        let mut own = Standing::new(&self.settings);
        adopt(&self.sources(ruleset), players, &mut own, starts);
        own
    }

    /// Creates the standing of a new ruleset, and that of a level above that now contains more than
    /// one.
    fn open(&mut self, ruleset: &Ruleset, starts: StartsByNumber<'_>) {
        if self.standings.rulesets.contains_key(ruleset) {
            return;
        }
        let game_type = ruleset.game_type();
        match self.game_type(game_type) {
            Some(only) if !self.standings.types.contains_key(game_type) => {
                let only = Shared::new(only.clone());
                self.standings.types.insert(game_type.to_owned(), only);
            }
            None if self.standings.all.is_none() => {
                let all = self.standing(ruleset, Level::AllGames);
                self.standings.all = all.cloned().map(Shared::new);
            }
            _ => {}
        }
        let everybody: Vec<Player> = self.players().collect();
        let own = self.begun(ruleset, everybody.into_iter(), starts);
        let own = Shared::new(own);
        self.standings.rulesets.insert(ruleset.clone(), own);
    }

    /// Starts a new season on every level.
    pub fn new_season(&mut self, keep: f64, starts: StartsByNumber<'_>) {
        let rulesets = self.standings.rulesets.values_mut();
        let above = self
            .standings
            .types
            .values_mut()
            .chain(&mut self.standings.all);
        rulesets
            .chain(above)
            .for_each(|standing| standing.edit().new_season(keep));
        let everybody: Vec<Player> = self.players().collect();
        self.pass_down(&everybody, starts);
    }
}

/// Gives the players who are new to a standing what the closest of `sources` knows of them.
fn adopt(
    sources: &[(Level, &Standing)],
    players: impl Iterator<Item = Player>,
    below: &mut Standing,
    starts: StartsByNumber<'_>,
) {
    for player in players {
        if let Some(known) = known(sources, player) {
            below.adopt(player, known, starts.of(player));
        }
    }
}

/// What the closest of these standings knows of a player.
fn known(sources: &[(Level, &Standing)], player: Player) -> Option<Known> {
    let mut sources = sources.iter().filter(|(_, above)| above.knows(player));
    sources.find_map(|(level, above)| {
        let account = above.account(player).filter(|_| level.is_near());
        Some(Known {
            strength: above.estimate(player)?,
            near: account.map(|account| account.weight),
        })
    })
}
