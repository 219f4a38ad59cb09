//! The levels at which weights are learned: a ruleset, its game type with any mutators, all games.
//!
//! Each level has a standing that learns from all games at or below it. As long as a level has only
//! one ruleset below it, both would learn the same, so the level uses the ruleset's standing. When
//! a second ruleset appears, the level gets a copy of that standing. What the closest level knows of a
//! player who is new to a ruleset is their prior there ([`newcomers`](super::newcomers)). It is looked up when somebody
//! asks for it, and enters the standing with the player's first game there: a match costs the same however many rulesets
//! there are.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Deserialize, Serialize};

use super::{People, Standing, StartsByNumber, newcomers::Known};
use crate::{Player, RatedGame, Settings, divisions, player_map::Shared};
use evenkeel_model::{Ruleset, Timestamp, weight::WeightEntry};

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

/// What a game was to a ruleset.
#[derive(Default)]
pub(super) struct Learned {
    /// The chance that the first of two teams wins, before the game was learned from.
    pub chance: Option<f64>,
    /// What it entered into accounts.
    pub entries: Vec<(Player, WeightEntry)>,
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
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            settings,
            standings: LevelStandings::default(),
        }
    }

    /// The part of the state that a checkpoint stores.
    pub(super) fn standings(&self) -> &LevelStandings {
        &self.standings
    }

    /// Continues from the state in a checkpoint.
    pub(super) fn resume(&mut self, standings: LevelStandings) {
        self.standings = standings;
    }

    /// All rulesets that have a rated match.
    pub(super) fn rulesets(&self) -> impl Iterator<Item = (&Ruleset, &Standing)> {
        let rulesets = self.standings.rulesets.iter();
        rulesets.map(|(ruleset, standing)| (ruleset, &**standing))
    }

    /// The rulesets that have learned since an earlier state.
    pub(super) fn learned_since<'a>(
        &'a self,
        before: &'a Self,
    ) -> impl Iterator<Item = &'a Ruleset> {
        let mut before = before.standings.rulesets.iter().peekable();
        let rulesets = self.standings.rulesets.iter();
        rulesets.filter_map(move |(ruleset, own)| {
            while before.next_if(|(was, _)| *was < ruleset).is_some() {}
            let was = before.next_if(|(was, _)| *was == ruleset);
            let is_same = was.is_some_and(|(_, was)| own.is_shared_with(was));
            (!is_same).then_some(ruleset)
        })
    }

    /// The standing of one level; `None` if the level has no rated match.
    pub(super) fn standing(&self, ruleset: &Ruleset, level: Level) -> Option<&Standing> {
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
    pub(super) fn farthest_first(&self, ruleset: &Ruleset) -> Vec<(Level, &Standing)> {
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
    pub(super) fn best(&self, ruleset: &Ruleset) -> Option<&Standing> {
        let levels = [Level::Ruleset, Level::GameType, Level::AllGames];
        levels.into_iter().find_map(|l| self.standing(ruleset, l))
    }

    /// The standing of a ruleset, in which those of these players who are new to it have their priors. Before its first
    /// match, it is the standing with which the ruleset would begin. `None` before any match.
    pub(super) fn own(
        &self,
        ruleset: &Ruleset,
        players: impl Iterator<Item = Player>,
        starts: StartsByNumber<'_>,
    ) -> Option<Cow<'_, Standing>> {
        let mut own = match self.own_standing(ruleset) {
            Some(own) => Cow::Borrowed(own),
            None if self.standings.rulesets.is_empty() => return None,
            None => Cow::Owned(Standing::new(&self.settings)),
        };
        for (player, known) in found(|| self.sources(ruleset), players, &own) {
            own.to_mut().adopt(player, known, starts.of(player));
        }
        Some(own)
    }

    /// The standing of a ruleset for a game, see [`own`](Self::own).
    pub(super) fn for_game(
        &self,
        ruleset: &Ruleset,
        game: &RatedGame,
        starts: StartsByNumber<'_>,
    ) -> Option<Cow<'_, Standing>> {
        let players = game.seats().iter().map(|seat| seat.player);
        self.own(ruleset, players, starts)
    }

    /// Predicts a game that ended at `end`, then learns from it on every level.
    pub(super) fn learn(
        &mut self,
        ruleset: &Ruleset,
        game: &RatedGame,
        end: Timestamp,
        starts: StartsByNumber<'_>,
    ) -> Learned {
        let is_first = self.standings.rulesets.is_empty(); // before any match, chances are even
        self.open(ruleset);
        self.welcome(ruleset, game, starts);
        let mut learned = Learned::default();
        if let Some(own) = self.standings.rulesets.get_mut(ruleset) {
            let chance = || match is_first {
                true => 0.5,
                false => own.system.beats(game, 0, 1),
            };
            learned.chance = (game.teams() == 2).then(chance);
            learned.entries = own.edit().learn(game, end, starts);
        }
        let game_type = self.standings.types.get_mut(ruleset.game_type());
        for above in game_type.into_iter().chain(&mut self.standings.all) {
            above.edit().learn(game, end, starts);
        }
        learned
    }

    /// Gives the players of a game their priors in the ruleset and in its game type, if they are new to these.
    fn welcome(&mut self, ruleset: &Ruleset, game: &RatedGame, starts: StartsByNumber<'_>) {
        let players = || game.tallies.iter().map(|tally| tally.player);
        let game_type = self.standings.types.get(ruleset.game_type());
        let of_type = game_type.map(|below| found(|| self.above_types(), players(), below));
        let own = self.own_standing(ruleset);
        let of_own = own.map(|below| found(|| self.sources(ruleset), players(), below));

        let game_type = self.standings.types.get_mut(ruleset.game_type());
        let own = self.standings.rulesets.get_mut(ruleset);
        for (below, found) in [(game_type, of_type), (own, of_own)] {
            let Some(below) = below else { continue };
            for (player, known) in found.into_iter().flatten() {
                below.edit().adopt(player, known, starts.of(player));
            }
        }
    }

    /// Gives the humans of a game that was learned from their divisions under its ruleset.
    pub(super) fn divide(
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

    /// The standings from which the priors of players who are new to a ruleset come, the closest first.
    fn sources(&self, ruleset: &Ruleset) -> Vec<(Level, &Standing)> {
        let mut sources = self.farthest_first(ruleset);
        sources.retain(|(level, _)| *level != Level::Ruleset);
        sources.reverse();
        sources
    }

    /// The same for a game type.
    fn above_types(&self) -> Vec<(Level, &Standing)> {
        let all = self.standings.all.as_deref();
        all.map(|all| (Level::AllGames, all)).into_iter().collect()
    }

    /// Creates the standing of a new ruleset, and that of a level above that now contains more than
    /// one.
    fn open(&mut self, ruleset: &Ruleset) {
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
        let own = Shared::new(Standing::new(&self.settings));
        self.standings.rulesets.insert(ruleset.clone(), own);
    }

    /// Starts a new season on every level.
    pub(super) fn new_season(&mut self, keep: f64) {
        let rulesets = self.standings.rulesets.values_mut();
        let above = self
            .standings
            .types
            .values_mut()
            .chain(&mut self.standings.all);
        rulesets
            .chain(above)
            .for_each(|standing| standing.edit().new_season(keep));
    }
}

/// What the closest source knows of each of these players who is new to a standing.
fn found<'a>(
    sources: impl FnOnce() -> Vec<(Level, &'a Standing)>,
    players: impl Iterator<Item = Player>,
    below: &Standing,
) -> Vec<(Player, Known)> {
    let mut new = players.filter(|player| !below.knows(*player)).peekable();
    if new.peek().is_none() {
        return Vec::new(); // the usual case, in which nobody asks for the sources
    }
    let sources = sources();
    new.filter_map(|player| Some((player, known(&sources, player)?)))
        .collect()
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
