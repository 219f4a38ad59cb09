//! The levels at which weights are learned: a ruleset, its game type with any mutators, all games.
//!
//! Each level has a rating pool that learns from all games at or below it. As long as a level has only
//! one ruleset below it, both would learn the same, so the level uses the ruleset's rating pool. When
//! a second ruleset appears, the level gets a copy of that rating pool. What the closest level knows of a
//! player who is new to a ruleset is their prior there ([`newcomers`](super::newcomers)). It is looked up when somebody
//! asks for it, and enters the rating pool with the player's first game there: a match costs the same however many rulesets
//! there are.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Deserialize, Serialize};

use super::{People, RatingPool, StartsByNumber, newcomers::KnownElsewhere};
use crate::{Player, RatedGame, Settings, Shared, divisions};
use evenkeel_model::{Ruleset, Timestamp, WeightEntry};

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
pub(super) struct LearnedGame {
    /// The chance that the first of two teams wins, before the game was learned from.
    pub chance: Option<f64>,
    /// What it entered into accounts.
    pub entries: Vec<(Player, WeightEntry)>,
}

/// The levels of one rating system, and their rating pools.
#[derive(Clone)]
pub(super) struct Levels {
    settings: Settings,
    pools: LevelPools,
}

/// The rating pool of each level.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct LevelPools {
    rulesets: BTreeMap<Ruleset, Shared<RatingPool>>,
    /// Only game types with more than one ruleset; the others share their ruleset's rating pool.
    types: BTreeMap<String, Shared<RatingPool>>,
    /// Only if there is more than one game type.
    all: Option<Shared<RatingPool>>,
}

impl Levels {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            pools: LevelPools::default(),
        }
    }

    /// The part of the state that a checkpoint stores.
    pub fn pools(&self) -> &LevelPools {
        &self.pools
    }

    /// Continues from the state in a checkpoint.
    pub fn resume(&mut self, pools: LevelPools) {
        self.pools = pools;
    }

    /// All rulesets that have a rated match.
    pub fn rulesets(&self) -> impl Iterator<Item = (&Ruleset, &RatingPool)> {
        let rulesets = self.pools.rulesets.iter();
        rulesets.map(|(ruleset, pool)| (ruleset, &**pool))
    }

    /// The rulesets that have learned since an earlier state.
    pub fn learned_since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a Ruleset> {
        let mut before = before.pools.rulesets.iter().peekable();
        let rulesets = self.pools.rulesets.iter();
        rulesets.filter_map(move |(ruleset, own)| {
            while before.next_if(|(was, _)| *was < ruleset).is_some() {}
            let was = before.next_if(|(was, _)| *was == ruleset);
            let is_same = was.is_some_and(|(_, was)| own.is_shared_with(was));
            (!is_same).then_some(ruleset)
        })
    }

    /// The rating pool of one level; `None` if the level has no rated match.
    pub fn pool(&self, ruleset: &Ruleset, level: Level) -> Option<&RatingPool> {
        match level {
            Level::Ruleset => self.own_pool(ruleset),
            Level::FewerMutators => self.simpler(ruleset).pop(),
            Level::GameType => self.game_type(ruleset.game_type()),
            Level::AllGames => {
                let any = || self.pools.rulesets.keys().next();
                let only = || any().and_then(|r| self.game_type(r.game_type()));
                self.pools.all.as_deref().or_else(only)
            }
        }
    }

    fn own_pool(&self, ruleset: &Ruleset) -> Option<&RatingPool> {
        self.pools.rulesets.get(ruleset).map(|own| &**own)
    }

    /// The rulesets of a game type that have a rated match.
    fn of_type(&self, game_type: &str) -> impl Iterator<Item = (&Ruleset, &RatingPool)> {
        // There may be very many of other types.
        let from = Ruleset::first_of(game_type);
        let rulesets = self.pools.rulesets.range(from..);
        let own = rulesets.take_while(move |(ruleset, _)| ruleset.game_type() == game_type);
        own.map(|(ruleset, pool)| (ruleset, &**pool))
    }

    /// The rating pools of the rulesets of the same game type with fewer mutators, the closest last:
    /// ordered by the number of mutators, then by ruleset.
    fn simpler(&self, ruleset: &Ruleset) -> Vec<&RatingPool> {
        let rulesets = self.of_type(ruleset.game_type());
        let mut simpler: Vec<_> = rulesets.filter(|(r, _)| r.is_simpler(ruleset)).collect();
        simpler.sort_by_key(|(r, _)| r.mutators().count());
        simpler.into_iter().map(|(_, pool)| pool).collect()
    }

    /// All rating pools that can contain a player's weight for a ruleset, with their levels, the
    /// closest last. A rating pool of several levels comes once, with the closest of them.
    pub fn farthest_first(&self, ruleset: &Ruleset) -> Vec<(Level, &RatingPool)> {
        let on = |level| Some((level, self.pool(ruleset, level)?));
        let simpler = self.simpler(ruleset).into_iter().rev();
        let simpler = simpler.map(|pool| (Level::FewerMutators, pool));
        let far = [on(Level::GameType), on(Level::AllGames)];
        let near = on(Level::Ruleset).into_iter().chain(simpler);
        let mut all: Vec<(Level, &RatingPool)> = Vec::new();
        for (level, pool) in near.chain(far.into_iter().flatten()) {
            let is_it = |(_, closer): &(Level, &RatingPool)| std::ptr::eq(*closer, pool);
            if !all.iter().any(is_it) {
                all.push((level, pool));
            }
        }
        all.reverse();
        all
    }

    /// The rating pool of a game type; with only one ruleset, that ruleset's.
    fn game_type(&self, game_type: &str) -> Option<&RatingPool> {
        let only = || self.of_type(game_type).next();
        let own = self.pools.types.get(game_type).map(|own| &**own);
        own.or_else(|| only().map(|(_, pool)| pool))
    }

    /// The closest rating pool for a ruleset: its own, else that of its game type, else that of all
    /// games.
    pub fn best(&self, ruleset: &Ruleset) -> Option<&RatingPool> {
        let levels = [Level::Ruleset, Level::GameType, Level::AllGames];
        levels.into_iter().find_map(|l| self.pool(ruleset, l))
    }

    /// The rating pool of a ruleset, in which those of these players who are new to it have their priors. Before its first
    /// match, it is the rating pool with which the ruleset would begin. `None` before any match.
    pub fn own(
        &self,
        ruleset: &Ruleset,
        players: impl Iterator<Item = Player>,
        starts: StartsByNumber<'_>,
    ) -> Option<Cow<'_, RatingPool>> {
        let mut own = match self.own_pool(ruleset) {
            Some(own) => Cow::Borrowed(own),
            None if self.pools.rulesets.is_empty() => return None,
            None => Cow::Owned(RatingPool::new(&self.settings)),
        };
        for (player, known) in found(|| self.sources(ruleset), players, &own) {
            own.to_mut().adopt(player, known, starts.of(player));
        }
        Some(own)
    }

    /// The rating pool of a ruleset for a game, see [`own`](Self::own).
    pub fn for_game(
        &self,
        ruleset: &Ruleset,
        game: &RatedGame,
        starts: StartsByNumber<'_>,
    ) -> Option<Cow<'_, RatingPool>> {
        let players = game.seats().iter().map(|seat| seat.player);
        self.own(ruleset, players, starts)
    }

    /// Predicts a game that ended at `end`, then learns from it on every level.
    pub fn learn(
        &mut self,
        ruleset: &Ruleset,
        game: &RatedGame,
        end: Timestamp,
        starts: StartsByNumber<'_>,
    ) -> LearnedGame {
        let is_first = self.pools.rulesets.is_empty(); // before any match, chances are even
        self.open(ruleset);
        self.welcome(ruleset, game, starts);
        let mut learned = LearnedGame::default();
        if let Some(own) = self.pools.rulesets.get_mut(ruleset) {
            let chance = || match is_first {
                true => 0.5,
                false => own.system.beats(game, 0, 1),
            };
            learned.chance = (game.teams() == 2).then(chance);
            learned.entries = own.edit().learn(game, end, starts);
        }
        let game_type = self.pools.types.get_mut(ruleset.game_type());
        for above in game_type.into_iter().chain(&mut self.pools.all) {
            above.edit().learn(game, end, starts);
        }
        learned
    }

    /// Gives the players of a game their priors in the ruleset and in its game type, if they are new to these.
    fn welcome(&mut self, ruleset: &Ruleset, game: &RatedGame, starts: StartsByNumber<'_>) {
        let players = || game.tallies.iter().map(|tally| tally.player);
        let game_type = self.pools.types.get(ruleset.game_type());
        let of_type = game_type.map(|below| found(|| self.above_types(), players(), below));
        let own = self.own_pool(ruleset);
        let of_own = own.map(|below| found(|| self.sources(ruleset), players(), below));

        let game_type = self.pools.types.get_mut(ruleset.game_type());
        let own = self.pools.rulesets.get_mut(ruleset);
        for (below, found) in [(game_type, of_type), (own, of_own)] {
            let Some(below) = below else { continue };
            for (player, known) in found.into_iter().flatten() {
                below.edit().adopt(player, known, starts.of(player));
            }
        }
    }

    /// Gives the humans of a game that was learned from their divisions under its ruleset.
    pub fn divide(
        &mut self,
        ruleset: &Ruleset,
        settings: &divisions::Settings,
        game: &RatedGame,
        people: &People,
    ) {
        if let Some(own) = self.pools.rulesets.get_mut(ruleset) {
            own.edit().divide(settings, game, people);
        }
    }

    /// The rating pools from which the priors of players who are new to a ruleset come, the closest first.
    fn sources(&self, ruleset: &Ruleset) -> Vec<(Level, &RatingPool)> {
        let mut sources = self.farthest_first(ruleset);
        sources.retain(|(level, _)| *level != Level::Ruleset);
        sources.reverse();
        sources
    }

    /// The same for a game type.
    fn above_types(&self) -> Vec<(Level, &RatingPool)> {
        let all = self.pools.all.as_deref();
        all.map(|all| (Level::AllGames, all)).into_iter().collect()
    }

    /// Creates the rating pool of a new ruleset, and that of a level above that now contains more than
    /// one.
    fn open(&mut self, ruleset: &Ruleset) {
        if self.pools.rulesets.contains_key(ruleset) {
            return;
        }
        let game_type = ruleset.game_type();
        match self.game_type(game_type) {
            Some(only) if !self.pools.types.contains_key(game_type) => {
                let only = Shared::new(only.clone());
                self.pools.types.insert(game_type.to_owned(), only);
            }
            None if self.pools.all.is_none() => {
                let all = self.pool(ruleset, Level::AllGames);
                self.pools.all = all.cloned().map(Shared::new);
            }
            _ => {}
        }
        let own = Shared::new(RatingPool::new(&self.settings));
        self.pools.rulesets.insert(ruleset.clone(), own);
    }

    /// Starts a new season on every level.
    pub fn new_season(&mut self, keep: f64) {
        let rulesets = self.pools.rulesets.values_mut();
        let above = self.pools.types.values_mut().chain(&mut self.pools.all);
        rulesets
            .chain(above)
            .for_each(|pool| pool.edit().new_season(keep));
    }
}

/// What the closest source knows of each of these players who is new to a rating pool.
fn found<'a>(
    sources: impl FnOnce() -> Vec<(Level, &'a RatingPool)>,
    players: impl Iterator<Item = Player>,
    below: &RatingPool,
) -> Vec<(Player, KnownElsewhere)> {
    let mut new = players.filter(|player| !below.knows(*player)).peekable();
    if new.peek().is_none() {
        return Vec::new(); // the usual case, in which nobody asks for the sources
    }
    let sources = sources();
    new.filter_map(|player| Some((player, known(&sources, player)?)))
        .collect()
}

/// What the closest of these rating pools knows of a player.
fn known(sources: &[(Level, &RatingPool)], player: Player) -> Option<KnownElsewhere> {
    let mut sources = sources.iter().filter(|(_, above)| above.knows(player));
    sources.find_map(|(level, above)| {
        let account = above.account(player).filter(|_| level.is_near());
        Some(KnownElsewhere {
            strength: above.estimate(player)?,
            near: account.map(|account| account.weight),
        })
    })
}
